import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { COMMAND, FIXTURES, Place } from '../cli/command.ts';
import { type Reply, ScriptedModel } from './scripted-model.ts';

const place = new Place();
const other = join(place.project, 'other');
let model: ScriptedModel;
let client: Client;
let script: Reply[] = [];
let asked: string[] = [];

beforeAll(async () => {
  model = await ScriptedModel.answering(() => script.shift() ?? { text: 'ok' });
  const run = (...args: string[]): object => ({ command: process.execPath, args });
  mkdirSync(join(other, '.git'), { recursive: true });
  place.write(place.userFile, {
    mcpServers: {
      notes: { ...run(join(FIXTURES, 'chat-server.mjs')), trusted: true },
      asking: {
        ...run(join(FIXTURES, 'daemon-server.mjs'), 'agent-thread'),
        approval: 'approve',
        enabledTools: ['pid', 'ask', 'sample'],
      },
    },
  });
  client = await connect();
});
beforeEach(() => {
  script = [];
  asked = [];
  model.requests.length = 0;
});
afterAll(async () => {
  await client?.close();
  await model?.close();
  place.remove();
});

/** The gateway with an agent in it and a server of this run only; its client's person allows everything for the session. */
async function connect(): Promise<Client> {
  const made = new Client(
    { name: 'test', version: '1' },
    { capabilities: { elicitation: { form: {} }, sampling: {} } },
  );
  made.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message);
    return { action: 'accept' as const, content: { answer: 'Allow for this session' } };
  });
  made.setRequestHandler('sampling/createMessage', () => {
    asked.push('sampling');
    return { role: 'assistant' as const, content: { type: 'text' as const, text: 'sampled' }, model: 'm' };
  });
  const adhoc = `adhoc=${process.execPath} ${join(FIXTURES, 'chat-server.mjs')}`;
  await made.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [COMMAND, '--server', adhoc, 'serve', '--agent', '--model', model.name],
      cwd: place.project,
      env: { PATH: process.env['PATH'] ?? '', PLUGBOARD_HOME: place.home, PLUGBOARD_CREDENTIALS: 'file' },
    }),
  );
  return made;
}

async function agent(prompt: string, args: object = {}): Promise<{ thread_id: string; text: string }> {
  const { structuredContent } = await client.callTool({ name: 'agent', arguments: { prompt, ...args } });
  return structuredContent as { thread_id: string; text: string };
}

async function reply(thread_id: string): Promise<void> {
  await client.callTool({ name: 'agent_reply', arguments: { thread_id, prompt: 'go on' } });
}

const calling = (name: string, args: object = {}): Reply => ({ calls: [{ name, arguments: args }] });
const toolsOf = (at: number): string[] =>
  model.requests.at(at)?.body.tools.map((tool: { function: { name: string } }) => tool.function.name);
const lastResult = (): string => String(model.requests.at(-1)?.body.messages.at(-1).content);

describe('SRV-4: the tools of a thread', () => {
  it('are the same in another folder, confined, or with limits of its own', async () => {
    await agent('x');
    const plain = toolsOf(-1);
    expect(plain).toEqual(
      expect.arrayContaining(['mcp__notes__read_note', 'mcp__adhoc__read_note', 'mcp__workspace__read']),
    );
    for (const more of [{ cwd: other }, { sandbox: 'read-only' }, { config: { contextTokens: 500_000 } }]) {
      await agent('x', more);
      expect(toolsOf(-1)).toEqual(plain);
    }
  });

  it('its built-in tools work in its folder', async () => {
    place.write(join(other, 'here.txt'), 'of the other folder');
    script = [calling('mcp__workspace__read', { path: 'here.txt' })];
    await agent('read', { cwd: other });
    expect(lastResult()).toContain('of the other folder');
  });

  it('keep their processes from one reply to the next', async () => {
    script = [calling('mcp__asking__pid'), { text: 'a' }, calling('mcp__asking__pid'), { text: 'b' }];
    const { thread_id } = await agent('who?', { cwd: other });
    const before = lastResult();
    await reply(thread_id);
    expect([before, lastResult()]).toEqual([expect.stringMatching(/^\d+$/), before]);
  });
});

describe('SRV-4: a thread lasts over its replies', () => {
  it('an approval for this session is asked for once', async () => {
    const remove = calling('mcp__notes__delete_note', { title: 'x' });
    script = [remove, { text: 'a' }, remove, { text: 'b' }];
    const { thread_id } = await agent('delete');
    await reply(thread_id);
    expect(asked).toHaveLength(1);
    expect(lastResult()).toBe('deleted x');
    // Another thread has not been allowed anything.
    script = [remove];
    await agent('delete');
    expect(asked).toHaveLength(2);
  });

  it('tools that were found stay, also after the gateway was started again', async () => {
    script = [calling('tool_search', { query: 'select:mcp__notes__read_note' }), { text: 'found' }];
    const { thread_id } = await agent('find', { config: { toolSearch: true } });
    expect(toolsOf(0)).toEqual(['tool_search']);
    await reply(thread_id);
    expect(toolsOf(-1)).toEqual(['tool_search', 'mcp__notes__read_note']);
    await client.close();
    client = await connect();
    await reply(thread_id);
    expect(toolsOf(-1)).toEqual(['tool_search', 'mcp__notes__read_note']);
  });

  it.each([
    ['as the provider reports it', 1_700],
    ['as estimated where the provider reports nothing', null],
  ])('is summarised when its window fills, %s', async (_, inputTokens) => {
    script = [
      { text: 'word '.repeat(2_000), inputTokens },
      { text: 'SUMMARY', inputTokens: 10 },
    ];
    const { thread_id } = await agent('one', { config: { contextTokens: 2_000 }, compact_prompt: 'SHORTEN' });
    await reply(thread_id);
    const [, summary, next] = model.requests.map(({ body }) => JSON.stringify(body.messages));
    expect(summary).toContain('SHORTEN');
    expect(next).toMatch(/summarised:\\n\\nSUMMARY.*go on/);
    expect(next).not.toContain('word word');
  });
});

describe('SRV-4: approval_policy never', () => {
  it.each([
    ['mcp__asking__ask', { text: 'Your name?' }, /"action":"cancel"/],
    ['mcp__asking__sample', { text: 'Write a poem' }, /does not serve sampling/],
  ])('asks no one anything: %s', async (name, args, result) => {
    script = [calling(name, args)];
    await agent('go', { approval_policy: 'never' });
    expect({ asked, result: lastResult() }).toEqual({ asked: [], result: expect.stringMatching(result) });
  });

  it('asks as ever without it', async () => {
    script = [calling('mcp__asking__sample', { text: 'Write a poem' })];
    await agent('go');
    expect({ asked, result: lastResult() }).toEqual({
      asked: ['sampling'],
      result: expect.stringContaining('sampled'),
    });
  });
});
