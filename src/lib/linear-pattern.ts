/**
 * Matches regular expressions in linear time, by simulating an automaton: no value can make an expression slow.
 *
 * Single characters are matched by the engine's own expressions, so classes, escapes and case are those of JavaScript;
 * only sequences, alternatives, repetitions and assertions are implemented here. Without lookaround and back references.
 */

/** Bounds the time for one character. */
const MAX_PATTERN_STATES = 500;

/** Returned for an expression that cannot be used. */
export interface PatternFault {
  /** One sentence, without a full stop. */
  readonly fault: string;
  /** One imperative sentence. */
  readonly hint: string;
}

interface LinearOptions {
  readonly ignoreCase?: boolean;
  readonly maxStates?: number;
}

export interface LinearPattern {
  /** True if the expression matches anywhere in the text. */
  test(text: string): boolean;
}

type Assertion = '^' | '$' | 'b' | 'B';

type Node =
  | { readonly kind: 'character'; readonly source: string }
  | { readonly kind: 'assertion'; readonly assertion: Assertion }
  | { readonly kind: 'sequence'; readonly parts: readonly Node[] }
  | { readonly kind: 'alternatives'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly min: number; readonly max: number };

type Accepts = (character: string) => boolean;

type State =
  | { readonly kind: 'character'; readonly accepts: Accepts; next: number }
  | { readonly kind: 'assertion'; readonly assertion: Assertion; next: number }
  | { readonly kind: 'split'; next: number; other: number }
  | { readonly kind: 'match' };

/** Compiles an expression with the flags `u` and `s`. */
export function compileLinear(
  source: string,
  { ignoreCase = false, maxStates = MAX_PATTERN_STATES }: LinearOptions = {},
): LinearPattern | PatternFault {
  const flags = ignoreCase ? 'sui' : 'su';
  try {
    new RegExp(source, flags);
  } catch (error) {
    const why = error instanceof Error ? error.message : '';
    return {
      fault: `It is not a regular expression${/: ([^:]+)$/.exec(why)?.[1]?.replace(/^/, ': ') ?? ''}`,
      hint: 'Fix the expression, or escape its special characters with a backslash.',
    };
  }
  try {
    return new Automaton(parse(source), flags, maxStates);
  } catch (error) {
    if (error instanceof Unsupported) return { fault: error.message, hint: error.hint };
    throw error;
  }
}

class Unsupported extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

function parse(source: string): Node {
  const characters = [...source];
  let at = 0;

  const alternatives = (): Node => {
    const parts: Node[] = [sequence()];
    while (characters[at] === '|') {
      at += 1;
      parts.push(sequence());
    }
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : { kind: 'alternatives', parts };
  };

  const sequence = (): Node => {
    const parts: Node[] = [];
    for (let next = characters[at]; next !== undefined && next !== '|' && next !== ')'; next = characters[at])
      parts.push(repeated(atom()));
    return { kind: 'sequence', parts };
  };

  const atom = (): Node => {
    const next = characters[at] ?? '';
    at += 1;
    switch (next) {
      case '(':
        return group();
      case '^':
      case '$':
        return { kind: 'assertion', assertion: next };
      case '[':
        return { kind: 'character', source: characterClass() };
      case '\\':
        return escaped();
      default:
        return { kind: 'character', source: next };
    }
  };

  const group = (): Node => {
    if (characters[at] === '?') {
      if (characters[at + 1] !== ':')
        throw new Unsupported(
          'Lookaround, named groups and flags in groups are not supported',
          'Write it without them, or as several conditions.',
        );
      at += 2;
    }
    const inner = alternatives();
    at += 1;
    return inner;
  };

  const characterClass = (): string => {
    const start = at - 1;
    while (characters[at] !== ']') at += characters[at] === '\\' ? 2 : 1;
    at += 1;
    return characters.slice(start, at).join('');
  };

  const escaped = (): Node => {
    const next = characters[at] ?? '';
    if (next === 'b' || next === 'B') {
      at += 1;
      return { kind: 'assertion', assertion: next };
    }
    if (/[1-9k]/.test(next))
      throw new Unsupported('Back references are not supported', 'Write the repeated text again.');
    const [text = next] = ESCAPE.exec(characters.slice(at, at + MAX_ESCAPE_CHARS).join('')) ?? [];
    at += [...text].length;
    return { kind: 'character', source: `\\${text}` };
  };

  const repeated = (part: Node): Node => {
    const counts = countsAt();
    if (counts === undefined) return part;
    // A lazy repetition matches the same texts.
    if (characters[at] === '?') at += 1;
    return { kind: 'repeat', part, ...counts };
  };

  const countsAt = (): { min: number; max: number } | undefined => {
    const next = characters[at];
    if (next === '*' || next === '+' || next === '?') {
      at += 1;
      return { min: next === '+' ? 1 : 0, max: next === '?' ? 1 : Number.POSITIVE_INFINITY };
    }
    if (next !== '{') return undefined;
    const end = characters.indexOf('}', at);
    const [least = '', most = least] = characters
      .slice(at + 1, end)
      .join('')
      .split(',');
    at = end + 1;
    const max = most === '' ? Number.POSITIVE_INFINITY : Number(most);
    // A count above the limit needs too many states; an infinite one must not be unrolled.
    if (Math.max(Number(least), max === Number.POSITIVE_INFINITY ? 0 : max) > MAX_PATTERN_STATES)
      throw tooLarge();
    return { min: Number(least), max };
  };

  return alternatives();
}

const MAX_ESCAPE_CHARS = 64;
/** The rest of an escape of one character; a surrogate pair is one character. */
const ESCAPE =
  /^(?:u\{[0-9A-Fa-f]+\}|u[Dd][89ABab][0-9A-Fa-f]{2}\\u[Dd][C-Fc-f][0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|c[A-Za-z]|[pP]\{[^}]*\})/;

function tooLarge(): Unsupported {
  return new Unsupported('It is too large', 'Shorten the pattern, or write several rules.');
}

/** The marks of visited states are signed 32-bit numbers. */
const MAX_STEP = 2 ** 31 - 1;

/** Bounds the memory of one pattern: a position has a table of 128 entries. */
const MAX_POSITIONS = 128;

const ASCII = 128;

/** A set of states after some characters. Found once, so that most characters of a text are one look into a table. */
interface Position {
  readonly reached: readonly number[];
  /** True if the text matches, whatever follows. */
  readonly matches: boolean;
  /** True if the text matches if it ends here. */
  readonly matchesAtEnd: boolean;
  /** The position after each ASCII character, as far as it is known. */
  readonly after: (Position | undefined)[];
}

/** Every state that can be reached at the same position is visited once for each character of the text. */
class Automaton implements LinearPattern {
  readonly #states: State[] = [];
  readonly #start: number;
  readonly #flags: string;
  readonly #isWord: Accepts;
  readonly #maxStates: number;
  /** True if a match can only begin at the first character. */
  readonly #isAnchored: boolean;
  /** True if `\b` or `\B` occur: states then depend on the characters on both sides. */
  readonly #hasEdges: boolean;
  // Rules are matched for every call, so the lists below are kept between texts.
  /** The states at one position that need a character. */
  readonly #reached: number[] = [];
  /** The states that are still to be visited. */
  readonly #pending: number[] = [];
  /** The step at which each state was visited last. */
  readonly #visited: Int32Array;
  #step = 0;
  /** Known positions, by their states. */
  readonly #positions = new Map<string, Position>();

  constructor(node: Node, flags: string, maxStates: number) {
    this.#flags = flags;
    this.#maxStates = maxStates;
    this.#isWord = acceptsOf('\\w', flags);
    const end = this.#add({ kind: 'match' });
    this.#start = this.#build(node, end);
    this.#isAnchored = isAnchored(node);
    this.#hasEdges = this.#states.some(
      (state) => state.kind === 'assertion' && (state.assertion === 'b' || state.assertion === 'B'),
    );
    this.#visited = new Int32Array(this.#states.length);
  }

  test(text: string): boolean {
    return this.#walk(text) ?? this.#simulate(text);
  }

  /** Matches a text of ASCII characters by its positions; undefined if it has other characters or too many positions. */
  #walk(text: string): boolean | undefined {
    if (this.#hasEdges) return undefined;
    let position = this.#positions.get('') ?? this.#addPosition('', [this.#start], undefined);
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code >= ASCII) return undefined;
      if (position.matches) return true;
      if (position.reached.length === 0 && this.#isAnchored) return false;
      const next = position.after[code] ?? this.#advance(position, code);
      if (next === undefined) return undefined;
      position = next;
    }
    return position.matchesAtEnd;
  }

  #advance(position: Position, code: number): Position | undefined {
    // A text can be made to have a new position for each character, which costs more than it saves.
    if (this.#positions.size >= MAX_POSITIONS) return this.#forget();
    const character = String.fromCharCode(code);
    const states = new Set(this.#isAnchored ? [] : [this.#start]);
    for (const index of position.reached) {
      const state = this.#states[index];
      if (state?.kind === 'character' && state.accepts(character)) states.add(state.next);
    }
    const sorted = [...states].sort((a, b) => a - b);
    const key = ` ${sorted.join(' ')}`;
    const next = this.#positions.get(key) ?? this.#addPosition(key, sorted, character);
    position.after[code] = next;
    return next;
  }

  #addPosition(key: string, states: readonly number[], before: string | undefined): Position {
    const visit = (after: string | undefined): boolean => {
      this.#pending.length = 0;
      this.#pending.push(...states);
      return this.#visit(before, after);
    };
    const matchesAtEnd = visit(undefined);
    // Without edges of words, the next character only differs from the end of the text.
    const matches = visit('a');
    const position: Position = {
      reached: [...this.#reached],
      matches,
      matchesAtEnd,
      after: new Array<Position | undefined>(ASCII).fill(undefined),
    };
    this.#positions.set(key, position);
    return position;
  }

  #forget(): undefined {
    this.#positions.clear();
  }

  #simulate(text: string): boolean {
    const pending = this.#pending;
    pending.length = 0;
    let before: string | undefined;
    for (const character of text) {
      if (before === undefined || !this.#isAnchored) pending.push(this.#start);
      else if (pending.length === 0) return false;
      if (this.#visit(before, character)) return true;
      for (const index of this.#reached) {
        const state = this.#states[index];
        if (state?.kind === 'character' && state.accepts(character)) pending.push(state.next);
      }
      before = character;
    }
    if (before === undefined || !this.#isAnchored) pending.push(this.#start);
    return this.#visit(before, undefined);
  }

  /** Visits the pending states and those that follow without a character; true if one of them is the end. */
  #visit(before: string | undefined, after: string | undefined): boolean {
    const pending = this.#pending;
    const step = this.#nextStep();
    this.#reached.length = 0;
    for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
      if (this.#visited[index] === step) continue;
      this.#visited[index] = step;
      const state = this.#states[index];
      if (state === undefined || state.kind === 'match') return true;
      if (state.kind === 'character') this.#reached.push(index);
      else if (state.kind === 'split') pending.push(state.next, state.other);
      else if (this.#holds(state.assertion, before, after)) pending.push(state.next);
    }
    return false;
  }

  #nextStep(): number {
    if (this.#step === MAX_STEP) {
      this.#visited.fill(0);
      this.#step = 0;
    }
    this.#step += 1;
    return this.#step;
  }

  #holds(assertion: Assertion, before: string | undefined, after: string | undefined): boolean {
    switch (assertion) {
      case '^':
        return before === undefined;
      case '$':
        return after === undefined;
      case 'b':
      case 'B': {
        const isEdge = this.#isWordOrEnd(before) !== this.#isWordOrEnd(after);
        return isEdge === (assertion === 'b');
      }
      default:
        return assertion satisfies never;
    }
  }

  #isWordOrEnd(character: string | undefined): boolean {
    return character !== undefined && this.#isWord(character);
  }

  #add(state: State): number {
    if (this.#states.length >= this.#maxStates) throw tooLarge();
    return this.#states.push(state) - 1;
  }

  /** Adds the states of a node, which continue at `next`; returns the first. */
  #build(node: Node, next: number): number {
    switch (node.kind) {
      case 'character':
        return this.#add({ kind: 'character', accepts: acceptsOf(node.source, this.#flags), next });
      case 'assertion':
        return this.#add({ kind: 'assertion', assertion: node.assertion, next });
      case 'sequence':
        return node.parts.reduceRight((after, part) => this.#build(part, after), next);
      case 'alternatives':
        return node.parts
          .map((part) => this.#build(part, next))
          .reduceRight((other, first) => this.#add({ kind: 'split', next: first, other }));
      case 'repeat':
        return this.#repeat(node, next);
      default:
        return node satisfies never;
    }
  }

  #repeat({ part, min, max }: Extract<Node, { kind: 'repeat' }>, next: number): number {
    let start = next;
    if (max === Number.POSITIVE_INFINITY) {
      const loop = { kind: 'split' as const, next: 0, other: next };
      start = this.#add(loop);
      loop.next = this.#build(part, start);
    } else {
      for (let count = min; count < max; count += 1)
        start = this.#add({ kind: 'split', next: this.#build(part, start), other: next });
    }
    for (let count = 0; count < min; count += 1) start = this.#build(part, start);
    return start;
  }
}

/** True if every match begins with the assertion `^`. */
function isAnchored(node: Node): boolean {
  switch (node.kind) {
    case 'assertion':
      return node.assertion === '^';
    case 'sequence': {
      const [first] = node.parts;
      return first !== undefined && isAnchored(first);
    }
    case 'alternatives':
      return node.parts.every(isAnchored);
    case 'character':
    case 'repeat':
      return false;
    default:
      return node satisfies never;
  }
}

/** Results for ASCII are kept: calling an expression for each character is slow. */
function acceptsOf(source: string, flags: string): Accepts {
  const expression = new RegExp(`^(?:${source})$`, flags);
  const known = new Int8Array(ASCII);
  return (character) => {
    const code = character.charCodeAt(0);
    if (code >= ASCII) return expression.test(character);
    const found = known[code];
    if (found !== undefined && found !== 0) return found > 0;
    const accepts = expression.test(character);
    known[code] = accepts ? 1 : -1;
    return accepts;
  };
}
