/** Maps tool arguments to `Mcp-Param-*` headers, and checks that the headers of a request match its arguments. */

import type { IncomingHttpHeaders } from 'node:http';
import { RpcFailure } from '../endpoint/rpc-failure.ts';
import { isRecord } from '../lib/json.ts';
import { RPC_HEADER_MISMATCH } from '../lib/json-rpc.ts';
import { decodeHeaderValue, encodeHeaderValue } from '../transport/http-headers.ts';

/** One mirrored argument: its path in the arguments and its header. */
export interface ParamHeader {
  readonly path: readonly string[];
  readonly header: string;
}

export type ParamHeaders =
  | { readonly ok: true; readonly declared: readonly ParamHeader[] }
  | { readonly ok: false; readonly reason: string };

const DECLARATION = 'x-mcp-header';
const HEADER_PREFIX = 'Mcp-Param-';
const MIRRORED_TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

/** A `token` of RFC 9110: no blanks, no control characters, no delimiters. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Keywords with subschemas; a declaration below any of these does not refer to a single argument. */
const SINGLE_OR_LIST = [
  'items',
  'prefixItems',
  'contains',
  'additionalItems',
  'additionalProperties',
  'unevaluatedItems',
  'unevaluatedProperties',
  'propertyNames',
  'oneOf',
  'anyOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
] as const;
const BY_NAME = ['patternProperties', 'dependentSchemas', '$defs', 'definitions'] as const;

/** A deeper schema is rejected, since the walk below recurses; real schemas are far below. */
const MAX_SCHEMA_DEPTH = 500;

/**
 * Parses the declarations of an input schema. One invalid declaration invalidates the tool (2026-07-28, Streamable
 * HTTP): a gateway could route by a header that contradicts the arguments.
 */
export function readParamHeaders(inputSchema: unknown): ParamHeaders {
  const declared: ParamHeader[] = [];
  const taken = new Set<string>();

  const visit = (
    schema: unknown,
    path: readonly string[],
    reachable: boolean,
    depth: number,
  ): string | undefined => {
    if (!isRecord(schema)) return undefined;
    if (depth > MAX_SCHEMA_DEPTH) return `its schema is nested more than ${MAX_SCHEMA_DEPTH} levels deep`;
    if (Object.hasOwn(schema, DECLARATION)) {
      const fault = faultOf(schema, path, reachable, taken);
      if (fault !== undefined) return `${DECLARATION} at ${JSON.stringify(path.join('.'))} ${fault}`;
      const name = String(schema[DECLARATION]);
      taken.add(name.toLowerCase());
      declared.push({ path, header: HEADER_PREFIX + name });
    }
    for (const [key, below] of namedIn(schema, 'properties')) {
      const fault = visit(below, [...path, key], reachable, depth + 1);
      if (fault !== undefined) return fault;
    }
    for (const [step, below] of elsewhereIn(schema)) {
      const fault = visit(below, [...path, step], false, depth + 1);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };

  const reason = visit(inputSchema, [], true, 0);
  return reason === undefined ? { ok: true, declared } : { ok: false, reason };
}

function faultOf(
  schema: Record<string, unknown>,
  path: readonly string[],
  reachable: boolean,
  taken: ReadonlySet<string>,
): string | undefined {
  const name = schema[DECLARATION];
  if (!reachable || path.length === 0) return 'is not on a property of the arguments';
  if (typeof name !== 'string' || name === '') return 'is not a non-empty string';
  if (!TOKEN.test(name)) return 'is not a valid header name';
  if (!MIRRORED_TYPES.has(schema['type'])) return 'is not on a string, an integer or a boolean';
  if (taken.has(name.toLowerCase())) return `declares ${name} a second time`;
  return undefined;
}

function namedIn(schema: Record<string, unknown>, keyword: string): [string, unknown][] {
  const named = Object.hasOwn(schema, keyword) ? schema[keyword] : undefined;
  return isRecord(named) ? Object.entries(named) : [];
}

function* elsewhereIn(schema: Record<string, unknown>): Generator<[string, unknown]> {
  for (const keyword of SINGLE_OR_LIST) {
    const below = schema[keyword];
    for (const branch of Array.isArray(below) ? below : [below]) yield [`<${keyword}>`, branch];
  }
  for (const keyword of BY_NAME) {
    for (const [, branch] of namedIn(schema, keyword)) yield [`<${keyword}>`, branch];
  }
}

/**
 * Returns the headers of one call. An argument that is absent, null or not of a mirrored type gets no header, nor does
 * any argument of a tool with invalid declarations.
 *
 * @example
 * paramHeaders(tool, { region: 'eu' }); // { 'Mcp-Param-Region': 'eu' }
 */
export function paramHeaders(
  tool: { readonly inputSchema: unknown },
  args: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const read = readParamHeaders(tool.inputSchema);
  if (!read.ok) return {};
  const headers: Record<string, string> = {};
  for (const { path, header } of read.declared) {
    const text = textOf(argumentAt(args, path));
    // The prefix prevents keys such as `__proto__`.
    if (text !== undefined) headers[header] = encodeHeaderValue(text);
  }
  return headers;
}

/** Returns the argument of a declaration; undefined if it is not given. */
function argumentAt(args: unknown, path: readonly string[]): unknown {
  let value = args;
  for (const key of path) {
    if (!isRecord(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** Returns the header text of an argument; undefined if it is not mirrored. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  // Beyond 2^53 these digits may differ from those the server reads in the body.
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : undefined;
}

const DECIMAL = /^-?\d{1,20}(\.\d{1,20})?$/;

/** Throws if an argument and its header differ. A missing argument needs no header, and its header is ignored. */
export function checkParams(
  headers: IncomingHttpHeaders,
  declared: readonly ParamHeader[],
  args: unknown,
): void {
  for (const { path, header } of declared) {
    const value = argumentAt(args, path);
    const expected = textOf(value);
    if (expected === undefined) continue;
    const given = headers[header.toLowerCase()];
    if (typeof given !== 'string') throw mismatch(header, 'is missing');
    const stated = decodeHeaderValue(given);
    if (stated === undefined) throw mismatch(header, 'is not well encoded');
    const isSame =
      typeof value === 'number' ? DECIMAL.test(stated) && Number(stated) === value : stated === expected;
    if (!isSame) throw mismatch(header, 'does not match the body');
  }
}

function mismatch(header: string, what: string): RpcFailure {
  return new RpcFailure(RPC_HEADER_MISMATCH, `The header ${header} ${what}`, { header });
}
