import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMMAND, FIXTURES, Place } from './command.ts';

let place: Place;
let bin: string;
beforeEach(() => {
  place = new Place();
  bin = join(place.dir, 'bin');
  mkdirSync(bin);
  symlinkSync(COMMAND, join(bin, 'plugboard'));
});
afterEach(() => place.remove());

const run = promisify(execFile);
const ECHO = { command: process.execPath, args: [join(FIXTURES, 'echo.mjs')] };

async function withEcho(): Promise<void> {
  place.write(place.userFile, { mcpServers: { echo: ECHO, 'my files': { command: 'x' } } });
  place.write(place.projectFile, { mcpServers: { theirs: { url: 'https://example.com/mcp' } } });
  await place.run(['tools', 'echo']);
}

/** What the shells ask: the words so far, the last one at the cursor. */
async function asked(...words: string[]): Promise<string[]> {
  const { stdout } = await place.run(['__complete', '--', ...words]);
  return stdout.split('\n').slice(0, -1);
}

const values = (lines: readonly string[]): string[] => lines.map((line) => line.split('\t')[0] ?? '');

describe('UI-1: what can stand at the cursor', () => {
  it('commands with what they do, and help', async () => {
    expect(await asked('lo')).toEqual([
      'login\tlog in to a remote server',
      'logout\tlog out of a remote server',
    ]);
    expect(values(await asked('he'))).toEqual(['help']);
    expect(values(await asked('help', 'lo'))).toEqual(['login', 'logout']);
  });

  it('flags of the command and of all commands', async () => {
    expect(values(await asked('list', '--'))).toEqual([
      '--no-connect',
      '--version',
      '--json',
      '--cwd',
      '--verbose',
      '--server',
      '--help',
    ]);
    expect(values(await asked('status', '--no'))).toEqual(['--no-connect']);
  });

  it('the values of a flag: words to choose from, folders and files', async () => {
    expect(values(await asked('add', 'x', '-t', ''))).toEqual(['stdio', 'http', 'sse']);
    expect(await asked('--cwd', '')).toEqual([':folders']);
    expect(await asked('read', 'echo', 'x://y', '-o', '')).toEqual([':files']);
    expect(await asked('call', 'echo', 'echo', '--timeout', '')).toEqual([]);
  });

  it('names of servers of all scopes, of tools, and of arguments not given yet, from files alone', async () => {
    await withEcho();
    expect(await asked('get', '')).toEqual([
      'theirs\tproject scope',
      'echo\tuser scope',
      'my files\tuser scope',
    ]);
    expect(await asked('--json', 'call', 'e')).toEqual(['echo\tuser scope']);
    expect(values(await asked('call', 'echo', 'ec'))).toEqual(['echo']);
    expect(await asked('call', 'echo', 'echo', '')).toEqual(['message=\t\topen']);
    expect(await asked('call', 'echo', 'echo', 'message=x', '')).toEqual([]);
    expect(await asked('call', 'echo', 'echo', 'message=')).toEqual([':files']);
    expect(values(await asked('trust', 'theirs', 't'))).toEqual([]);
    expect(await asked('add', 'e')).toEqual([]);
    expect(await asked('add', 'x', '--', 'np')).toEqual([':files']);
  });

  it('the folder that --cwd names', async () => {
    await withEcho();
    const other = join(place.dir, 'other');
    mkdirSync(join(other, '.git'), { recursive: true });
    place.write(join(other, '.mcp.json'), { mcpServers: { elsewhere: { command: 'x' } } });
    expect(values(await asked('--cwd', other, 'get', ''))).toEqual(['elsewhere', 'echo', 'my files']);
  });

  it('A13: a name that hides something, or breaks the line, is not offered', async () => {
    place.write(place.userFile, {
      mcpServers: { 'a\u202eb': { command: 'x' }, good: { command: 'x' }, 'größer 🚀': { command: 'x' } },
    });
    expect(values(await asked('get', ''))).toEqual(['good', 'größer 🚀']);
  });

  it('nothing at all where the configuration cannot be read, or the command is none', async () => {
    place.write(place.userFile, '{ "mcpServers": ');
    expect(await asked('get', '')).toEqual([]);
    expect(await asked('nonsense', '')).toEqual([]);
    expect(await asked()).not.toEqual([]);
  });

  it('loads no command, no commander, no host', () => {
    const bundle = readFileSync(join(COMMAND, '..', 'complete.cjs'), 'utf8');
    expect(bundle).not.toMatch(/require\("\.\/(?:commands|host)\.cjs"\)|CommanderError|zod|undici/);
  });
});

describe('UI-1: completion in real shells', () => {
  const env = (): NodeJS.ProcessEnv => ({
    ...process.env,
    PATH: `${bin}:${process.env['PATH']}`,
    PLUGBOARD_HOME: place.home,
    HOME: place.dir,
  });

  /** Asks bash for the candidates of a line whose words are given, as its tabulator key does. */
  const inBash = async (...words: string[]): Promise<string[]> => {
    const script = [
      'source <(plugboard completion bash)',
      'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { echo "compopt $*"; }',
      '_plugboard; printf "%s\\n" "${COMPREPLY[@]}"',
    ].join('\n');
    const { stdout } = await run('bash', ['-c', script, 'bash', ...words], {
      cwd: place.project,
      env: env(),
    });
    return stdout.trimEnd().split('\n');
  };

  it('bash', async () => {
    await withEcho();
    expect(await inBash('plugboard', 'lo')).toEqual(['login', 'logout']);
    expect(await inBash('plugboard', 'get', 'm')).toEqual(['my\\ files']);
    expect(await inBash('plugboard', 'get', 'my\\ f')).toEqual(['my\\ files']);
    expect(await inBash('plugboard', 'call', 'echo', 'echo', 'm')).toEqual([
      'compopt -o nospace',
      'message=',
    ]);
    expect(await inBash('plugboard', 'call', 'echo', 'echo', 'message', '=', 'RE')).toEqual([
      'compopt -o default',
    ]);
    expect(await inBash('plugboard', '--cwd', '')).toEqual(['compopt -o default -o dirnames']);
    const { stdout } = await run(
      'bash',
      ['-c', 'source <(plugboard completion bash); complete -p plugboard'],
      {
        env: env(),
      },
    );
    expect(stdout).toBe('complete -F _plugboard plugboard\n');
  });

  it('fish', async () => {
    await withEcho();
    const inFish = async (line: string): Promise<string[]> => {
      const script = 'plugboard completion fish | source; complete -C "$argv[1]"';
      const { stdout } = await run('fish', ['--no-config', '-c', script, line], {
        cwd: place.project,
        env: env(),
      });
      return stdout.trimEnd().split('\n');
    };
    expect(await inFish('plugboard lo')).toEqual([
      'login\tlog in to a remote server',
      'logout\tlog out of a remote server',
    ]);
    expect(await inFish('plugboard call echo ec')).toEqual(['echo']);
    expect(await inFish('plugboard call echo echo m')).toEqual(['message=']);
  });

  it('zsh', async () => {
    await withEcho();
    // zsh completes only where a line is edited: a terminal inside zsh, driven by zsh itself.
    const script = [
      'zmodload zsh/zpty',
      'zpty sh zsh -f -i',
      `zpty -w sh "PS1=; autoload -U compinit; compinit -u -D; source <(plugboard completion zsh); bindkey '^I' complete-word; echo rea''dy"`,
      'zpty -r -m sh out "*ready*"',
      "zpty -w -n sh $1$'\\t'",
      'zpty -r -m sh out "*$2*" && print -r -- found',
      'zpty -d sh',
    ].join('\n');
    const inZsh = async (line: string, expected: string): Promise<string> => {
      const { stdout } = await run('zsh', ['-f', '-c', script, 'zsh', line, expected], {
        cwd: place.project,
        env: { ...env(), TERM: 'vt100' },
        timeout: 20_000,
      });
      return stdout;
    };
    // Only what is new is drawn: what follows the letters that were typed.
    expect(await inZsh('plugboard comp', 'letion')).toBe('found\n');
    expect(await inZsh('plugboard get m', 'files')).toBe('found\n');
    expect(await inZsh('plugboard call echo echo m', 'essage=')).toBe('found\n');
  });

  it('an unknown shell is a usage error that names the known ones', async () => {
    expect((await place.json(['completion', 'tcsh'])).value).toMatchObject({ error: { code: 'USAGE' } });
  });
});
