/** Splits a JMESPath expression into tokens, each with its position. */

import { PlugboardError } from '../../errors.ts';

export type TokenKind =
  | 'end'
  | 'name'
  | 'quoted'
  | 'value'
  | 'number'
  | '.'
  | '*'
  | '|'
  | '||'
  | '&&'
  | '!'
  | '=='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | '['
  | '[?'
  | '[]'
  | ']'
  | '{'
  | '}'
  | '('
  | ')'
  | ','
  | ':'
  | '@'
  | '&';

export interface Token {
  readonly kind: TokenKind;
  /** Index of its first character. */
  readonly at: number;
  readonly text: string;
  /** Of a literal. */
  readonly value?: unknown;
}

/** The longest symbols first. */
const SYMBOLS: readonly TokenKind[] = [
  '[?',
  '[]',
  '||',
  '&&',
  '==',
  '!=',
  '<=',
  '>=',
  '.',
  '*',
  '|',
  '!',
  '<',
  '>',
  '[',
  ']',
  '{',
  '}',
  '(',
  ')',
  ',',
  ':',
  '@',
  '&',
];
const SPACE = /[ \t\r\n]+/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /-?\d+/y;
const QUOTED = /"(?:[^"\\]|\\.)*"/sy;
const RAW = /'(?:[^'\\]|\\.)*'/sy;
const LITERAL = /`(?:[^`\\]|\\.)*`/sy;

export function tokenize(expression: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(expression)?.[0];
  };
  while (at < expression.length) {
    const space = match(SPACE);
    if (space !== undefined) {
      at += space.length;
      continue;
    }
    const token = tokenAt(expression, at, match);
    tokens.push(token);
    at += token.text.length;
  }
  return [...tokens, { kind: 'end', at, text: '' }];
}

function tokenAt(expression: string, at: number, match: (pattern: RegExp) => string | undefined): Token {
  const name = match(NAME);
  if (name !== undefined) return { kind: 'name', at, text: name, value: name };
  const number = match(NUMBER);
  if (number !== undefined) return { kind: 'number', at, text: number, value: Number(number) };
  const quoted = match(QUOTED);
  if (quoted !== undefined) return { kind: 'quoted', at, text: quoted, value: parsed(quoted, at) };
  const raw = match(RAW);
  if (raw !== undefined)
    return { kind: 'value', at, text: raw, value: raw.slice(1, -1).replace(/\\(['\\])/g, '$1') };
  const literal = match(LITERAL);
  if (literal !== undefined) {
    const json = literal.slice(1, -1).replaceAll('\\`', '`').trim();
    return { kind: 'value', at, text: literal, value: parsed(json, at) };
  }
  const symbol = SYMBOLS.find((each) => expression.startsWith(each, at));
  if (symbol !== undefined) return { kind: symbol, at, text: symbol };
  const [character = ''] = expression.slice(at);
  if ('"\'`'.includes(character)) throw invalidSelect(`${character} at character ${at + 1} is not closed`);
  throw invalidSelect(`unexpected ${JSON.stringify(character)} at character ${at + 1}`);
}

function parsed(json: string, at: number): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw invalidSelect(`the literal at character ${at + 1} is not JSON`);
  }
}

/** Returns the error for an expression that cannot be parsed or evaluated. */
export function invalidSelect(why: string): PlugboardError {
  return new PlugboardError('INVALID_ARGUMENTS', `Invalid select: ${why}`, {
    hint: 'Write it as a JMESPath expression, such as items[].id or content[?size > `10`].{name: name}.',
  });
}
