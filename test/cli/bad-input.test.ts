import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMMAND, FIXTURES, Place } from './command.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

const GOOD = { mcpServers: { good: { command: 'x' } } };

/** One error document, its exit status, and the file as it was. */
async function refusal(args: readonly string[], file: string): Promise<unknown> {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  const { status, value } = await place.json(args);
  const after = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  // Not compared by toBe: a difference of megabytes is not readable.
  expect(after === before).toBe(true);
  expect((await place.run(args)).stderr).toMatch(/^error: [^\n]+\nhint: {2}[^\n]+\n$/);
  return { status, value };
}

describe('files that cannot be read as they should be', () => {
  it.each([
    ['F53: truncated JSON', '{ "mcpServers": { "a": { "command": "x" }', /:1:\d+: /],
    ['F53: no JSON at all', 'hello\n', /:1:1: /],
  ])('%s: other files still count, and the file is never written', async (_what, text, where) => {
    place.write(place.projectFile, text);
    place.write(place.userFile, GOOD);
    const listed = await place.json(['list', '--no-connect']);
    expect(listed).toEqual({
      status: 0,
      value: {
        servers: [
          { name: 'good', scope: 'user', transport: 'stdio', command: 'x', status: 'idle', tools: 0 },
        ],
        problems: [
          expect.objectContaining({ file: '<project>/.mcp.json', line: 1, message: expect.any(String) }),
        ],
      },
    });
    expect(await refusal(['add', 'b', '-s', 'project', '--', 'y'], place.projectFile)).toEqual({
      status: 2,
      value: {
        error: {
          code: 'CONFIG_UNWRITABLE',
          message: expect.stringMatching(where),
          hint: expect.any(String),
        },
      },
    });
  });

  it('a directory where a file should be', async () => {
    mkdirSync(place.projectFile);
    place.write(place.userFile, GOOD);
    const { status, value } = await place.json(['list', '--no-connect']);
    expect({ status, value }).toMatchObject({
      status: 0,
      value: { servers: [{ name: 'good' }], problems: [{ file: '<project>/.mcp.json' }] },
    });
    const added = await place.json(['add', 'b', '-s', 'project', '--', 'y']);
    expect(added).toMatchObject({ status: 2, value: { error: { code: 'CONFIG_UNWRITABLE' } } });
    expect(readdirSync(place.projectFile)).toEqual([]);
  });

  it('a file without read permission is reported where permissions apply', async () => {
    place.write(place.projectFile, GOOD);
    chmodSync(place.projectFile, 0);
    const { status, value } = await place.json(['list', '--no-connect']);
    // Root reads everything: then the file simply counts, and its server waits for consent.
    const expected =
      process.getuid?.() === 0
        ? { servers: [{ name: 'good', status: 'untrusted' }], problems: [] }
        : { servers: [], problems: [{ file: '<project>/.mcp.json' }] };
    expect({ status, value }).toMatchObject({ status: 0, value: expected });
  });

  it('an empty config.json is reported, and a command that writes it can fill it', async () => {
    place.write(place.userFile, '\n');
    expect(await place.json(['list', '--no-connect'])).toMatchObject({
      status: 0,
      value: {
        servers: [],
        problems: [{ file: '<home>/config.json', line: 1, column: 1, message: 'The file is empty' }],
      },
    });
    expect((await place.run(['add', 'a', '-s', 'user', '--', 'x'])).status).toBe(0);
    expect(place.read(place.userFile)).toEqual({ mcpServers: { a: { command: 'x' } } });
  });

  it('an empty file of a project is an empty configuration', async () => {
    place.write(place.projectFile, '');
    expect(await place.json(['list', '--no-connect'])).toEqual({
      status: 0,
      value: { servers: [], problems: [] },
    });
    expect((await place.run(['add', 'a', '-s', 'project', '--', 'x'])).status).toBe(0);
    expect(place.read(place.projectFile)).toEqual({ mcpServers: { a: { command: 'x' } } });
  });

  it('a file of 10 MB', async () => {
    place.write(place.projectFile, `{"x":"${'a'.repeat(10_000_000)}"}`);
    place.write(place.userFile, GOOD);
    expect(await place.json(['list', '--no-connect'])).toMatchObject({
      status: 0,
      value: { servers: [{ name: 'good' }], problems: [{ file: '<project>/.mcp.json' }] },
    });
    expect(await refusal(['add', 'b', '-s', 'project', '--', 'y'], place.projectFile)).toMatchObject({
      status: 2,
      value: { error: { code: 'CONFIG_UNWRITABLE' } },
    });
  });

  it('duplicate keys: reported with their lines, the last one is used', async () => {
    place.write(place.userFile, '{ "mcpServers": {\n "a": { "command": "x" },\n "a": { "command": "y" } } }');
    expect((await place.json(['get', 'a'])).value).toMatchObject({ entry: { command: 'y' } });
    const { value } = await place.json(['list', '--no-connect']);
    expect(value).toMatchObject({ problems: [{ file: '<home>/config.json', line: 3 }] });
  });

  it('wrong types: the entry is left out and reported, the others are used', async () => {
    place.write(place.userFile, {
      mcpServers: { ...GOOD.mcpServers, bad: { command: 'x', args: 'y' }, worse: 7 },
    });
    const { value } = await place.json(['list', '--no-connect']);
    expect(value).toMatchObject({
      servers: [{ name: 'good' }],
      problems: [{ server: 'bad' }, { server: 'worse' }],
    });
  });
});

describe('names', () => {
  it.each(['a/b', 'two words', '🚀', '__proto__', 'constructor', 'toString'])(
    '%j is a name like any other',
    async (name) => {
      expect((await place.run(['add', name, '-s', 'user', '--', 'x'])).status).toBe(0);
      expect(await place.json(['get', name])).toMatchObject({
        status: 0,
        value: { name, entry: { command: 'x' } },
      });
      expect((await place.run(['remove', name])).status).toBe(0);
      expect(await place.json(['list', '--no-connect'])).toEqual({
        status: 0,
        value: { servers: [], problems: [] },
      });
    },
  );

  it.each([
    ['with a control character', 'a\u0007b'],
    ['with a line break', 'a\nb'],
    ['that is empty', ''],
    ['that is too long', 'a'.repeat(129)],
  ])('one %s is refused', async (_what, name) => {
    const { status, value } = await place.json(['add', name, '-s', 'user', '--', 'x']);
    expect({ status, value }).toMatchObject({ status: 2, value: { error: { code: 'USAGE' } } });
    expect(existsSync(place.userFile)).toBe(false);
  });

  it('one with a leading dash is refused', async () => {
    expect(await place.json(['add', '-x', '--', 'y'])).toMatchObject({
      status: 2,
      value: { error: { code: 'USAGE' } },
    });
    expect(existsSync(place.userFile)).toBe(false);
  });
});

describe('entries that cannot be added', () => {
  it.each([
    ['nothing after the name', ['add', 'a'], 'The server has neither a command nor a url'],
    ['nothing after --', ['add', 'a', '--'], 'There is no command after --'],
    [
      'a url and a command',
      ['add', 'a', 'https://example.com', '--', 'x'],
      'Unexpected "https://example.com" before --; the server\'s command comes after it',
    ],
    [
      'another scheme',
      ['add', 'a', 'ftp://example.com/x'],
      '"ftp://example.com/x" is not an http or https url',
    ],
    [
      'a url that is none',
      ['add', 'a', '-t', 'http', 'example.com'],
      '"example.com" is not an http or https url',
    ],
    [
      'a url with arguments',
      ['add', 'a', 'https://example.com/mcp', 'x'],
      'A server with a url takes no arguments, but "x" was given',
    ],
    [
      '--env with a url',
      ['add', 'a', 'https://example.com', '-e', 'A=1'],
      '--env can only be used with a command',
    ],
    [
      '--header with a command',
      ['add', 'a', '-H', 'A: b', '--', 'x'],
      '--header can only be used with a url',
    ],
    [
      '--transport http with a command',
      ['add', 'a', '-t', 'http', '--', 'x'],
      '--transport http needs a url, but a command was given',
    ],
    [
      '--transport stdio with a url',
      ['add', 'a', '-t', 'stdio', 'https://example.com'],
      '--transport stdio needs a command, but a url was given',
    ],
    [
      'a variable without a value',
      ['add', 'a', '-e', 'TOKEN', '--', 'x'],
      '--env needs NAME=VALUE, not "TOKEN"',
    ],
    [
      'a header without a colon',
      ['add', 'a', 'https://example.com', '-H', 'X'],
      '--header needs "Name: value" on one line',
    ],
    [
      'a header with a line break',
      ['add', 'a', 'https://example.com', '-H', 'X: a\r\nY: b'],
      '--header needs "Name: value" on one line',
    ],
    [
      'a timeout that is no number',
      ['add', 'a', '--startup-timeout', '5s', '--', 'x'],
      '--startup-timeout needs a whole number from 1 to 2147483647, not "5s"',
    ],
    [
      'a port out of range',
      ['add', 'a', 'https://example.com', '--callback-port', '70000'],
      '--callback-port needs a whole number from 1 to 65535, not "70000"',
    ],
    [
      'JSON that ends too early',
      ['add-json', 'a', '{"command":'],
      'The entry is not valid JSON: unexpected end of input',
    ],
    [
      'JSON with a mistake',
      ['add-json', 'a', '{command:"x"}'],
      'The entry is not valid JSON, at character 2',
    ],
    ['JSON that is no object', ['add-json', 'a', '["x"]'], 'The entry must be a JSON object'],
  ])('%s', async (_what, args, message) => {
    expect(await refusal(args, place.userFile)).toEqual({
      status: 2,
      value: { error: { code: 'USAGE', message, hint: expect.any(String) } },
    });
    expect(existsSync(place.userFile)).toBe(false);
  });

  it('an entry that is not valid', async () => {
    expect(await refusal(['add-json', 'a', '{"command":7}'], place.userFile)).toMatchObject({
      status: 2,
      value: { error: { code: 'CONFIG_INVALID', server: 'a' } },
    });
    expect(existsSync(place.userFile)).toBe(false);
  });

  it('a flag of the server that is mistaken for one of plugboard is reported with where -- belongs', async () => {
    expect(await place.json(['add', 'a', 'npx', '-y', 'pkg'])).toEqual({
      status: 2,
      value: {
        error: {
          code: 'USAGE',
          message: 'Unknown option "-y"',
          hint: 'Put flags of the server itself after --: plugboard add <name> -- <command> [args…].',
        },
      },
    });
  });
});

describe('calls that cannot be made', () => {
  const server = { command: process.execPath, args: [join(FIXTURES, 'echo.mjs')] };

  it.each([
    ['CFG-4: an unset variable', ['call', 'unset', 'echo'], 2, 'CONFIG_INVALID'],
    ['an unknown server', ['call', 'ehco', 'echo'], 2, 'UNKNOWN_SERVER'],
    ['an unknown tool', ['call', 'echo', 'ehco'], 2, 'UNKNOWN_TOOL'],
    ['bad JSON', ['call', 'echo', 'echo', '{"message":'], 2, 'INVALID_ARGUMENTS'],
    ['JSON that is no object', ['call', 'echo', 'echo', '-'], 2, 'INVALID_ARGUMENTS'],
    ['a word that is no argument', ['call', 'echo', 'echo', 'hello'], 2, 'INVALID_ARGUMENTS'],
    ['bad JSON in one value', ['call', 'echo', 'add', 'a:=1', 'b:=two'], 2, 'INVALID_ARGUMENTS'],
    ['a value of the wrong type', ['call', 'echo', 'add', 'a=1', 'b=two'], 2, 'INVALID_ARGUMENTS'],
    ['a timeout that is no number', ['call', 'echo', 'echo', '--timeout', 'soon'], 2, 'USAGE'],
  ])('%s: one sentence, one hint, the documented status', async (_what, args, status, code) => {
    place.write(place.userFile, {
      mcpServers: { echo: server, unset: { ...server, env: { A: `\${NOT_SET_HERE}` } } },
    });
    const ended = await place.json(args, { input: '[1]' });
    expect(ended).toMatchObject({
      status,
      value: { error: { code, message: expect.any(String), hint: expect.any(String) } },
    });
    const human = await place.run(args, { input: '[1]' });
    expect({ ...human, stderr: human.stderr.split('\n').length }).toEqual({ status, stdout: '', stderr: 3 });
  });

  it('CFG-4: a server with an unset variable fails by name, the others work', async () => {
    place.write(place.userFile, {
      mcpServers: { echo: server, unset: { ...server, env: { A: `\${NOT_SET_HERE}` } } },
    });
    const { status, value } = await place.json(['list']);
    expect({ status, value }).toMatchObject({
      status: 0,
      value: {
        servers: [
          { name: 'echo', status: 'connected', tools: 5 },
          {
            name: 'unset',
            status: 'failed',
            error: { code: 'CONFIG_INVALID', message: expect.stringContaining('NOT_SET_HERE') },
          },
        ],
      },
    });
  });
});

it.each(['call echo wait', 'list', 'serve --stdio'])(
  'F53: %s in a folder that was deleted names the folder, without a stack trace',
  (line) => {
    const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"';
    // PLUGBOARD_DAEMON of tests is left out: the way to the daemon reads the folder first.
    const { PLUGBOARD_DAEMON: _, ...inherited } = process.env;
    const env = { ...inherited, PLUGBOARD_HOME: place.home };
    const { status, stderr } = spawnSync(
      'sh',
      ['-c', script, process.execPath, COMMAND, ...line.split(' ')],
      { cwd: place.project, env, input: '', encoding: 'utf8' },
    );
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr:
        'error: The folder this command was started in no longer exists\nhint:  Change to another folder, or name one with --cwd.\n',
    });
  },
);
