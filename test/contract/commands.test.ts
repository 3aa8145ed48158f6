/** The section "Commands" of the contract: words in, one document, one exit status. */

import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FIXTURES, Place } from '../cli/command.ts';

const ECHO = [process.execPath, join(FIXTURES, 'echo.mjs')];
const entry = (more: Record<string, unknown> = {}): Record<string, unknown> => ({
  command: ECHO[0],
  args: ECHO.slice(1),
  ...more,
});

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

async function failure(args: readonly string[], input?: string): Promise<[number | null, unknown]> {
  const { status, value } = await place.json(args, input === undefined ? {} : { input });
  const { error } = value as { error?: { code?: unknown } };
  return [status, error?.code];
}

describe('words that every command takes', () => {
  it.each([
    ['before the command', ['--json', '--verbose', '--cwd', '.', 'list', '--no-connect']],
    ['after it', ['list', '--no-connect', '--cwd=.', '--verbose', '--json']],
    ['on both sides of its other name', ['--cwd', '.', 'status', '--json', '--no-connect']],
  ])('%s', async (_, args) => {
    place.write(place.userFile, { mcpServers: { echo: entry() } });
    const { status, stdout } = await place.run(args);
    expect({ status, document: JSON.parse(stdout) }).toEqual({
      status: 0,
      document: {
        servers: [
          {
            name: 'echo',
            scope: 'user',
            transport: 'stdio',
            status: 'idle',
            command: expect.stringContaining('echo.mjs'),
            tools: 0,
          },
        ],
        problems: [],
      },
    });
  });

  it('--server adds one server for this run, and changes no file', async () => {
    const more = ['--server', `extra=${ECHO.join(' ')}`];
    expect(await place.json([...more, 'call', 'extra', 'echo', 'message=hi'])).toEqual({
      status: 0,
      value: { content: [{ type: 'text', text: 'hi' }], isError: false },
    });
    expect(await place.json(['get', 'extra', ...more])).toMatchObject({
      status: 0,
      value: { scope: 'code' },
    });
    expect(place.read(place.userFile)).toBeUndefined();
  });
});

describe('exit status and code of each failure', () => {
  it('2: what was typed', async () => {
    place.write(place.userFile, { mcpServers: { echo: entry() } });
    const typed: [string[], string][] = [
      [[], 'USAGE'],
      [['lsit'], 'USAGE'],
      [['list', '--no-conect'], 'USAGE'],
      [['list', 'too', 'many'], 'USAGE'],
      [['--cwd', '/no/such/folder', 'list'], 'USAGE'],
      [['get', 'nobody'], 'UNKNOWN_SERVER'],
      [['call', 'nobody', 'echo'], 'UNKNOWN_SERVER'],
      [['call', 'echo', 'nothing'], 'UNKNOWN_TOOL'],
      [['call', 'echo', 'echo'], 'INVALID_ARGUMENTS'],
      [['call', 'echo', 'echo', '{"message":'], 'INVALID_ARGUMENTS'],
      [['call', 'echo', 'add', 'a=one', 'b=2'], 'INVALID_ARGUMENTS'],
      [['add-json', 'new', '{}'], 'CONFIG_INVALID'],
    ];
    const told = await Promise.all(typed.map(async ([args]) => failure(args)));
    expect(told).toEqual(typed.map(([, code]) => [2, code]));
  });

  it('1 the tool reports an error, 3 the server is unreachable, 5 the call is refused', async () => {
    place.write(place.userFile, {
      mcpServers: {
        echo: entry(),
        gone: { command: '/no/such/program' },
        careful: entry({ approval: 'prompt' }),
      },
      permissions: { deny: ['mcp__echo__add'] },
    });
    place.write(place.projectFile, { mcpServers: { theirs: entry() } });
    const echo = ['call', 'echo'];
    const [failed, ...others] = await Promise.all([
      place.json([...echo, 'fail']),
      failure(['call', 'gone', 'echo', 'message=1']),
      failure([...echo, 'wait', '--timeout', '100']),
      failure([...echo, 'crash']),
      failure(['call', 'theirs', 'echo', 'message=1']),
      failure(['call', 'careful', 'echo', 'message=1']),
      failure([...echo, 'add', 'a=1', 'b=2', '--yes']),
    ]);
    expect(failed).toMatchObject({ status: 1, value: { isError: true } });
    expect(others).toEqual([
      [3, 'START_FAILED'],
      [3, 'TIMEOUT'],
      [3, 'CONNECTION_LOST'],
      [5, 'UNTRUSTED'],
      [5, 'APPROVAL_REQUIRED'],
      [5, 'DENIED'],
    ]);
  });

  it('CON-9: `list` and `tools` miss a required server that failed, not one that is switched off', async () => {
    const needed = { command: '/no/such/program', required: true };
    place.write(place.userFile, { mcpServers: { needed, echo: entry() } });
    expect((await place.json(['list'])).status).toBe(3);
    expect(await failure(['tools'])).toEqual([3, 'REQUIRED_FAILED']);
    place.write(place.userFile, { mcpServers: { needed: { ...needed, enabled: false }, echo: entry() } });
    expect((await place.json(['list'])).status).toBe(0);
    expect((await place.json(['tools'])).status).toBe(0);
  });
});

describe('which text goes to stdout and which to stderr', () => {
  it('servers that are missing are noted on stderr, one sentence and a hint each; the rest is answered', async () => {
    place.write(place.userFile, {
      mcpServers: { echo: entry(), gone: { command: '/no/such/program' } },
      firstListWaitMs: 20_000,
    });
    const { status, stdout, stderr } = await place.run(['tools', '--json']);
    const { tools } = JSON.parse(stdout) as { tools: { name: string }[] };
    expect({ status, names: tools.map(({ name }) => name), stderr }).toEqual({
      status: 0,
      names: ['add', 'crash', 'echo', 'fail', 'wait'].map((tool) => `mcp__echo__${tool}`),
      stderr:
        'warning: skipped gone: There is no program at /no/such/program. Check the path in "command" of the server\'s entry.\n',
    });
  });
});

describe('`call`', () => {
  it.each([
    ['', '{"message":"plain"}', 'plain'],
    [' with a byte order mark', '\uFEFF{"message":"marked"}', 'marked'],
  ])('- reads JSON from stdin%s', async (_, input, text) => {
    place.write(place.userFile, { mcpServers: { echo: entry() } });
    expect(await place.json(['call', 'echo', 'echo', '-'], { input })).toEqual({
      status: 0,
      value: { content: [{ type: 'text', text }], isError: false },
    });
  });

  it('values keep every character behind the first =', async () => {
    place.write(place.userFile, { mcpServers: { echo: entry() } });
    const texts = ['', 'a=b:=c', '--json', '- ü€😀', '{"a":1}', '007'];
    const told = await Promise.all(
      texts.map(async (text) => (await place.json(['call', 'echo', 'echo', `message=${text}`])).value),
    );
    expect(told).toEqual(texts.map((text) => ({ content: [{ type: 'text', text }], isError: false })));
  });
});
