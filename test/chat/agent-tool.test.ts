import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMMAND, FIXTURES, Place } from '../cli/command.ts';
import { type Reply, ScriptedModel } from './scripted-model.ts';

let place: Place;
let model: ScriptedModel | undefined;
let client: Client | undefined;
beforeEach(() => {
  place = new Place();
  place.write(place.userFile, {
    mcpServers: {
      notes: { command: process.execPath, args: [join(FIXTURES, 'chat-server.mjs')], trusted: true },
    },
    profiles: { reader: { tools: ['mcp__notes__read_*'], developerInstructions: 'Only read.' } },
  });
});
afterEach(async () => {
  await client?.close();
  await model?.close();
  place.remove();
});

/** The gateway with an agent in it, and a real client whose person answers every question the same way. */
async function connect(
  answer: 'Allow once' | 'Deny',
  ...replies: readonly Reply[]
): Promise<{ asked: string[]; told: unknown[] }> {
  model = await ScriptedModel.start(...replies);
  const asked: string[] = [];
  const told: unknown[] = [];
  client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler('elicitation/create', (request) => {
    asked.push(request.params.message);
    return { action: 'accept' as const, content: { answer } };
  });
  client.setNotificationHandler('notifications/message', ({ params }) => {
    told.push(params.data);
  });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [COMMAND, 'serve', '--stdio', '--agent', '--model', model.name],
      cwd: place.project,
      env: { PATH: process.env['PATH'] ?? '', PLUGBOARD_HOME: place.home, PLUGBOARD_CREDENTIALS: 'file' },
    }),
  );
  return { asked, told };
}

// biome-ignore lint/suspicious/noExplicitAny: the structure is compared as a whole
async function call(name: string, args: Record<string, unknown>, options = {}): Promise<any> {
  return client?.callTool({ name, arguments: args }, options);
}

const DELETE = { calls: [{ name: 'mcp__notes__delete_note', arguments: { title: 'x' } }] };

describe('SRV-4: an agent as a tool', () => {
  it('is listed with its parameters and its output', async () => {
    await connect('Deny');
    const tools = (await client?.listTools())?.tools ?? [];
    const agent = tools.find(({ name }) => name === 'agent');
    expect(Object.keys(agent?.inputSchema.properties ?? {})).toEqual([
      'prompt',
      'model',
      'profile',
      'cwd',
      'tools',
      'approval_policy',
      'sandbox',
      'config',
      'base_instructions',
      'developer_instructions',
      'compact_prompt',
    ]);
    expect(tools.map(({ name }) => name)).toContain('agent_reply');
  });

  it('works on a task, reports what it does, and continues the thread', async () => {
    const { told } = await connect(
      'Deny',
      { calls: [{ name: 'mcp__notes__read_note', arguments: { title: 'todo' } }] },
      { text: 'Buy milk.' },
      { text: 'Milk, I said.' },
    );
    const first = await call('agent', { prompt: 'what is to do?' });
    expect(first).toMatchObject({
      content: [{ type: 'text', text: 'Buy milk.' }],
      structuredContent: {
        text: 'Buy milk.',
        finish: 'stop',
        calls: 1,
        usage: { inputTokens: 200, outputTokens: 20 },
      },
    });
    const { thread_id } = first.structuredContent;
    expect(told).toContainEqual(
      expect.objectContaining({
        thread_id,
        type: 'call',
        name: 'mcp__notes__read_note',
        arguments: { title: 'todo' },
      }),
    );
    const second = await call('agent_reply', { thread_id, prompt: 'what?' });
    expect(second.structuredContent).toMatchObject({ thread_id, text: 'Milk, I said.', calls: 0 });
    expect(model?.requests[2]?.body.messages.map(({ role }: { role: string }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
    expect(readdirSync(join(place.home, 'threads'))).toEqual([`${thread_id}.jsonl`]);
  });

  it('puts approvals to the client: what is denied is not run', async () => {
    const { asked } = await connect('Deny', DELETE, { text: 'Not allowed.' });
    const { structuredContent } = await call('agent', { prompt: 'delete x' });
    expect(asked).toEqual([expect.stringContaining('notes/delete_note')]);
    expect(structuredContent.text).toBe('Not allowed.');
    expect(JSON.stringify(model?.requests[1]?.body.messages.at(-1))).toContain('DENIED');
  });

  it('puts approvals to the client: what is allowed runs', async () => {
    await connect('Allow once', DELETE, { text: 'Gone.' });
    await call('agent', { prompt: 'delete x' });
    expect(model?.requests[1]?.body.messages.at(-1).content).toBe('deleted x');
  });

  it('with approval_policy never, no one is asked and no such call runs', async () => {
    const { asked } = await connect('Allow once', DELETE, { text: 'Refused.' });
    await call('agent', { prompt: 'delete x', approval_policy: 'never' });
    expect(asked).toEqual([]);
    expect(JSON.stringify(model?.requests[1]?.body.messages.at(-1))).toContain('APPROVAL_REQUIRED');
  });

  it('a profile and instructions decide which tools and words the model gets', async () => {
    await connect('Deny', { text: 'ok' });
    await call('agent', { prompt: 'go', profile: 'reader', base_instructions: 'You are terse.' });
    const body = model?.requests[0]?.body;
    expect(body.tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual([
      'mcp__notes__read_note',
    ]);
    expect(body.messages[0].content).toMatch(/^You are terse\.\n\nOnly read\./);
  });

  it('SRV-8: servers and the profile that a profile extends restrict the agent too', async () => {
    const config = JSON.parse(readFileSync(place.userFile, 'utf8')) as { profiles: object };
    const profiles = { ...config.profiles, heir: { extends: 'reader' }, nothing: { servers: ['none'] } };
    place.write(place.userFile, { ...config, profiles });
    await connect('Deny', { text: 'ok' }, { text: 'ok' });
    await call('agent', { prompt: 'go', profile: 'heir' });
    await call('agent', { prompt: 'go', profile: 'nothing' });
    const names = model?.requests.map(({ body }) =>
      (body.tools ?? []).map((tool: { function: { name: string } }) => tool.function.name),
    );
    expect(names).toEqual([['mcp__notes__read_note'], []]);
  });

  it('tools may be named as the gateway names them', async () => {
    await connect('Deny', { text: 'ok' });
    await call('agent', { prompt: 'go', tools: ['notes__read_*'] });
    const { tools } = model?.requests[0]?.body ?? {};
    expect(tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual([
      'mcp__notes__read_note',
    ]);
  });

  it('a cancelled call stops the run', async () => {
    await connect('Deny', { text: 'for ever', hangs: true });
    const controller = new AbortController();
    const running = call('agent', { prompt: 'go' }, { signal: controller.signal });
    running.catch(() => {});
    const scripted = model;
    await expect.poll(() => scripted?.requests.length).toBe(1);
    controller.abort();
    await expect(running).rejects.toThrow();
    await expect.poll(() => scripted?.abandoned).toBe(1);
  });

  it('refuses what it cannot do, in words that a model can act on', async () => {
    await connect('Deny');
    const refused = [
      [{ prompt: 'x', cwd: 'relative' }, 'cwd: must be an absolute path'],
      [{ prompt: 'x', profile: 'readr' }, 'Did you mean reader?'],
      [{ prompt: 'x', config: { mcpServers: {} } }, 'config'],
      [{ prompt: '' }, 'prompt'],
      [{ prompt: 'x', model: 'nothing' }, 'is not the name of a model'],
    ] as const;
    for (const [args, reason] of refused) {
      const { isError, content } = await call('agent', args);
      expect({ isError, text: content[0].text }).toEqual({
        isError: true,
        text: expect.stringContaining(reason),
      });
    }
    expect(model?.requests).toEqual([]);
  });

  it('POL-2 POL-6: works in another folder and confined, without the servers of that project', async () => {
    const other = join(place.dir, 'other');
    place.write(join(other, '.mcp.json'), {
      mcpServers: { canary: { command: 'sh', args: ['-c', `touch ${join(place.dir, 'canary')}`] } },
    });
    const prober = { command: process.execPath, args: [join(FIXTURES, 'attack-prober.mjs')] };
    place.write(place.userFile, {
      mcpServers: { prober: { ...prober, approval: 'approve' } },
      agentRoots: [other],
    });
    const write = { calls: [{ name: 'mcp__prober__try', arguments: { write: join(other, 'written') } }] };
    await connect('Deny', write, { text: 'No way.' }, write, { text: 'Done.' });
    await call('agent', { prompt: 'write', cwd: other, sandbox: 'read-only' });
    expect(model?.requests[1]?.body.messages.at(-1).content).toBe('EROFS');
    await call('agent', { prompt: 'write', cwd: other });
    expect(model?.requests[3]?.body.messages.at(-1).content).toBe('written');
    expect(existsSync(join(place.dir, 'canary'))).toBe(false);
  });

  it('A7: a thread that is not there, or is not a thread, is not found', async () => {
    await connect('Deny');
    const { isError, content } = await call('agent_reply', { thread_id: '../config', prompt: 'x' });
    expect({ isError, text: content[0].text }).toEqual({
      isError: true,
      text: expect.stringContaining('There is no conversation'),
    });
  });
});

describe('serve --agent', () => {
  it.each([
    [['serve', '--agent'], 'No model was named'],
    [['serve', '--model', 'openai:x'], '--model can only be used with --agent'],
  ])('%j is refused with a reason', async (args, reason) => {
    const { status, stderr } = await place.run(args);
    expect(status).toBe(2);
    expect(stderr).toContain(reason);
  });
});
