/** Parses JMESPath expressions (jmespath.org) by operator precedence; errors have the position. */

import { invalidSelect, type Token, type TokenKind, tokenize } from './jmespath-tokens.ts';

export type Expression =
  | { readonly kind: 'current' }
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'literal'; readonly value: unknown }
  | { readonly kind: 'index'; readonly value: number }
  | { readonly kind: 'slice'; readonly parts: readonly (number | undefined)[]; readonly at: number }
  | {
      readonly kind: 'then' | 'pipe' | 'or' | 'and';
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: 'compare';
      readonly operator: Comparator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: 'not' | 'flatten' | 'reference'; readonly child: Expression }
  | {
      readonly kind: 'projection';
      /** Of a list, or of the values of an object. */
      readonly of: 'items' | 'values';
      readonly left: Expression;
      readonly right: Expression;
      readonly condition?: Expression;
    }
  | { readonly kind: 'list'; readonly members: readonly Expression[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [name: string, value: Expression])[] }
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly args: readonly Expression[];
      /** Position of the name. */
      readonly at: number;
    };

export type Comparator = '==' | '!=' | '<' | '<=' | '>' | '>=';

export const MAX_EXPRESSION_CHARS = 2_000;

const CURRENT: Expression = { kind: 'current' };
/** How strongly a token binds to the expression on its left. */
const POWER: Readonly<Partial<Record<TokenKind, number>>> = {
  '|': 1,
  '||': 2,
  '&&': 3,
  '==': 5,
  '!=': 5,
  '<': 5,
  '<=': 5,
  '>': 5,
  '>=': 5,
  '[]': 9,
  '*': 20,
  '[?': 21,
  '.': 40,
  '[': 55,
};
/** Tokens that bind less end a projection. */
const END_OF_PROJECTION = 10;
const NOT_POWER = 45;
const REFERENCE_POWER = 60;
const COMPARATORS: ReadonlySet<string> = new Set<Comparator>(['==', '!=', '<', '<=', '>', '>=']);

/**
 * Parses an expression.
 *
 * @throws PlugboardError INVALID_ARGUMENTS with the position of the error.
 */
export function parseExpression(text: string): Expression {
  if (text.length > MAX_EXPRESSION_CHARS)
    throw invalidSelect(`it has more than ${MAX_EXPRESSION_CHARS} characters`);
  if (text.trim() === '') throw invalidSelect('it is empty');
  return new Parser(tokenize(text)).whole();
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): Expression {
    const expression = this.#expression(0);
    this.#expect('end');
    return expression;
  }

  get #next(): Token {
    return this.#peek(0);
  }

  #peek(ahead: number): Token {
    return this.#tokens[this.#at + ahead] ?? { kind: 'end', at: 0, text: '' };
  }

  #take(): Token {
    const token = this.#next;
    this.#at += 1;
    return token;
  }

  #expect(kind: TokenKind): Token {
    if (this.#next.kind !== kind) throw this.#unexpected(kind === 'end' ? undefined : kind);
    return this.#take();
  }

  #unexpected(wanted?: string): Error {
    const { kind, at, text } = this.#next;
    const found = kind === 'end' ? 'the expression ends' : `unexpected ${JSON.stringify(text)}`;
    return invalidSelect(
      `${found} at character ${at + 1}${wanted === undefined ? '' : `, where ${JSON.stringify(wanted)} is expected`}`,
    );
  }

  #expression(power: number): Expression {
    let left = this.#first();
    while (power < (POWER[this.#next.kind] ?? 0)) left = this.#after(left);
    return left;
  }

  /** Parses the beginning of an expression. */
  #first(): Expression {
    const token = this.#take();
    switch (token.kind) {
      case 'value':
        return { kind: 'literal', value: token.value };
      case 'name':
        if (this.#next.kind === '(') return this.#call(token);
        return { kind: 'field', name: token.text };
      case 'quoted':
        return { kind: 'field', name: String(token.value) };
      case '@':
        return CURRENT;
      case '!':
        return { kind: 'not', child: this.#expression(NOT_POWER) };
      case '&':
        return { kind: 'reference', child: this.#expression(REFERENCE_POWER) };
      case '*':
        return { kind: 'projection', of: 'values', left: CURRENT, right: this.#projected('*') };
      case '[?':
        return this.#filter(CURRENT);
      case '[]':
        return this.#flattened(CURRENT);
      case '{':
        return this.#object();
      case '[':
        return this.#isSubscript() ? this.#subscript(CURRENT) : this.#list();
      case '(': {
        const inner = this.#expression(0);
        this.#expect(')');
        return inner;
      }
      default:
        this.#at -= 1;
        throw this.#unexpected();
    }
  }

  /** Parses the rest of an expression that begins with `left`. */
  #after(left: Expression): Expression {
    const { kind } = this.#take();
    switch (kind) {
      case '.':
        if (this.#next.kind !== '*') return { kind: 'then', left, right: this.#member('.') };
        this.#take();
        return { kind: 'projection', of: 'values', left, right: this.#projected('*') };
      case '|':
        return { kind: 'pipe', left, right: this.#expression(POWER['|'] ?? 0) };
      case '||':
        return { kind: 'or', left, right: this.#expression(POWER['||'] ?? 0) };
      case '&&':
        return { kind: 'and', left, right: this.#expression(POWER['&&'] ?? 0) };
      case '[?':
        return this.#filter(left);
      case '[]':
        return this.#flattened(left);
      case '[':
        if (this.#isSubscript()) return this.#subscript(left);
        throw this.#unexpected();
      default:
        break;
    }
    if (isComparator(kind))
      return { kind: 'compare', operator: kind, left, right: this.#expression(POWER[kind] ?? 0) };
    this.#at -= 1;
    throw this.#unexpected();
  }

  #isSubscript(): boolean {
    const { kind } = this.#next;
    return kind === 'number' || kind === ':' || (kind === '*' && this.#peek(1).kind === ']');
  }

  /** Parses an index, a slice or `*`, after the bracket. */
  #subscript(left: Expression): Expression {
    if (this.#next.kind === '*') {
      this.#take();
      this.#expect(']');
      return { kind: 'projection', of: 'items', left, right: this.#projected('*') };
    }
    const { at } = this.#next;
    const parts: (number | undefined)[] = [undefined];
    while (this.#next.kind !== ']') {
      if (this.#next.kind === ':' && parts.length < 3) {
        this.#take();
        parts.push(undefined);
      } else if (this.#next.kind === 'number' && parts.at(-1) === undefined) {
        parts[parts.length - 1] = Number(this.#take().value);
      } else {
        throw this.#unexpected(']');
      }
    }
    this.#take();
    const [index] = parts;
    if (parts.length === 1) return { kind: 'then', left, right: { kind: 'index', value: index ?? 0 } };
    const slice: Expression = { kind: 'slice', parts, at };
    return {
      kind: 'projection',
      of: 'items',
      left: { kind: 'then', left, right: slice },
      right: this.#projected('*'),
    };
  }

  #filter(left: Expression): Expression {
    const condition = this.#expression(0);
    this.#expect(']');
    const right = this.#next.kind === '[]' ? CURRENT : this.#projected('[?');
    return { kind: 'projection', of: 'items', left, right, condition };
  }

  #flattened(left: Expression): Expression {
    const child: Expression = { kind: 'flatten', child: left };
    return { kind: 'projection', of: 'items', left: child, right: this.#projected('[]') };
  }

  /** Parses the expression that is applied to each item. */
  #projected(kind: TokenKind): Expression {
    const power = POWER[kind] ?? 0;
    const { kind: next } = this.#next;
    if ((POWER[next] ?? 0) < END_OF_PROJECTION) return CURRENT;
    if (next === '[' || next === '[?') return this.#expression(power);
    if (next !== '.') throw this.#unexpected();
    this.#take();
    return this.#member(kind);
  }

  /** Parses what may follow a dot. */
  #member(kind: TokenKind): Expression {
    const power = POWER[kind] ?? 0;
    switch (this.#next.kind) {
      case 'name':
      case 'quoted':
      case '*':
        return this.#expression(power);
      case '[':
        this.#take();
        return this.#continued(this.#list(), power);
      case '{':
        this.#take();
        return this.#continued(this.#object(), power);
      default:
        throw this.#unexpected();
    }
  }

  #continued(first: Expression, power: number): Expression {
    let left = first;
    while (power < (POWER[this.#next.kind] ?? 0)) left = this.#after(left);
    return left;
  }

  #list(): Expression {
    const members = [this.#expression(0)];
    while (this.#next.kind === ',') {
      this.#take();
      members.push(this.#expression(0));
    }
    this.#expect(']');
    return { kind: 'list', members };
  }

  #object(): Expression {
    const members: [string, Expression][] = [];
    do {
      if (members.length > 0) this.#take();
      const name = this.#take();
      if (name.kind !== 'name' && name.kind !== 'quoted') {
        this.#at -= 1;
        throw this.#unexpected('a name');
      }
      this.#expect(':');
      members.push([String(name.value), this.#expression(0)]);
    } while (this.#next.kind === ',');
    this.#expect('}');
    return { kind: 'object', members };
  }

  #call({ text: name, at }: Token): Expression {
    this.#take();
    const args: Expression[] = [];
    while (this.#next.kind !== ')') {
      if (args.length > 0) this.#expect(',');
      args.push(this.#expression(0));
    }
    this.#take();
    return { kind: 'call', name, args, at };
  }
}

function isComparator(kind: TokenKind): kind is Comparator {
  return COMPARATORS.has(kind);
}
