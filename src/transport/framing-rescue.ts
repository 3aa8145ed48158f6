/** Inspects a frame without parsing it: its nesting depth, and the id of the request it answers. */

import { parseJson } from '../lib/json.ts';
import type { RequestId } from '../lib/json-rpc.ts';

/** How much of a frame's beginning and end is searched for the request id. */
export const RESCUE_CHARS = 4096;

const QUOTE = 34;
const BACKSLASH = 92;

/** Counts brackets outside of strings; skips strings, so frames with much text are cheap. */
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

/** Returns the end of the string that starts at `open`, or -1. */
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
 * Recovers the id of the request that a frame answers, from the frame's first and last kilobytes. Returns undefined if
 * neither contains it, or if the frame is a request of the server.
 */
export function recoverId(head: string, tail: string): RequestId | undefined {
  const top = topLevel(head);
  if (top.has('method')) return undefined;
  return requestId(top.get('id') ?? LAST_ID.exec(tail)?.[1]);
}

/** Recovers the id of a discarded request; undefined if it is not a request, or if its id is not found. */
export function recoverRequestId(head: string, tail: string): RequestId | undefined {
  const top = topLevel(head);
  return top.has('method') ? requestId(top.get('id') ?? LAST_ID.exec(tail)?.[1]) : undefined;
}

/** Returns the keys of the outermost object within the text, with the first token of each value. */
function topLevel(text: string): Map<string, string> {
  const found = new Map<string, string>();
  let depth = 0;
  let before = '';
  let key: string | undefined;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '"') break; // a truncated string
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
  return parseJson(token) as RequestId | undefined; // the pattern matches only strings and integers
}

/** Deeper JSON overflows the stack of validators and serializers: JSON.stringify fails at about 2,000 levels. */
export const MAX_JSON_DEPTH = 1_000;

/** Such a depth needs at least that many brackets, so short texts, nearly all, need no scan. */
export function nestsTooDeep(text: string): boolean {
  return text.length > 2 * MAX_JSON_DEPTH && nestsDeeperThan(text, MAX_JSON_DEPTH);
}

/** Returns undefined for invalid or too deeply nested JSON, which is never undefined otherwise. */
export function readJson(text: string): unknown {
  return nestsTooDeep(text) ? undefined : parseJson(text);
}
