import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FIXTURES, Place } from '../cli/command.ts';
import { ScriptedModel } from './scripted-model.ts';

let place: Place;
let model: ScriptedModel | undefined;
beforeEach(() => {
  place = new Place();
  const notes = { command: process.execPath, args: [join(FIXTURES, 'chat-server.mjs')], trusted: true };
  place.write(place.userFile, { mcpServers: { notes } });
});
afterEach(async () => {
  await model?.close();
  place.remove();
});

/** Times and ids differ from run to run. */
const steady = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, each) =>
      key === 'ms' || (key === 'id' && String(each).length === 36) ? 0 : each,
    ),
  );

const toolMessages = (body: { messages: { role: string }[] }): unknown[] =>
  body.messages.filter(({ role }) => role === 'tool');

describe('UI-2: chat -p', () => {
  it('lets the model call tools and prints one document', async () => {
    model = await ScriptedModel.start(
      { text: 'Let me look.', calls: [{ name: 'mcp__notes__read_note', arguments: { title: 'todo' } }] },
      { text: 'You should buy milk.' },
    );
    const { status, value } = await place.json(['chat', '-p', 'what is to do?', '--model', model.name]);
    expect(status).toBe(0);
    expect(steady(value)).toEqual({
      id: 0,
      model: model.name,
      text: 'You should buy milk.',
      finish: 'stop',
      calls: [
        {
          id: 'call_1_0',
          name: 'mcp__notes__read_note',
          arguments: { title: 'todo' },
          isError: false,
          ms: 0,
        },
      ],
      usage: { inputTokens: 200, outputTokens: 20 },
      definitions: { all: expect.any(Number), given: expect.any(Number), saved: 0 },
    });
    const [first, second] = model.requests;
    expect(first?.body.messages[0].content).toContain('Notes are short.');
    expect(toolMessages(second?.body)).toEqual([
      { role: 'tool', tool_call_id: 'call_1_0', content: 'note todo: buy milk' },
    ]);
  });

  it('streams the words to stdout and everything else to stderr', async () => {
    model = await ScriptedModel.start(
      { calls: [{ name: 'mcp__notes__read_note', arguments: { title: 'x' } }] },
      { text: 'Do\u001b[31mne.' },
    );
    const { status, stdout, stderr } = await place.run(['chat', '-p', 'go', '--model', model.name]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'Done.\n' });
    expect(stderr.replace(/\d+ ms/, 'N ms')).toBe(
      '→ mcp__notes__read_note\n✔ mcp__notes__read_note N ms\n200 tokens in, 20 out · 1 call\n',
    );
  });

  it('goes on with a conversation, and keeps it for its owner only', async () => {
    model = await ScriptedModel.start({ text: 'Hello Ann.' }, { text: 'Ann.' });
    await place.json(['chat', '-p', 'I am Ann', '--model', model.name]);
    const { status } = await place.json(['chat', '-p', 'who am I?', '--resume']);
    expect(status).toBe(0);
    expect(model.requests[1]?.body.messages.slice(1)).toEqual([
      { role: 'user', content: 'I am Ann' },
      { role: 'assistant', content: 'Hello Ann.' },
      { role: 'user', content: 'who am I?' },
    ]);
    const folder = join(place.home, 'chats');
    const [file = ''] = readdirSync(folder);
    expect(readFileSync(join(folder, file), 'utf8').trim().split('\n')).toHaveLength(6);
  });

  it('summarises a conversation that fills the window when it is resumed, and keeps found tools', async () => {
    model = await ScriptedModel.start(
      { calls: [{ name: 'tool_search', arguments: { query: 'select:mcp__notes__read_note' } }] },
      { text: 'Hello Ann.', inputTokens: 9_000 },
      { text: 'SUMMARY' },
      { text: 'Ann.' },
    );
    const env = { ENABLE_TOOL_SEARCH: 'true' };
    const context = ['--context', '10000'];
    await place.json(['chat', '-p', 'I am Ann', '--model', model.name, ...context], { env });
    await place.json(['chat', '-p', 'who am I?', '--resume', ...context], { env });
    const last = model.requests[3]?.body;
    expect(last.messages.slice(1)).toEqual([
      { role: 'user', content: 'What happened so far, summarised:\n\nSUMMARY' },
      { role: 'user', content: 'who am I?' },
    ]);
    expect(last.tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual([
      'tool_search',
      'mcp__notes__read_note',
    ]);
  });

  it('refuses a call that requires approval, informs the model, and allows it with --yes', async () => {
    const calls = [{ name: 'mcp__notes__delete_note', arguments: { title: 'x' } }];
    model = await ScriptedModel.start({ calls }, { text: 'Could not.' }, { calls }, { text: 'Gone.' });
    const refused = await place.json(['chat', '-p', 'delete x', '--model', model.name]);
    expect(refused).toMatchObject({
      status: 0,
      value: { text: 'Could not.', calls: [{ isError: true, error: { code: 'APPROVAL_REQUIRED' } }] },
    });
    const [given] = toolMessages(model.requests[1]?.body) as [{ content: string }];
    expect(given.content).toContain('APPROVAL_REQUIRED');
    expect(given.content).not.toMatch(/permissions|config\.json/);
    const allowed = await place.json(['chat', '-p', 'delete x', '--model', model.name, '--yes']);
    expect(allowed.value).toMatchObject({ text: 'Gone.', calls: [{ isError: false }] });
  });

  it('F21: a refused call has its reason on stderr, with advice that works when it is followed', async () => {
    const calls = [{ name: 'mcp__notes__delete_note', arguments: { title: 'x' } }];
    const said = async (permissions: object): Promise<string> => {
      model = await ScriptedModel.start({ calls }, { text: 'done' });
      place.write(place.userFile, { ...(place.read(place.userFile) as object), permissions });
      const { stderr } = await place.run(['chat', '-p', 'delete x', '--model', model.name]);
      await model.close();
      return stderr.replaceAll(/\d+ ms/g, 'N ms');
    };
    const asking = await said({ ask: ['mcp__notes__*'], allow: ['mcp__notes__delete_note'] });
    expect(asking).toContain(
      '✖ mcp__notes__delete_note N ms  mcp__notes__delete_note must be approved: the rule "mcp__notes__*"',
    );
    expect(asking).toContain(
      'note: to allow mcp__notes__delete_note, remove or narrow the rule "mcp__notes__*" of permissions.ask in config.json.',
    );
    expect(await said({})).toContain(
      'note: to allow mcp__notes__delete_note, add "mcp__notes__delete_note" to permissions.allow in config.json.',
    );
    expect(await said({ allow: ['mcp__notes__delete_note'] })).toContain('✔ mcp__notes__delete_note');
  });

  it('CAT-9 CAT-10: attaches a mentioned resource and fills in a prompt', async () => {
    model = await ScriptedModel.start({ text: 'ok' }, { text: 'ok' });
    await place.json(['chat', '-p', 'sum up @notes:note://todo', '--model', model.name]);
    await place.json(['chat', '-p', '/mcp__notes__review todo', '--model', model.name]);
    expect(JSON.stringify(model.requests[0]?.body.messages.slice(1))).toContain('buy bread');
    expect(model.requests[1]?.body.messages[1]).toEqual({ role: 'user', content: 'Review todo well.' });
  });

  it('CAT-7: finds tools by search when definitions would fill the window', async () => {
    model = await ScriptedModel.start(
      { calls: [{ name: 'tool_search', arguments: { query: 'read a note' } }] },
      { calls: [{ name: 'mcp__notes__read_note', arguments: { title: 'todo' } }] },
      { text: 'milk' },
    );
    const { status, value } = await place.json(['chat', '-p', 'go', '--model', model.name], {
      env: { ENABLE_TOOL_SEARCH: 'true' },
    });
    expect(status).toBe(0);
    const names = model.requests.map(({ body }) =>
      body.tools.map((tool: { function: { name: string } }) => tool.function.name),
    );
    expect(names[0]).toEqual(['tool_search']);
    expect(names[1]).toContain('mcp__notes__read_note');
    expect(value).toMatchObject({ text: 'milk', calls: [{ isError: false }, { isError: false }] });
  });

  it('speaks to Anthropic the same way', async () => {
    model = await ScriptedModel.start(
      { text: 'Looking.', calls: [{ name: 'mcp__notes__read_note', arguments: { title: 'todo' } }] },
      { text: 'milk' },
    );
    const env = { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: model.url };
    const { status, value } = await place.json(['chat', '-p', 'go', '--model', 'anthropic:x'], { env });
    expect(status).toBe(0);
    expect(value).toMatchObject({
      text: 'milk',
      finish: 'stop',
      usage: { inputTokens: 200, outputTokens: 20 },
    });
    expect(model.requests[1]?.path).toBe('/v1/messages');
    expect(model.requests[1]?.headers['x-api-key']).toBe('k');
    expect(model.requests[1]?.body.messages.at(-1).content).toEqual([
      expect.objectContaining({
        type: 'tool_result',
        tool_use_id: 'call_1_1',
        content: 'note todo: buy milk',
      }),
    ]);
  });
});

describe('UI-2: a model that fails', () => {
  const failing = async (
    reply: Parameters<typeof ScriptedModel.start>[0],
    times = 1,
  ): Promise<{ status: number | null; code: unknown }> => {
    model = await ScriptedModel.start(...Array.from({ length: times }, () => reply));
    const { status, value } = await place.json(['chat', '-p', 'hi', '--model', model.name]);
    return { status, code: (value as { error?: { code: unknown } }).error?.code };
  };

  it('refuses the key', async () => {
    expect(await failing({ status: 401 })).toEqual({ status: 4, code: 'AUTH_FAILED' });
  });

  it('is not known', async () => {
    expect(await failing({ status: 404 })).toEqual({ status: 3, code: 'CONNECT_FAILED' });
  });

  it('sends a chunk that is no JSON', async () => {
    expect(await failing({ text: 'half', malformed: true })).toEqual({ status: 3, code: 'PROTOCOL_ERROR' });
  });

  it('calls an unknown tool: it receives an error, and goes on', async () => {
    model = await ScriptedModel.start({ calls: [{ name: 'nothing', arguments: {} }] }, { text: 'Sorry.' });
    const { status, value } = await place.json(['chat', '-p', 'hi', '--model', model.name]);
    expect(status).toBe(0);
    expect(value).toMatchObject({ text: 'Sorry.', calls: [{ name: 'nothing', isError: true }] });
  });

  it('writes arguments that are not JSON: it receives an error, and goes on', async () => {
    model = await ScriptedModel.start(
      { calls: [{ name: 'mcp__notes__read_note', arguments: '{"title": ' }] },
      { text: 'Sorry.' },
    );
    const { status, value } = await place.json(['chat', '-p', 'hi', '--model', model.name]);
    expect(status).toBe(0);
    expect(value).toMatchObject({ text: 'Sorry.', calls: [{ isError: true }] });
  });

  it('runs out of room: the command reports it and exits with 1', async () => {
    model = await ScriptedModel.start({ text: 'half an ans', finish: 'length' });
    const { status, value } = await place.json(['chat', '-p', 'hi', '--model', model.name]);
    expect({ status, value }).toMatchObject({ status: 1, value: { text: 'half an ans', finish: 'length' } });
  });

  it('hangs: an interrupt ends the turn and the request', async () => {
    const hanging = await ScriptedModel.start({ text: 'never ends', hangs: true });
    model = hanging;
    const { child, ended } = place.start(['chat', '-p', 'hi', '--model', hanging.name]);
    await new Promise<void>((resolve) => child.stdout?.once('data', () => resolve()));
    child.kill('SIGINT');
    expect((await ended).status).toBe(130);
    await expect.poll(() => hanging.abandoned).toBe(1);
  });

  it.each([
    [['-p', 'x'], 'No model was named'],
    [['-p', 'x', '--model', 'claude'], '"claude" is not the name of a model'],
    [['-p', 'x', '--model', 'http://127.0.0.1:1/v1'], 'does not name a model'],
    [['-p', ' ', '--model', 'openai:x'], 'The prompt is empty'],
    [['--model', 'openai:x'], 'Without a terminal, chat needs a prompt'],
    [['-p', 'x', '--resume'], 'There is no conversation to resume'],
    [['-p', 'x', '--resume', '../../etc/passwd'], 'There is no conversation "../../etc/passwd"'],
  ])('chat %j is refused with a reason', async (args, reason) => {
    const { status, stderr } = await place.run(['chat', ...args]);
    expect(status).toBe(2);
    expect(stderr.replace(/\s+/g, ' ')).toContain(reason);
  });
});
