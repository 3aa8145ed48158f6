import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rows } from '../../src/cli/commands.ts';
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
          message: 'No command was given.',
          hint: 'plugboard --help shows all commands.',
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
      "Unknown command 'lst'.",
      'Did you mean list? plugboard --help shows what there is.',
    ],
    [
      'a command like nothing',
      ['xyzzy'],
      "Unknown command 'xyzzy'.",
      'plugboard --help shows what there is.',
    ],
    [
      'an unknown global flag',
      ['--verbos', 'list'],
      "Unknown option '--verbos'.",
      'Did you mean --verbose? plugboard list --help shows what there is.',
    ],
    [
      'an unknown flag of a command',
      ['list', '--no-conect'],
      "Unknown option '--no-conect'.",
      'Did you mean --no-connect? plugboard list --help shows what there is.',
    ],
    [
      'a missing argument',
      ['get'],
      "Missing required argument 'name'.",
      'plugboard get --help shows what there is.',
    ],
    [
      'too many arguments',
      ['get', 'a', 'b'],
      "Too many arguments for 'get'. Expected 1 argument but got 2.",
      'plugboard get --help shows what there is.',
    ],
    [
      'a flag without its value',
      ['list', '--cwd'],
      "Option '--cwd <dir>' argument missing.",
      'plugboard list --help shows what there is.',
    ],
    [
      'a value that is none of the choices',
      ['remove', 'files', '-s', 'global'],
      "Option '-s, --scope <scope>' argument 'global' is invalid. Allowed choices are local, project, user.",
      'plugboard remove --help shows what there is.',
    ],
    [
      'a folder that does not exist',
      ['list', '--no-connect', '--cwd', '/no/such/folder'],
      'There is no folder /no/such/folder.',
      'Give --cwd a folder that exists.',
    ],
    [
      '--server without a name',
      ['list', '--server', 'https://example.com/mcp'],
      '--server needs a name and a command or url, not "https://example.com/mcp".',
      "Write --server 'files=npx -y some-server' or --server docs=https://example.com/mcp.",
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
  ])('global flags stand before or after the command: %j', async (args) => {
    const { status, stdout, stderr } = await place.run(args);
    expect({ status, stderr, value: JSON.parse(stdout) }).toEqual({
      status: 0,
      stderr: '',
      value: {
        servers: [{ name: 'files', scope: 'user', transport: 'stdio', status: 'idle', tools: 0 }],
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
        { name: 'files', scope: 'code', transport: 'stdio', status: 'idle', tools: 0 },
        { name: 'docs', scope: 'code', transport: 'http', status: 'idle', tools: 0 },
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

  it('what stands after -- is never a flag of ours', async () => {
    const other = new Place();
    expect((await other.run(['add', 'x', '--', 'prog', '--json', '--cwd', '/nowhere', '-s'])).status).toBe(0);
    expect((await other.json(['get', 'x'])).value).toMatchObject({
      entry: { command: 'prog', args: ['--json', '--cwd', '/nowhere', '-s'] },
    });
    other.remove();
  });
});
