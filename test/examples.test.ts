import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ScriptedModel } from './chat/scripted-model.ts';
import { Place } from './cli/command.ts';

const EXAMPLES = fileURLToPath(new URL('../examples', import.meta.url));
const MAX_LINES = 60;
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

/** In a project that does not have the package, with nothing of it on the PATH. */
async function run(story: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(EXAMPLES, story)], {
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

const READ = { calls: [{ name: 'mcp__files__read', arguments: { path: 'package.json' } }] };
const ANSWER = { text: 'It is called the-example.' };

describe('examples', () => {
  it('are all run here, and short', () => {
    expect(stories.toSorted()).toEqual([
      'ai-sdk-agent/agent.mjs',
      'anthropic-agent/agent.mjs',
      'approve-by-rule/approve.mjs',
      'gateway/gateway.mjs',
      'openai-agent/agent.mjs',
      'search-500-tools/search.mjs',
      'write-a-server/server.mjs',
    ]);
    for (const story of stories) {
      expect(readFileSync(join(EXAMPLES, story), 'utf8').split('\n').length).toBeLessThan(MAX_LINES);
    }
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
