/** Builds request headers: reserved names, headers mirrored from the body, and safe encoding of values. */

import { isUtf8 } from 'node:buffer';
import { isRecord } from '../lib/json.ts';
import type { JsonRpcMessage } from '../lib/json-rpc.ts';

/** The first protocol version without sessions, with headers mirrored from the body. */
const FIRST_MODERN_VERSION = '2026-07-28';
const PROTOCOL_VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';

/** Derived from the connection or the body; callers must not set them, or header and body could disagree. */
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

/** The params field that `Mcp-Name` mirrors. */
export const NAME_FIELDS: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

const SENTINEL_PREFIX = '=?base64?';
const SENTINEL_SUFFIX = '?=';
/** Printable ASCII and tabs, without leading or trailing blanks. */
const SAFE_VALUE = /^[!-~](?:[\t -~]*[!-~])?$/;

/** Versions are dates, so they compare as strings. */
export function isModern(protocolVersion: string): boolean {
  return protocolVersion >= FIRST_MODERN_VERSION;
}

/**
 * Encodes a header value: unchanged if it is safe, otherwise in the specification's base64 form. For `Mcp-Name` and
 * `Mcp-Param-*`.
 */
export function encodeHeaderValue(value: string): string {
  const looksEncoded = value.startsWith(SENTINEL_PREFIX) && value.endsWith(SENTINEL_SUFFIX);
  if (SAFE_VALUE.test(value) && !looksEncoded) return value;
  return `${SENTINEL_PREFIX}${Buffer.from(value, 'utf8').toString('base64')}${SENTINEL_SUFFIX}`;
}

/** Decodes such a value; undefined if its base64 form is invalid. */
export function decodeHeaderValue(value: string): string | undefined {
  if (!value.startsWith(SENTINEL_PREFIX) || !value.endsWith(SENTINEL_SUFFIX)) return value;
  const payload = value.slice(SENTINEL_PREFIX.length, -SENTINEL_SUFFIX.length);
  const bytes = Buffer.from(payload, 'base64');
  // Encoded again it must be identical: lenient base64 could be read in two ways.
  return bytes.toString('base64') === payload && isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/** Returns the protocol version in the `_meta` of a message. */
export function claimedVersion(message: JsonRpcMessage): string | undefined {
  if (!('method' in message)) return undefined;
  const meta = message.params?.['_meta'];
  const version = isRecord(meta) ? meta[PROTOCOL_VERSION_KEY] : undefined;
  return typeof version === 'string' && SAFE_VALUE.test(version) ? version : undefined;
}

/** Appends the headers that a modern request mirrors from its body, as alternating names and values. */
export function appendMirrored(headers: string[], message: JsonRpcMessage): void {
  if (!('method' in message && 'id' in message)) return;
  headers.push('mcp-method', encodeHeaderValue(message.method));
  const field = NAME_FIELDS.get(message.method);
  const name = field === undefined ? undefined : message.params?.[field];
  if (typeof name === 'string') headers.push('mcp-name', encodeHeaderValue(name));
}

/** Appends the caller's headers, except reserved ones. The last one of a name is used. */
export function appendForeign(headers: string[], more: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(more)) {
    const lower = name.toLowerCase();
    if (RESERVED.has(lower)) continue;
    // A value mirrored from call arguments is untrusted, even if the caller encoded it.
    const safe = lower.startsWith('mcp-param-') && !SAFE_VALUE.test(value) ? encodeHeaderValue(value) : value;
    const at = headers.findIndex((present, index) => index % 2 === 0 && present === lower);
    if (at === -1) headers.push(lower, safe);
    else headers[at + 1] = safe;
  }
}

/** Returns a header from a list of alternating names and values. */
export function headerOf(headers: readonly string[], name: string): string | undefined {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return headers[i + 1];
  return undefined;
}

/** As undici returns them: a repeated header is an array. */
export type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

export function headerValue(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** Returns the media type of a body, without its parameters. */
export function mediaType(headers: ResponseHeaders): string {
  const value = headerValue(headers, 'content-type') ?? '';
  const end = value.indexOf(';');
  return (end === -1 ? value : value.slice(0, end)).trim().toLowerCase();
}
