/** The headers of a request: which are ours, what is mirrored from the body, and how values are made safe. */

import { isUtf8 } from 'node:buffer';
import { isRecord, type JsonRpcMessage } from '../lib/json-rpc.ts';

/** The first revision without sessions, with headers mirrored from the body. */
const FIRST_MODERN_VERSION = '2026-07-28';
const PROTOCOL_VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

/** Derived from the connection or the body; nobody else may set them, or header and body could disagree. */
const RESERVED = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'host',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'transfer-encoding',
]);

/** Which field of the params `Mcp-Name` mirrors. */
const NAME_FIELDS: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

const SENTINEL_PREFIX = '=?base64?';
const SENTINEL_SUFFIX = '?=';
/** Printable ASCII and tabs, neither beginning nor ending with a blank. */
const SAFE_VALUE = /^[!-~](?:[\t -~]*[!-~])?$/;

/** Revisions are dates, so they compare as text. */
export function isModern(protocolVersion: string): boolean {
  return protocolVersion >= FIRST_MODERN_VERSION;
}

/**
 * A value as it may stand in a header: as it is where that is safe, else in the base64 form of the
 * specification. Meant for `Mcp-Name` and `Mcp-Param-*`.
 */
export function encodeHeaderValue(value: string): string {
  const looksEncoded = value.startsWith(SENTINEL_PREFIX) && value.endsWith(SENTINEL_SUFFIX);
  if (SAFE_VALUE.test(value) && !looksEncoded) return value;
  return `${SENTINEL_PREFIX}${Buffer.from(value, 'utf8').toString('base64')}${SENTINEL_SUFFIX}`;
}

/** What such a value says; undefined when it claims the base64 form and does not hold to it. */
export function decodeHeaderValue(value: string): string | undefined {
  if (!value.startsWith(SENTINEL_PREFIX) || !value.endsWith(SENTINEL_SUFFIX)) return value;
  const payload = value.slice(SENTINEL_PREFIX.length, -SENTINEL_SUFFIX.length);
  const bytes = Buffer.from(payload, 'base64');
  // Written again it has to be the same: what is merely like base64 could be read in two ways.
  return bytes.toString('base64') === payload && isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/** The revision that a message claims for itself in `_meta`. */
export function claimedVersion(message: JsonRpcMessage): string | undefined {
  if (!('method' in message)) return undefined;
  const meta = message.params?.['_meta'];
  const version = isRecord(meta) ? meta[PROTOCOL_VERSION_KEY] : undefined;
  return typeof version === 'string' && SAFE_VALUE.test(version) ? version : undefined;
}

/** Appends what a modern request mirrors from its body, as name and value in turn. */
export function appendMirrored(headers: string[], message: JsonRpcMessage): void {
  if (!('method' in message && 'id' in message)) return;
  headers.push('mcp-method', encodeHeaderValue(message.method));
  const field = NAME_FIELDS.get(message.method);
  const name = field === undefined ? undefined : message.params?.[field];
  if (typeof name === 'string') headers.push('mcp-name', encodeHeaderValue(name));
}

/** Appends headers of somebody else, without those that are ours. The last one of a name counts. */
export function appendForeign(headers: string[], more: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(more)) {
    const lower = name.toLowerCase();
    if (RESERVED.has(lower)) continue;
    // A value mirrored from a call's arguments is not ours to trust, wherever it was encoded.
    const safe = lower.startsWith('mcp-param-') && !SAFE_VALUE.test(value) ? encodeHeaderValue(value) : value;
    const at = headers.findIndex((present, index) => index % 2 === 0 && present === lower);
    if (at === -1) headers.push(lower, safe);
    else headers[at + 1] = safe;
  }
}

/** The value of a header in a flat list of names and values. */
export function headerOf(headers: readonly string[], name: string): string | undefined {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return headers[i + 1];
  return undefined;
}

/** As undici hands them over: a header that came more than once is a list, whichever it is. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

export function headerValue(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** The media type of a body, without its parameters. */
export function mediaType(headers: ResponseHeaders): string {
  const value = headerValue(headers, 'content-type') ?? '';
  const end = value.indexOf(';');
  return (end === -1 ? value : value.slice(0, end)).trim().toLowerCase();
}
