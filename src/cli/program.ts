/** Parses argv and runs one command: handles global flags and help, and converts every usage error. */

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command, CommanderError, type Help } from 'commander';
import { findHome } from '../config/home.ts';
import { PlugboardError } from '../errors.ts';
import { type CommandRow, type Context, collect, type Flags, listFlag, textFlag } from './cli-command.ts';
import { parseExtraServers } from './extra-server.ts';
import type { Output } from './output.ts';
import { width, wrap } from './text-layout.ts';
import { noCommand, unknownCommand, usageError } from './usage-error.ts';

export interface Invocation {
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly rows: readonly CommandRow[];
  /** Called only if the version is printed. */
  readonly version: () => string;
  readonly output: Output;
  readonly signal: AbortSignal;
  /** For a command that runs for a shell in another process: that shell's folder and home, and the host to use. */
  readonly there?: Pick<Context, 'cwd' | 'home' | 'config' | 'elicit' | 'openHost'> | undefined;
}

/** Global flags that take the next argument as their value. */
const GLOBAL_VALUE_FLAGS: ReadonlySet<string> = new Set(['--cwd', '--server']);

/** Runs the requested command and resolves to its exit status; rejects with a PlugboardError. */
export async function runProgram(invocation: Invocation): Promise<number> {
  const { argv, rows, output } = invocation;
  const dashes = argv.indexOf('--');
  const ownArgv = dashes === -1 ? argv : argv.slice(0, dashes);
  const requested = requestedCommand(ownArgv);
  const row = rows.find(
    ({ name, alias }) => requested !== undefined && (requested === name || requested === alias),
  );
  if (row === undefined && requested !== undefined && ownArgv.some(isHelpWord))
    throw unknownCommand(requested, rows);
  const loaded = await row?.load();

  let printed = '';
  let typed: Command | undefined;
  let chosen: Command | undefined;
  const print = (text: string): void => {
    printed += text;
  };
  const program = declareProgram(ownArgv.some(isVersionFlag) ? invocation.version() : '', print);
  if (row?.hasServerFlag !== true) declareServerFlag(program);
  program.configureOutput({
    getOutHelpWidth: () => (output.json ? undefined : output.columns) ?? DEFAULT_COLUMNS,
  });
  // Help and suggestions need all commands; otherwise only the requested one is declared.
  for (const each of row === undefined ? rows : [row]) {
    const command = program
      .command(each.name, { hidden: each.hidden ?? false })
      .description(each.summary)
      .helpGroup(each.group);
    if (each.alias !== undefined) command.alias(each.alias);
    if (each !== row) continue;
    loaded?.configure(command);
    typed = command;
    command.action(() => {
      chosen = command;
    });
  }

  try {
    program.parse(argv, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    const nothingTyped = thrown.code === 'commander.help' && !output.json;
    if (thrown.exitCode !== 0 && !nothingTyped) throw usageError(thrown, typed, rows);
    if (nothingTyped && output.columns !== undefined) {
      const { overview } = await import('./overview.ts');
      return overview(contextOf(invocation, program.opts(), undefined));
    }
    const isVersion = thrown.code === 'commander.version';
    output.answer(isVersion ? { version: printed.trim() } : { help: printed }, () =>
      fitHelp(printed.trimEnd(), output.columns),
    );
    return 0;
  }
  if (chosen === undefined || loaded === undefined) throw noCommand();
  const afterDashes = dashes === -1 ? undefined : argv.slice(dashes + 1);
  return loaded.run(contextOf(invocation, program.opts(), afterDashes), chosen.args, chosen.opts());
}

function contextOf(
  { there, env, output, signal }: Invocation,
  globals: Flags,
  afterDashes: readonly string[] | undefined,
): Context {
  return {
    ...readGlobals(globals, there?.cwd),
    home: there?.home ?? findHome(env),
    config: there?.config,
    openHost: there?.openHost,
    elicit: there?.elicit,
    env,
    output,
    note: (message) => output.note(message),
    signal,
    afterDashes,
  };
}

function isHelpWord(word: string): boolean {
  return word === 'help' || word === '--help' || word === '-h';
}

function isVersionFlag(word: string): boolean {
  return word === '--version' || /^-[^-]*V/.test(word);
}

/** Returns the first argument that is neither a flag nor the value of a global flag; after `help`, its topic. */
function requestedCommand(argv: readonly string[]): string | undefined {
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (GLOBAL_VALUE_FLAGS.has(word)) at++;
    else if (!word.startsWith('-') && word !== 'help') return word;
  }
  return undefined;
}

/** Declares the program with its global flags and without commands. */
export function declareProgram(version: string, print: (text: string) => void): Command {
  return new Command('plugboard')
    .description('One place for all your MCP servers: configure them, inspect them, call their tools.')
    .version(version, '-V, --version', 'print the version')
    .option('--json', 'print one JSON document on stdout')
    .option('--cwd <dir>', 'run as if started in this folder')
    .option('--verbose', 'print debug output to stderr')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help')
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .configureOutput({ writeOut: print, writeErr: print, outputError: () => {} })
    .configureHelp(HELP_LAYOUT);
}

/** Declares the global flag `--server`, for commands that have no flag of this name. */
export function declareServerFlag(program: Command): Command {
  return program.option(
    '--server <name=…>',
    'add a server for this run only (repeatable): name=url or "name=command args…"',
    collect,
  );
}

const EXAMPLES = `
Examples:
  plugboard add --preset filesystem files
  plugboard add time -- uvx mcp-server-time
  plugboard add docs https://example.com/mcp -H 'X-Key: \${DOCS_KEY}'
  plugboard list
  plugboard call files read_text_file path=README.md`;

function readGlobals(flags: Flags, from?: string): Pick<Context, 'cwd' | 'verbose' | 'extra'> {
  const cwd = existingFolder(textFlag(flags, 'cwd'), from);
  return {
    cwd,
    verbose: flags['verbose'] === true,
    extra: parseExtraServers(listFlag(flags, 'server'), cwd),
  };
}

function existingFolder(given: string | undefined, from: string | undefined): string {
  if (given === undefined) return from ?? currentFolder();
  const dir = from === undefined ? resolve(given) : resolve(from, given);
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true) return dir;
  throw new PlugboardError('USAGE', `There is no folder ${dir}`, {
    hint: 'Give --cwd a folder that exists.',
  });
}

function currentFolder(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new PlugboardError('USAGE', 'The folder this command was started in no longer exists', {
      cause,
      hint: 'Change to another folder, or name one with --cwd.',
    });
  }
}

/** Minimum columns for a description next to its term; with fewer it goes below. */
const MIN_BESIDE = 30;
const ITEM_INDENT = '  ';
const BELOW_INDENT = '      ';
/** Indent of the following lines of a paragraph or a command. */
const HANGING = '    ';

/** Settings for commander's help; output to a pipe is formatted for 80 columns. */
const HELP_LAYOUT: Partial<Help> = {
  showGlobalOptions: true,
  minWidthToWrap: 20,
  formatItem(this: Help, term: string, termWidth: number, description: string): string {
    const columns = this.helpWidth ?? DEFAULT_COLUMNS;
    const beside = columns - ITEM_INDENT.length - termWidth - ITEM_INDENT.length;
    if (description === '') return `${ITEM_INDENT}${term}`;
    if (beside >= MIN_BESIDE) {
      const [first = '', ...more] = wrap(description, beside);
      const indent = ' '.repeat(columns - beside);
      const gap = ' '.repeat(termWidth - width(term) + ITEM_INDENT.length);
      return [`${ITEM_INDENT}${term}${gap}${first}`, ...more.map((line) => indent + line)].join('\n');
    }
    const below = wrap(description, columns - BELOW_INDENT.length);
    return [`${ITEM_INDENT}${term}`, ...below.map((line) => BELOW_INDENT + line)].join('\n');
  },
};

/** Fits help text to the terminal: in narrow terminals descriptions go below their terms, and words are not broken. */
const DEFAULT_COLUMNS = 80;

/** Wraps lines that are still too wide: usage lines, and the text and examples at the end. */
function fitHelp(text: string, columns: number | undefined): string {
  if (columns === undefined) return text;
  let isExample = false;
  return text
    .split('\n')
    .flatMap((line) => {
      if (/^\S/.test(line)) isExample = /^Examples?:$/.test(line);
      return width(line) <= columns ? [line] : fitLine(line, columns, isExample);
    })
    .join('\n');
}

/** Ends a continued command with a backslash, so that it can be copied. */
function fitLine(line: string, columns: number, isExample: boolean): string[] {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const end = isExample ? ' \\' : '';
  const room = columns - indent.length - HANGING.length - end.length;
  // The first line has a smaller indent than the others.
  const [first = '', ...more] = wrap(line.trim(), Math.max(1, room));
  const lines = [indent + first, ...more.map((next) => indent + HANGING + next)];
  return lines.map((each, at) => (at < lines.length - 1 ? each + end : each));
}
