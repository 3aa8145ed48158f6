/** Parses JSON from the command line and reports the position of a syntax error. */

import { type ErrorCode, PlugboardError } from '../errors.ts';

export interface JsonArgument {
  /** Subject of the error message. */
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

/** Takes only the position from the engine's message, which quotes the text and so may contain secrets. */
function placeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  if (/end of JSON input|Unterminated/i.test(cause.message)) return ': unexpected end of input';
  const position = /at position (\d+)/.exec(cause.message)?.[1];
  return position === undefined ? '' : `, at character ${Number(position) + 1}`;
}
