/** Parses JSON that a person wrote, and reports the position of a syntax error. */

import { type ErrorCode, type ErrorPlace, PlugboardError } from '../errors.ts';

interface JsonArgument {
  /** Subject of the error message. */
  readonly what: string;
  readonly hint: string;
  readonly code?: ErrorCode;
}

export function parseJsonArgument(text: string, { what, hint, code = 'USAGE' }: JsonArgument): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const at = positionOf(cause);
    throw new PlugboardError(code, `${what} is not valid JSON${placeOf(cause)}`, {
      cause,
      hint,
      detail: at === undefined ? {} : { place: placeIn(text, at) },
    });
  }
}

/** Takes only the position from the engine's message, which quotes the text and so may contain secrets. */
function placeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  if (/end of JSON input|Unterminated/i.test(cause.message)) return ': unexpected end of input';
  const position = positionOf(cause);
  return position === undefined ? '' : `, at character ${position + 1}`;
}

function positionOf(cause: unknown): number | undefined {
  const position = cause instanceof Error ? /at position (\d+)/.exec(cause.message)?.[1] : undefined;
  return position === undefined ? undefined : Number(position);
}

function placeIn(text: string, at: number): ErrorPlace {
  const lines = text.slice(0, at).split('\n');
  return { at, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
}
