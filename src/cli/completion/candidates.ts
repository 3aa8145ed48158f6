/** What may stand where the cursor is, for the words of a command line that is being typed. */

import type { ArgumentKind, CommandWords, FlagWords, NamedKind, Vocabulary } from './vocabulary.ts';

export interface Candidate {
  readonly value: string;
  readonly about?: string;
  /** Something follows at once, as after `key=`. */
  readonly open?: boolean;
}

/** An argument of a tool or a prompt. */
export interface Parameter extends Candidate {
  readonly values?: readonly string[];
}

/** A tool with its server in one word, in every way that `call` takes. */
export interface Spelled {
  readonly server: string;
  readonly tool: string;
  readonly spellings: readonly string[];
  readonly about?: string;
}

/** Where names are looked up, when they are needed. */
export interface Names {
  of(kind: NamedKind, cwd: string | undefined, server: string): Promise<readonly Candidate[]>;
  inOneWord(cwd: string | undefined): Promise<readonly Spelled[]>;
  parameters(
    kind: 'tool' | 'prompt',
    cwd: string | undefined,
    server: string,
    name: string,
  ): Promise<readonly Parameter[]>;
}

/** A list to choose from, or what kind of path the shell completes: `value-files` after `key=` or `key=@`. */
export type Completion = readonly Candidate[] | 'files' | 'folders' | 'value-files';

/** @param words what was typed after `plugboard`; the last one is at the cursor and may be empty. */
export async function complete(
  words: readonly string[],
  vocabulary: Vocabulary,
  names: Names,
): Promise<Completion> {
  const typed = words.slice(0, -1);
  const current = words.at(-1) ?? '';
  // After -- comes the command of a server.
  if (typed.includes('--')) return 'files';
  const line = read(typed, vocabulary);
  const before = await inTwoWords(line, names);
  const at = { before, cwd: line.cwd, names };
  if (line.argument !== undefined && !current.startsWith('--')) {
    const values = await valuesOf('tool', line.argument, at);
    // A value may well be a path.
    return values === undefined ? 'files' : starting(current, values);
  }
  if (line.awaits !== undefined && !(line.isOptional && current.startsWith('-'))) {
    return ofKind(line.awaits, { ...at, before: [], current });
  }
  const flagged = /^(--[\w-]+)=(.*)$/s.exec(current);
  if (flagged !== null) return afterFlag(flagged, line, vocabulary, at);
  const kind = line.command === undefined ? 'text' : argumentKind(line.command, before.length);
  if (current.startsWith('-')) {
    const own = kind === 'parameter' ? await freeParameters('tool', { ...at, current }) : [];
    const flags = flagCandidates(line.command, vocabulary);
    return starting(current, [...flags, ...own.map(({ value, about }) => candidate(`--${value}`, about))]);
  }
  if (line.command === undefined) return starting(current, commandCandidates(vocabulary, line.isHelp));
  if (line.isHelp) return [];
  return ofKind(kind, { ...at, current });
}

interface Line {
  readonly command: CommandWords | undefined;
  readonly positionals: readonly string[];
  readonly isHelp: boolean;
  readonly cwd: string | undefined;
  /** The value that the flag before the cursor takes. */
  readonly awaits: ArgumentKind | undefined;
  readonly isOptional: boolean;
  /** The argument of a tool whose `--key` is before the cursor. */
  readonly argument?: string;
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
    const next = typed[at + 1];
    if (flag?.value !== undefined && next === undefined) {
      const isOptional = flag.optional === true;
      return { command, positionals, isHelp, cwd, awaits: flag.value, isOptional };
    }
    if (flag?.value !== undefined && !(flag.optional === true && next?.startsWith('-') === true)) {
      at++;
      if (word === '--cwd') cwd = next;
    } else if (word.startsWith('--cwd=')) cwd = word.slice('--cwd='.length);
    else if (flag === undefined && isArgument(word, command, positionals)) {
      const key = word.slice(2);
      // As `call` reads it: the next word is its value, unless that is a flag too.
      if (key.includes('=')) positionals.push(key);
      else if (next === undefined) {
        return { command, positionals, isHelp, cwd, awaits: undefined, isOptional: false, argument: key };
      } else {
        positionals.push(`${key}=`);
        if (!ARGUMENT_FLAG.test(next)) at++;
      }
    } else if (word.startsWith('-')) continue;
    else if (command !== undefined) positionals.push(word);
    else if (word === 'help') isHelp = true;
    else command = commands.find(({ name, alias }) => word === name || word === alias) ?? UNKNOWN;
  }
  return { command, positionals, isHelp, cwd, awaits: undefined, isOptional: false };
}

const ARGUMENT_FLAG = /^--[A-Za-z]/;

/** `--key` for an argument of the tool that is called. */
function isArgument(
  word: string,
  command: CommandWords | undefined,
  positionals: readonly string[],
): boolean {
  const takesThem = command?.arguments.at(-1) === 'parameter';
  return takesThem && positionals.length > 0 && ARGUMENT_FLAG.test(word);
}

/** The arguments of the command, with `server.tool` and the like as two. */
async function inTwoWords({ command, positionals, cwd }: Line, names: Names): Promise<readonly string[]> {
  const [first = '', ...others] = positionals;
  if (command?.arguments[0] !== 'called-server' || !ONE_WORD.test(first)) return positionals;
  if ((await names.of('server', cwd, '')).some(({ value }) => value === first)) return positionals;
  const found = (await names.inOneWord(cwd)).find(({ spellings }) => spellings.includes(first));
  return found === undefined ? positionals : [found.server, found.tool, ...others];
}

const ONE_WORD = /__|[./]/;

const UNKNOWN: CommandWords = { name: '', about: '', flags: [], arguments: [], repeats: false };

function argumentKind({ arguments: kinds, repeats }: CommandWords, at: number): ArgumentKind {
  return kinds[at] ?? (repeats ? kinds.at(-1) : undefined) ?? 'text';
}

interface At {
  readonly before: readonly string[];
  readonly cwd: string | undefined;
  readonly names: Names;
  readonly current: string;
}

/** `--scope=us`: the values of the flag, each with the flag in front. */
async function afterFlag(
  [, name = '', value = '']: RegExpExecArray,
  { command }: Line,
  { flags }: Vocabulary,
  at: Omit<At, 'current'>,
): Promise<Completion> {
  const flag = [...(command?.flags ?? []), ...flags].find(({ names }) => names.includes(name));
  if (flag === undefined && isArgument(name, command, at.before)) {
    const values = await valuesOf('tool', name.slice(2), at);
    if (values === undefined) return 'value-files';
    return starting(value, values).map((each) => ({ value: `${name}=${each.value}` }));
  }
  if (flag?.value === undefined) return [];
  const found = await ofKind(flag.value, { ...at, before: [], current: value });
  if (typeof found === 'string') return 'value-files';
  return found.map((each) => ({ ...each, value: `${name}=${each.value}` }));
}

async function ofKind(kind: ArgumentKind, at: At): Promise<Completion> {
  const { before, cwd, names, current } = at;
  if (typeof kind === 'object') {
    if ('byAction' in kind) return ofKind(kind.byAction[before[0] ?? ''] ?? 'text', at);
    const found = starting(current, without(kind.words, before));
    return found.length === 0 && kind.orFile === true ? 'files' : found;
  }
  switch (kind) {
    case 'file':
      return 'files';
    case 'folder':
      return 'folders';
    case 'text':
      return [];
    case 'parameter':
      return parameterOf('tool', at);
    case 'prompt-parameter':
      return parameterOf('prompt', at);
    case 'called-server': {
      const servers = await names.of(kind, cwd, '');
      const tools = ONE_WORD.test(current) ? await names.inOneWord(cwd) : [];
      const spelled = tools.flatMap(({ spellings, about }) =>
        spellings.map((value) => candidate(value, about)),
      );
      return starting(current, [...servers, ...spelled]);
    }
    default: {
      const isList = kind.endsWith('server') || kind === 'entry-key';
      const found = await names.of(kind, cwd, before[0] ?? '');
      return starting(current, isList ? without(found, before) : found);
    }
  }
}

/** `key=`, the values of a key that has few, or a path. */
async function parameterOf(kind: 'tool' | 'prompt', at: At): Promise<Completion> {
  const { current } = at;
  const [, key = '', sign] = /^([^=]*?)(:?=)/.exec(current) ?? [];
  if (sign === undefined) {
    const free = await freeParameters(kind, at);
    return starting(
      current,
      free.map(({ value, about }) => ({ ...candidate(`${value}=`, about), open: true })),
    );
  }
  const values = await valuesOf(kind, key, at);
  if (values === undefined) return 'value-files';
  return starting(
    current,
    values.map(({ value }) => ({ value: `${key}${sign}${value}` })),
  );
}

/** All values of an argument that has few. */
async function valuesOf(
  kind: 'tool' | 'prompt',
  key: string,
  { before, cwd, names }: Omit<At, 'current'>,
): Promise<readonly Candidate[] | undefined> {
  const [server = '', name = ''] = before;
  const all = await names.parameters(kind, cwd, server, name);
  const parameter =
    all.find(({ value }) => value === key) ?? all.find(({ value }) => plain(value) === plain(key));
  return parameter?.values?.map((value) => ({ value }));
}

/** `--max-results` is `max_results` or `maxResults`. */
function plain(name: string): string {
  return name.replace(/[-_]/g, '').toLowerCase();
}

/** Arguments that were not given yet. */
async function freeParameters(
  kind: 'tool' | 'prompt',
  { before, cwd, names }: At,
): Promise<readonly Parameter[]> {
  const [server = '', name = '', ...words] = before;
  const given = new Set(words.map((word) => plain(word.split(/:?=/, 1)[0] ?? '')));
  const all = await names.parameters(kind, cwd, server, name);
  return all.filter(({ value }) => !given.has(plain(value)));
}

function candidate(value: string, about: string | undefined): Candidate {
  return about === undefined ? { value } : { value, about };
}

function without<T extends Candidate>(all: readonly T[], given: readonly string[]): readonly T[] {
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
