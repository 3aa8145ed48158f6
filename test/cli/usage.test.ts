import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rows } from '../../src/cli/command-table.ts';
import { Place } from './command.ts';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));

describe('the command line', () => {
  let place: Place;
  beforeAll(() => {
    place = new Place();
    place.write(place.userFile, { mcpServers: { files: { command: 'npx' } } });
  });
  afterAll(() => place.remove());

  it.each([[['--version']], [['-V']], [['--verbose', '--version']]])(
    '%j prints the version',
    async (args) => {
      expect(await place.run(args)).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
    },
  );

  it('--version --json is one document', async () => {
    expect(await place.json(['--version'])).toEqual({ status: 0, value: { version } });
  });

  it('without a command shows the help and ends with 0', async () => {
    const bare = await place.run([]);
    const asked = await place.run(['--help']);
    expect(bare).toEqual(asked);
    expect(bare.status).toBe(0);
    expect(bare.stdout).toMatch(/^Usage: plugboard \[options\] \[command\]\n/);
    expect(bare.stderr).toBe('');
  });

  it('UI-1: the help of every command has an example that begins with plugboard', async () => {
    const without = await Promise.all(
      rows.map(async ({ name, load }) => {
        const command = new Command(name);
        let text = '';
        command.configureOutput({
          writeOut: (part) => {
            text += part;
          },
        });
        (await load()).configure(command);
        command.outputHelp();
        return /\nExamples?:\n(?: {2}.*\n)*? {2}.*plugboard /.test(`${text}\n`) ? [] : [name];
      }),
    );
    expect(without.flat()).toEqual([]);
  });

  it('without a command but with --json is a usage error', async () => {
    expect(await place.json([])).toEqual({
      status: 2,
      value: {
        error: {
          code: 'USAGE',
          message: 'No command was given',
          hint: 'Run plugboard --help to see all commands.',
        },
      },
    });
  });

  it('help of a command has its flags, the global ones and examples', async () => {
    const { status, stdout } = await place.run(['help', 'call']);
    expect(status).toBe(0);
    expect(stdout).toBe((await place.run(['call', '--help'])).stdout);
    expect(stdout).toMatch(/^Usage: plugboard call \[options\] <server> \[tool\] \[arguments\.\.\.\]\n/);
    for (const part of ['--timeout <ms>', '--json', 'plugboard call demo echo message=hi']) {
      expect(stdout).toContain(part);
    }
  });

  it('--help --json is one document', async () => {
    const { status, value } = await place.json(['get', '--help']);
    expect({ status, value }).toEqual({
      status: 0,
      value: { help: expect.stringMatching(/^Usage: plugboard get /) },
    });
  });

  it.each([
    [
      'an unknown command',
      ['lst'],
      'Unknown command "lst"',
      'Did you mean plugboard list? Run plugboard --help to see all commands.',
    ],
    [
      'F32: an empty query',
      ['search', ' '],
      'The query is empty',
      'Describe what the tool should do, for example: plugboard search read a file. Run plugboard tools to list all tools.',
    ],
    [
      'a command like nothing',
      ['xyzzy'],
      'Unknown command "xyzzy"',
      'Run plugboard --help to see all commands.',
    ],
    [
      'F23: the name that another tool has for a command',
      ['rm'],
      'Unknown command "rm"',
      'Did you mean plugboard remove? Run plugboard --help to see all commands.',
    ],
    [
      'F23: version as a command',
      ['version'],
      'Unknown command "version"',
      'Did you mean plugboard --version? Run plugboard --help to see all commands.',
    ],
    [
      'B19: help for an unknown command',
      ['help', 'lst'],
      'Unknown command "lst"',
      'Did you mean plugboard list? Run plugboard --help to see all commands.',
    ],
    [
      'B19: --help of an unknown command',
      ['delete', '--help'],
      'Unknown command "delete"',
      'Did you mean plugboard remove? Run plugboard --help to see all commands.',
    ],
    [
      'an unknown global flag',
      ['--verbos', 'list'],
      'Unknown option "--verbos"',
      'Did you mean --verbose? Run plugboard list --help to see all options.',
    ],
    [
      'an unknown flag of a command',
      ['list', '--no-conect'],
      'Unknown option "--no-conect"',
      'Did you mean --no-connect? Run plugboard list --help to see all options.',
    ],
    [
      'a missing argument',
      ['get'],
      'Missing argument <name>',
      'Usage: plugboard get <name>. Run plugboard get --help for details.',
    ],
    [
      'F23: too many arguments',
      ['get', 'a', 'b'],
      'Unexpected argument "b"',
      'Usage: plugboard get <name>. Run plugboard get --help for details.',
    ],
    [
      'a flag without its value',
      ['list', '--cwd'],
      '--cwd <dir> needs a value',
      'Run plugboard list --help for details.',
    ],
    [
      'a flag that is required',
      ['export'],
      '--to <agent> is required',
      'Run plugboard export --help for details.',
    ],
    [
      'a value that is none of the choices',
      ['remove', 'files', '-s', 'global'],
      'Unknown value "global" for --scope.',
      'Use local, project or user.',
    ],
    [
      'F23: an action that is none of the choices',
      ['daemon', 'strt'],
      'Unknown action "strt".',
      'Use start, stop, restart, status or run.',
    ],
    [
      'a folder that does not exist',
      ['list', '--no-connect', '--cwd', '/no/such/folder'],
      'There is no folder /no/such/folder',
      'Give --cwd a folder that exists.',
    ],
    [
      '--server without a name',
      ['list', '--server', 'some-server'],
      '--server needs a name and a command or url, not "some-server"',
      "Write --server 'files=npx -y some-server', or --server docs=https://example.com/mcp. See plugboard --help.",
    ],
    [
      'an open quote in --server',
      ['list', '--server', "a=sh -c 'oops"],
      "A quote (') is not closed in: sh -c 'oops",
      'Close the quote, or put a backslash before it.',
    ],
  ])('%s is a usage error with a hint, for people and as JSON', async (_what, args, message, hint) => {
    expect(await place.run(args)).toEqual({
      status: 2,
      stdout: '',
      stderr: `error: ${message}\nhint:  ${hint}\n`,
    });
    expect(await place.json(args)).toEqual({ status: 2, value: { error: { code: 'USAGE', message, hint } } });
  });

  it.each([
    [['--json', '--cwd', '.', 'list', '--no-connect']],
    [['list', '--json', '--no-connect', '--cwd', '.']],
    [['--cwd=.', 'status', '--no-connect', '--json']],
  ])('global flags are accepted before or after the command: %j', async (args) => {
    const { status, stdout, stderr } = await place.run(args);
    expect({ status, stderr, value: JSON.parse(stdout) }).toEqual({
      status: 0,
      stderr: '',
      value: {
        servers: [
          { name: 'files', scope: 'user', transport: 'stdio', status: 'idle', tools: 0, command: 'npx' },
        ],
        problems: [],
      },
    });
  });

  it('--server adds servers for this run only, stronger than files', async () => {
    const { value } = await place.json([
      ...['--server', "files=node '/opt/a b.js' --x"],
      ...['list', '--no-connect', '--server', 'docs=https://example.com/mcp'],
    ]);
    expect(value).toEqual({
      servers: [
        {
          ...{ name: 'files', scope: 'code', transport: 'stdio', status: 'idle', tools: 0 },
          command: "node '/opt/a b.js' --x",
        },
        {
          ...{ name: 'docs', scope: 'code', transport: 'http', status: 'idle', tools: 0 },
          url: 'https://example.com/mcp',
        },
      ],
      problems: [],
    });
    expect(await place.json(['get', 'files', '--server', "files=node '/opt/a b.js' --x"])).toEqual({
      status: 0,
      value: {
        name: 'files',
        scope: 'code',
        entry: { command: 'node', args: ['/opt/a b.js', '--x'] },
        status: 'idle',
      },
    });
  });

  it('arguments after -- are never read as flags of plugboard', async () => {
    const other = new Place();
    expect((await other.run(['add', 'x', '--', 'prog', '--json', '--cwd', '/nowhere', '-s'])).status).toBe(0);
    expect((await other.json(['get', 'x'])).value).toMatchObject({
      entry: { command: 'prog', args: ['--json', '--cwd', '/nowhere', '-s'] },
    });
    other.remove();
  });
});
