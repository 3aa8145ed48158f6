/** What can still be learnt from a frame that will not be parsed: how deep it nests and whose answer it was. */

import type { RequestId } from '../lib/json-rpc.ts';

/** How much of a frame's beginning and end is looked at for the id of the request it answered. */
export const RESCUE_CHARS = 4096;

const QUOTE = 34;
const BACKSLASH = 92;

/** Counts brackets outside of strings; strings are jumped over, so text-heavy frames cost little. */
export function nestsDeeperThan(text: string, limit: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      if (at < 0) return false;
    } else if (code === 123 || code === 91) {
      depth += 1;
      if (depth > limit) return true;
    } else if (code === 125 || code === 93) {
      depth -= 1;
    }
  }
  return false;
}

/** Where the string that opens at `open` closes, or -1. */
function endOfString(text: string, open: number): number {
  for (let close = text.indexOf('"', open + 1); close >= 0; close = text.indexOf('"', close + 1)) {
    let slashes = 0;
    while (text.charCodeAt(close - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return close;
  }
  return -1;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,]+|"/g;
const SCALAR = '("(?:[^"\\\\]|\\\\.)*"|-?\\d+)';
const LAST_ID = new RegExp(
  `[,{]\\s*"id"\\s*:\\s*${SCALAR}\\s*(?:,\\s*"jsonrpc"\\s*:\\s*"2\\.0"\\s*)?\\}\\s*$`,
);

/**
 * The id of the request that a frame answered, read from the frame's first and last kilobytes. Undefined when
 * it stands in neither, or when the frame was a request of the server's own.
 */
export function recoverId(head: string, tail: string): RequestId | undefined {
  const top = topLevel(head);
  if (top.has('method')) return undefined;
  return requestId(top.get('id') ?? LAST_ID.exec(tail)?.[1]);
}

/** The same for a request that was not kept; undefined when it is none, or its id stands in neither. */
export function recoverRequestId(head: string, tail: string): RequestId | undefined {
  const top = topLevel(head);
  return top.has('method') ? requestId(top.get('id') ?? LAST_ID.exec(tail)?.[1]) : undefined;
}

/** Keys of the outermost object as far as the text goes, with the first token of each value. */
function topLevel(text: string): Map<string, string> {
  const found = new Map<string, string>();
  let depth = 0;
  let before = '';
  let key: string | undefined;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '"') break; // a string that the cut left open
    if (token === ':' && depth === 1) {
      key = before.slice(1, -1);
    } else {
      if (key !== undefined) found.set(key, token);
      key = undefined;
    }
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    before = token;
  }
  return found;
}

function requestId(token: string | undefined): RequestId | undefined {
  if (token === undefined || !/^(?:"|-?\d+$)/.test(token)) return undefined;
  try {
    return JSON.parse(token) as RequestId; // the pattern leaves only strings and whole numbers
  } catch {
    return undefined;
  }
}
