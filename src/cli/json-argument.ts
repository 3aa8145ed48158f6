/** JSON that somebody typed: parsed, or refused with the place where it breaks. */

import { type ErrorCode, PlugboardError } from '../errors.ts';

export interface JsonArgument {
  /** What it is, as the beginning of a sentence. */
  readonly what: string;
  readonly hint: string;
  readonly code?: ErrorCode;
}

export function parseJson(text: string, { what, hint, code = 'USAGE' }: JsonArgument): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PlugboardError(code, `${what} is not valid JSON${placeOf(cause)}.`, { cause, hint });
  }
}

/** The engine's message quotes the text, which may hold secrets: only the place is taken from it. */
function placeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  if (/end of JSON input|Unterminated/i.test(cause.message)) return ': unexpected end of input';
  const position = /at position (\d+)/.exec(cause.message)?.[1];
  return position === undefined ? '' : `, at character ${Number(position) + 1}`;
}
