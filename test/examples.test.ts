import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ScriptedModel } from './chat/scripted-model.ts';
import { Place } from './cli/command.ts';
import { resultOf, WebClient } from './kit/web-client.ts';
import { fixture, startProgram } from './testing/program.ts';

const EXAMPLES = fileURLToPath(new URL('../examples', import.meta.url));
const MAX_LINES = 60;
/** What a whole agent may take, where that is the story. */
const MAX_AGENT_LINES = 50;
const stories = readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.mjs'),
);

let place: Place;
let model: ScriptedModel | undefined;
beforeEach(() => {
  place = new Place();
  place.write(join(place.project, 'package.json'), { name: 'the-example' });
});
afterEach(async () => {
  await model?.close();
  place.remove();
});

function linesOf(story: string): number {
  return readFileSync(join(EXAMPLES, story), 'utf8').split('\n').length;
}

/** In a project that does not have the package, with nothing of it on the PATH. */
async function run(
  story: string,
  env: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(EXAMPLES, story), ...args], {
    cwd: place.project,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: place.dir,
      PLUGBOARD_HOME: place.home,
      PLUGBOARD_CREDENTIALS: 'file',
      ...env,
    },
  });
  return stdout.trimEnd();
}

/** Starts an example that listens, and ends it as a host does. */
async function withServer(story: string, use: (url: string) => Promise<void>): Promise<void> {
  const program = await startProgram(join(EXAMPLES, story), [], { PORT: '0' });
  try {
    await use(program.firstLine.replace('Listening at ', ''));
    await program.stop();
    expect(program.child.exitCode).toBe(0);
  } finally {
    program.child.kill('SIGKILL');
  }
}

const READ = { calls: [{ name: 'mcp__files__read', arguments: { path: 'package.json' } }] };
const ANSWER = { text: 'It is called the-example.' };

describe('examples', () => {
  it('are all run here, and short', () => {
    expect(stories.toSorted()).toEqual([
      'ai-sdk-agent/agent.mjs',
      'anthropic-agent/agent.mjs',
      'approve-by-rule/approve.mjs',
      'express/server.mjs',
      'gateway/gateway.mjs',
      'hono/server.mjs',
      'openai-agent/agent.mjs',
      'search-500-tools/search.mjs',
      'tool-search-agent/agent.mjs',
      'write-a-server/server.mjs',
    ]);
    for (const story of stories) expect(linesOf(story)).toBeLessThan(MAX_LINES);
    expect(linesOf('tool-search-agent/agent.mjs')).toBeLessThan(MAX_AGENT_LINES);
  });

  it('UI-3: an AI SDK agent', async () => {
    model = await ScriptedModel.start(READ, ANSWER);
    const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: model.url };
    expect(await run('ai-sdk-agent/agent.mjs', env)).toBe(ANSWER.text);
    expect(JSON.stringify(model.requests[1]?.body)).toContain('the-example');
  });

  it("UI-3: an agent on OpenAI's own client", async () => {
    model = await ScriptedModel.start(READ, ANSWER);
    const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: model.url };
    expect(await run('openai-agent/agent.mjs', env)).toBe(ANSWER.text);
    expect(JSON.stringify(model.requests[1]?.body.messages.at(-1))).toContain('the-example');
  });

  it("UI-3: an agent on Anthropic's own client", async () => {
    model = await ScriptedModel.start(READ, ANSWER);
    const env = { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: model.url.replace('/v1', '') };
    expect(await run('anthropic-agent/agent.mjs', env)).toBe(ANSWER.text);
    expect(JSON.stringify(model.requests[1]?.body.messages.at(-1))).toContain('the-example');
  });

  it('KIT-1: a server', async () => {
    const server = `todo=${process.execPath} ${join(EXAMPLES, 'write-a-server/server.mjs')}`;
    const { status, value } = await place.json(['call', '--server', server, 'todo', 'add_todo', 'text=Rest']);
    expect({ status, value }).toMatchObject({ status: 0, value: { structuredContent: { id: '2' } } });
  });

  it('KIT-4: a server inside an Express app', async () => {
    await withServer('express/server.mjs', async (url) => {
      const client = new WebClient(url);
      const call = { name: 'order_status', arguments: { order: '17' } };
      const shipped = [{ type: 'text', text: 'shipped' }];
      const session = (await client.initialize()).headers.get('mcp-session-id') ?? undefined;
      expect(resultOf(await client.legacy('tools/call', call, session))['content']).toEqual(shipped);
      expect(resultOf(await client.modern('tools/call', call))['content']).toEqual(shipped);
      expect(await (await fetch(new URL('/orders/17', url))).json()).toEqual({ status: 'shipped' });
      expect((await fetch(new URL('/health', url))).status).toBe(200);
    });
  });

  it('KIT-4: a server as a route of a Hono app, with scopes', async () => {
    await withServer('hono/server.mjs', async (url) => {
      const clientOf = (name: string): WebClient =>
        new WebClient(url, fetch, { authorization: `Bearer token-of-${name}` });
      const [ada, bob] = [clientOf('ada'), clientOf('bob')];
      const publish = { name: 'publish', arguments: { text: 'News' } };
      expect(resultOf(await ada.modern('tools/call', publish))['content']).toEqual([
        { type: 'text', text: 'Post 2 was published by ada.' },
      ]);
      expect(resultOf(await bob.modern('tools/list'))['tools']).toMatchObject([{ name: 'list_posts' }]);
      expect(resultOf(await bob.modern('tools/call', publish))).toMatchObject({ error: { code: -32602 } });
      expect((await clientOf('eve').modern('tools/list')).status).toBe(401);
      expect(await (await fetch(new URL('/', url))).text()).toBe('The blog');
    });
  });

  it('CAT-7: an agent with tool search alone, on the MCP client of the AI SDK', async () => {
    model = await ScriptedModel.start(
      { calls: [{ name: 'find_tools', arguments: { query: 'create a refund' } }] },
      { calls: [{ name: 'create_refund', arguments: { id: '17' } }] },
      { text: 'Refunded.' },
    );
    const env = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: model.url };
    const server = [process.execPath, fixture('many-tools.mjs')];
    expect(await run('tool-search-agent/agent.mjs', env, ['Refund order 17', ...server])).toBe('Refunded.');
    const given = model.requests.map(({ body }) => body.tools.map(({ name }: { name: string }) => name));
    expect(given[0]).toEqual(['find_tools']);
    expect(given[1]).toHaveLength(6);
    expect(given[1]).toEqual(expect.arrayContaining(['find_tools', 'create_refund']));
    expect(JSON.stringify(model.requests[2]?.body)).toContain('create_refund 17');
  });

  it('SRV-1: a gateway', async () => {
    expect((await run('gateway/gateway.mjs')).split('\n')).toContain('files__read');
  });

  it('CAL-2: approval by rule', async () => {
    expect((await run('approve-by-rule/approve.mjs')).split('\n')).toEqual([
      'list: read',
      'notes/today.md: written',
      'package.json: DENIED',
      'notes/../package.json: DENIED',
    ]);
  });

  it('CAT-7: search among 500 tools', async () => {
    expect((await run('search-500-tools/search.mjs')).split('\n')).toEqual([
      'given to the model: tool_search',
      expect.stringMatching(/^definitions: \d{3} tokens instead of \d{4,5}$/),
      'found mcp__github__merge_pull_request: merge pull request: done',
    ]);
  });
});
