/** What may stand where the cursor is, for the words of a command line that is being typed. */

import type { ArgumentKind, CommandWords, FlagWords, Vocabulary } from './vocabulary.ts';

export interface Candidate {
  readonly value: string;
  readonly about?: string;
  /** Something follows at once, as after `key=`. */
  readonly open?: boolean;
}

/** What has to be looked up, asked for only when it is needed. */
export interface Names {
  servers(cwd: string | undefined): Promise<readonly Candidate[]>;
  tools(cwd: string | undefined, server: string): Promise<readonly Candidate[]>;
  parameters(cwd: string | undefined, server: string, tool: string): Promise<readonly Candidate[]>;
}

/** A list to choose from, or what kind of path the shell should complete itself. */
export type Completion = readonly Candidate[] | 'files' | 'folders';

/** @param words what was typed after `plugboard`; the last one is at the cursor and may be empty. */
export async function complete(
  words: readonly string[],
  vocabulary: Vocabulary,
  names: Names,
): Promise<Completion> {
  const typed = words.slice(0, -1);
  const current = words.at(-1) ?? '';
  // Behind -- stands the command of a server.
  if (typed.includes('--')) return 'files';
  const line = read(typed, vocabulary);
  if (line.awaits !== undefined) return ofKind(line.awaits, [], line.cwd, names, current);
  if (current.startsWith('-')) return starting(current, flagCandidates(line.command, vocabulary));
  if (line.command === undefined) return starting(current, commandCandidates(vocabulary, line.isHelp));
  if (line.isHelp) return [];
  return ofKind(
    argumentKind(line.command, line.positionals.length),
    line.positionals,
    line.cwd,
    names,
    current,
  );
}

interface Line {
  readonly command: CommandWords | undefined;
  readonly positionals: readonly string[];
  readonly isHelp: boolean;
  readonly cwd: string | undefined;
  /** What the flag before the cursor wants. */
  readonly awaits: ArgumentKind | undefined;
}

/** Reads the words before the cursor as the program will: flags with their values apart, then the command, then its arguments. */
function read(typed: readonly string[], { commands, flags }: Vocabulary): Line {
  let command: CommandWords | undefined;
  let isHelp = false;
  let cwd: string | undefined;
  const positionals: string[] = [];
  for (let at = 0; at < typed.length; at++) {
    const word = typed[at] ?? '';
    const flag = [...flags, ...(command?.flags ?? [])].find(({ names }) => names.includes(word));
    if (flag?.value !== undefined && flag.optional !== true) {
      if (at + 1 >= typed.length) return { command, positionals, isHelp, cwd, awaits: flag.value };
      at++;
      if (word === '--cwd') cwd = typed[at];
    } else if (word.startsWith('--cwd=')) cwd = word.slice('--cwd='.length);
    else if (word.startsWith('-')) continue;
    else if (command !== undefined) positionals.push(word);
    else if (word === 'help') isHelp = true;
    else command = commands.find(({ name, alias }) => word === name || word === alias) ?? UNKNOWN;
  }
  return { command, positionals, isHelp, cwd, awaits: undefined };
}

const UNKNOWN: CommandWords = { name: '', about: '', flags: [], arguments: [], repeats: false };

function argumentKind({ arguments: kinds, repeats }: CommandWords, at: number): ArgumentKind {
  return kinds[at] ?? (repeats ? kinds.at(-1) : undefined) ?? [];
}

async function ofKind(
  kind: ArgumentKind,
  before: readonly string[],
  cwd: string | undefined,
  names: Names,
  current: string,
): Promise<Completion> {
  const [server = '', tool = ''] = before;
  switch (kind) {
    case 'file':
      return 'files';
    case 'folder':
      return 'folders';
    case 'text':
      return [];
    case 'server':
      return starting(current, without(await names.servers(cwd), before));
    case 'tool':
      return starting(current, await names.tools(cwd, server));
    case 'parameter': {
      // A value may well be a path.
      if (current.includes('=')) return 'files';
      const given = before.slice(2).map((word) => word.split(/:?=/, 1)[0] ?? '');
      const free = (await names.parameters(cwd, server, tool)).filter(({ value }) => !given.includes(value));
      return starting(
        current,
        free.map(({ value }) => ({ value: `${value}=`, open: true })),
      );
    }
    default:
      return starting(
        current,
        kind.map((value) => (value.endsWith('=') ? { value, open: true } : { value })),
      );
  }
}

function without(all: readonly Candidate[], given: readonly string[]): readonly Candidate[] {
  return all.filter(({ value }) => !given.includes(value));
}

function commandCandidates({ commands }: Vocabulary, isHelp: boolean): Candidate[] {
  const all = commands.map(({ name, about }) => ({ value: name, about }));
  return isHelp ? all : [...all, { value: 'help', about: 'show help' }];
}

/** Long names: the short ones are for those who know them. */
function flagCandidates(command: CommandWords | undefined, { flags }: Vocabulary): Candidate[] {
  const all: readonly FlagWords[] = [...(command?.flags ?? []), ...flags, HELP];
  return all.map(({ names, about }) => ({ value: names.at(-1) ?? '', about }));
}

const HELP: FlagWords = { names: ['-h', '--help'], about: 'show help' };

function starting(current: string, all: readonly Candidate[]): readonly Candidate[] {
  return all.filter(({ value }) => value.startsWith(current));
}
