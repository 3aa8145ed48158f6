/** Computes shell completions for the argument at the cursor. */

import type { ArgumentKind, CommandWords, FlagWords, NamedKind, Vocabulary, Word } from './vocabulary.ts';

export type Candidate = Word;

/** An argument of a tool or a prompt. */
export interface Parameter extends Candidate {
  readonly values?: readonly string[];
}

/** A tool with its server in one argument, in every spelling that `call` accepts. */
export interface Spelled {
  readonly server: string;
  readonly tool: string;
  readonly spellings: readonly string[];
  /** The one of them that agents have. */
  readonly spelling: string;
  readonly about?: string;
}

/** Looks up names on demand. */
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

/** Candidates, or the kind of path that the shell completes itself: `value-files` after `key=` or `key=@`. */
export type Completion = readonly Candidate[] | 'files' | 'folders' | 'value-files';

/** @param words the argv after `plugboard`; the last item is at the cursor and may be empty. */
export async function complete(
  words: readonly string[],
  vocabulary: Vocabulary,
  names: Names,
): Promise<Completion> {
  const typed = words.slice(0, -1);
  const current = words.at(-1) ?? '';
  // After -- follows the command of a server.
  if (typed.includes('--')) return 'files';
  const line = read(typed, vocabulary);
  const before = await inTwoWords(line, names);
  const at = { before, cwd: line.cwd, names };
  if (line.argument !== undefined && !current.startsWith('--')) {
    const values = await valuesOf('tool', line.argument, at);
    // The value may be a path.
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
  /** The kind of value that the flag before the cursor takes. */
  readonly awaits: ArgumentKind | undefined;
  readonly isOptional: boolean;
  /** The tool argument whose `--key` precedes the cursor. */
  readonly argument?: string;
}

/** Parses the argv before the cursor as the program does: flags with their values, the command, and its arguments. */
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
      // As `call` parses it: the next item is its value, unless that is a flag too.
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

/** True for a `--key` that is an argument of the called tool. */
function isArgument(
  word: string,
  command: CommandWords | undefined,
  positionals: readonly string[],
): boolean {
  const takesThem = command?.arguments.at(-1) === 'parameter';
  return takesThem && positionals.length > 0 && ARGUMENT_FLAG.test(word);
}

/** Returns the command's arguments, with `server.tool` and its other spellings split in two. */
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

/** For `--scope=us`: the flag's values, each prefixed with the flag. */
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
    case 'spelled-tool': {
      const tools = await names.inOneWord(cwd);
      // One spelling of each until another one is begun.
      const isBegun = ONE_WORD.test(current);
      const all = tools.flatMap(({ spellings, spelling, about }) =>
        (isBegun ? spellings : [spelling]).map((value) => candidate(value, about)),
      );
      return starting(current, all);
    }
    default: {
      const isList = kind.endsWith('server') || kind === 'entry-key';
      const found = await names.of(kind, cwd, before[0] ?? '');
      return starting(current, isList ? without(found, before) : found);
    }
  }
}

/** Completes `key=`, then the key's values if its schema lists them, or a path. */
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

/** Returns the values of an argument whose schema lists them. */
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

/** Normalizes a key: `--max-results` equals `max_results` and `maxResults`. */
function plain(name: string): string {
  return name.replace(/[-_]/g, '').toLowerCase();
}

/** Returns the arguments that are not given yet. */
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

/** Returns long flag names only; short ones are not completed. */
function flagCandidates(command: CommandWords | undefined, { flags }: Vocabulary): Candidate[] {
  const all: readonly FlagWords[] = [...(command?.flags ?? []), ...flags, HELP];
  return all.map(({ names, about }) => ({ value: names.at(-1) ?? '', about }));
}

const HELP: FlagWords = { names: ['-h', '--help'], about: 'show help' };

function starting(current: string, all: readonly Candidate[]): readonly Candidate[] {
  return all.filter(({ value }) => value.startsWith(current));
}
