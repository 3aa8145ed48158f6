import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
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

describe('UI-1: candidates at the cursor', () => {
  it('commands with what they do, and help', async () => {
    expect(await asked('logi')).toEqual(['login\tlog in to a remote server']);
    expect(values(await asked('he'))).toEqual(['help']);
    expect(values(await asked('help', 'logo'))).toEqual(['logout']);
  });

  it('flags of the command and of all commands', async () => {
    expect(values(await asked('list', '--'))).toEqual([
      '--no-connect',
      '--exit-code',
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
    expect(await asked('add', 'x', '-t', '')).toEqual([
      'stdio\ta program that is started',
      'http\tan address (streamable HTTP)',
      'sse\tan address (HTTP+SSE of 2024)',
    ]);
    expect(await asked('--cwd', '')).toEqual([':folders']);
    expect(await asked('read', 'echo', 'x://y', '-o', '')).toEqual([':files']);
    expect(await asked('call', 'echo', 'echo', '--timeout', '')).toEqual([]);
  });

  it('names of profiles, of clients, and of tools to try', async () => {
    place.write(place.userFile, {
      mcpServers: { echo: ECHO },
      profiles: { reader: {}, writer: { extends: 'reader' } },
      clients: { ci: { claims: { sub: 'ci' }, profile: 'reader' } },
    });
    await place.run(['tools', 'echo']);
    await place.run(['token', 'add', 'laptop', '--profile', 'reader']);
    expect(
      [
        await asked('serve', '--profile', ''),
        await asked('serve', '--profile=w'),
        await asked('export', '--profile', 'r'),
        await asked('token', 'add', 'x', '--profile', 'w'),
        await asked('profile', 'show', ''),
        await asked('profile', 'try', 'r'),
        await asked('profile', 'list', ''),
        await asked('audit', '--client', ''),
      ].map(values),
    ).toEqual([
      ['reader', 'writer'],
      ['--profile=writer'],
      ['reader'],
      ['writer'],
      ['reader', 'writer'],
      ['reader'],
      [],
      ['laptop', 'ci'],
    ]);
    expect(values(await asked('profile', 'try', 'reader', 'echo'))).toContain('echo__echo');
    expect(values(await asked('profile', 'try', 'reader', 'echo.'))).toContain('echo.echo');
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
    expect(await asked('call', 'echo', 'echo', '')).toEqual(['message=\tWhat to give back.\topen']);
    expect(await asked('call', 'echo', 'echo', 'message=x', '')).toEqual([]);
    expect(await asked('call', 'echo', 'echo', 'message=')).toEqual([':value-files']);
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

  it('B18: every argument and value that can be known, with descriptions', async () => {
    const choices = join(FIXTURES, 'cli-choices.mjs');
    place.write(place.userFile, {
      mcpServers: {
        tools: { command: process.execPath, args: [choices], env: { KEY: '${input:some-key}' } },
        off: { command: 'x', enabled: false },
        remote: { url: 'https://example.com/mcp' },
      },
      inputs: [{ type: 'promptString', id: 'some-key', default: 'x' }],
      plugins: { kit: { path: place.dir } },
    });
    place.write(place.projectFile, { mcpServers: { theirs: { command: 'x' } } });
    for (const list of ['tools', 'prompts', 'resources']) await place.run([list, 'tools']);
    const offered: Readonly<Record<string, readonly string[]>> = {
      'add --preset file': ['filesystem\tfiles of one folder'],
      'export --to cl': ['claude-code\tClaude Code', 'claude-desktop\tClaude Desktop'],
      'import co': ['codex\tCodex'],
      'import ./f': [':files'],
      'daemon re': ['restart\treplace it; sessions move to the new one'],
      'service i': ['install\tstart the daemon with your session'],
      'plugin remove ': ['kit\t'],
      'plugin add ': [':folders'],
      'input set ': ['some-key\tused by tools'],
      'input list ': [],
      'trust ': ['theirs\tproject scope'],
      'login ': ['remote\tuser scope'],
      'enable ': ['off\tuser scope'],
      'disable t': ['theirs\tproject scope', 'tools\tuser scope'],
      'add x --scope=u': ['--scope=user\tonly you, in every project'],
      'serve --approvals ': [
        'client\tthe agent asks its own user',
        'enforce\tPlugboard asks, even if the agent does not',
      ],
      'call tools choose ': ['colour=\tThe colour\topen', 'loud=\t\topen', 'path=\t\topen'],
      'call tools choose colour=': ['colour=red\t', 'colour=green\t'],
      'call tools choose colour=red loud=t': ['loud=true\t'],
      'call tools choose path=@a': [':value-files'],
      'call tools choose --col': ['--colour\tThe colour'],
      'call tools choose --colour ': ['red\t', 'green\t'],
      'call tools choose --colour g': ['green\t'],
      'call tools choose --colour=r': ['--colour=red\t'],
      'call tools choose --path ': [':files'],
      'call tools choose --loud --Colour red ': ['path=\t\topen'],
      'call tools choose --loud --colour red --lo': [],
      'call tools.ch': ['tools.choose\tChooses a colour'],
      'call tools/ch': ['tools/choose\tChooses a colour'],
      'tool tools__c': ['tools__choose\tChooses a colour'],
      'call mcp__to': ['mcp__tools__choose\tChooses a colour'],
      'call tools__choose --loud true colour=r': ['colour=red\t'],
      'call tools.choose ': ['colour=\tThe colour\topen', 'loud=\t\topen', 'path=\t\topen'],
      'unset tools ': ['command\t', 'args\t', 'env\t', 'env.KEY\t'],
      'unset off enabled ': ['command\t'],
      'prompt tools ': ['greet\tA greeting'],
      'prompt tools greet ': ['who=\tWhom\topen'],
      'read tools ': ['memo://first\tfirst'],
    };
    const found = await Promise.all(
      Object.keys(offered).map(async (line) => [line, await asked(...line.split(' '))]),
    );
    expect(Object.fromEntries(found)).toEqual(offered);
    expect(values(await asked('call', 'tools', 'ch'))).toEqual(['choose']);
    expect(await asked('call', 'tools', 'ch')).toEqual(['choose\tChooses a colour']);
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
      'COMP_LINE=$1; COMP_POINT=${#COMP_LINE}; shift',
      'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { echo "compopt $*"; }',
      '_plugboard; printf "%s\\n" "${COMPREPLY[@]}"',
    ].join('\n');
    // Signs at which bash takes a word apart have no space around them.
    const line = words.join(' ').replace(/ ?([=:@]+) ?/g, '$1');
    const { stdout } = await run('bash', ['-c', script, 'bash', line, ...words], {
      cwd: place.project,
      env: env(),
    });
    return stdout.trimEnd().split('\n');
  };

  it('bash', async () => {
    await withEcho();
    expect(await inBash('plugboard', 'logo')).toEqual(['logout']);
    expect(await inBash('plugboard', 'get', 'm')).toEqual(['my\\ files']);
    expect(await inBash('plugboard', 'get', 'my\\ f')).toEqual(['my\\ files']);
    expect(await inBash('plugboard', 'call', 'echo', 'echo', 'm')).toEqual([
      'compopt -o nospace',
      'message=',
    ]);
    expect(await inBash('plugboard', 'call', 'echo', 'echo', 'message', '=', 'RE')).toEqual([
      'compopt -o default',
    ]);
    expect(await inBash('plugboard', 'call', 'echo', 'echo', 'message', '=')).toEqual(['compopt -o default']);
    expect(await inBash('plugboard', 'add', 'x', '--scope', '=', 'us')).toEqual(['user']);
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
    expect(await inFish('plugboard logo')).toEqual(['logout\tlog out of a remote server']);
    expect(await inFish('plugboard call echo ec')).toEqual(['echo\tGives the message back.']);
    expect(await inFish('plugboard call echo echo m')).toEqual(['message=\tWhat to give back.']);
    writeFileSync(join(place.project, 'notes.txt'), '');
    expect(await inFish('plugboard call echo echo message=no')).toEqual(['message=notes.txt']);
    expect(await inFish('plugboard call echo echo message=@no')).toEqual(['message=@notes.txt']);
    expect(await inFish('plugboard daemon rest')).toEqual([
      'restart\treplace it; sessions move to the new one',
    ]);
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
      });
      return stdout;
    };
    // Only what is new is drawn: what follows the letters that were typed.
    expect(await inZsh('plugboard comp', 'letion')).toBe('found\n');
    expect(await inZsh('plugboard get m', 'files')).toBe('found\n');
    expect(await inZsh('plugboard call echo echo m', 'essage=')).toBe('found\n');
    writeFileSync(join(place.project, 'notes.txt'), '');
    expect(await inZsh('plugboard call echo echo message=no', 'tes.txt')).toBe('found\n');
    expect(await inZsh('plugboard call echo echo message=@no', 'tes.txt')).toBe('found\n');
  });

  it('an unknown shell is a usage error that names the known ones', async () => {
    expect((await place.json(['completion', 'tcsh'])).value).toMatchObject({ error: { code: 'USAGE' } });
  });
});
