/** Parses one tool of `tools/list` tolerantly: repairs unambiguous mistakes and rejects the rest. */

import { defined } from '../lib/defined.ts';
import { isRecord } from '../lib/json.ts';
import { clean } from '../policy/clean.ts';
import { cleanSchema } from '../policy/clean-value.ts';
import {
  acceptKept,
  type JsonObject,
  type KeptFields,
  kindOf,
  MAX_META_BYTES,
  sizeFault,
  unknownMembers,
} from './accept-bounds.ts';
import { readParamHeaders } from './param-headers.ts';
import { remoteRef } from './schemas/refs.ts';
import { dialectOf } from './schemas/schema-dialect.ts';
import type { ToolAnnotations } from './tool.ts';

export type TaskSupport = 'required' | 'optional' | 'forbidden';

/** A validated tool: every field has its type and is bounded. */
export interface AcceptedTool extends KeptFields {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  /** Legacy tasks (2025-11-25): whether a call may, must or must not be a task. */
  readonly taskSupport?: TaskSupport;
  readonly _meta?: JsonObject;
}

export type ToolAcceptance =
  | { readonly tool: AcceptedTool; readonly repaired: string[] }
  | { readonly reject: string; readonly name?: string };

export interface AcceptToolOptions {
  /** Over HTTP in the modern era a tool with an invalid `x-mcp-header` must not be offered. */
  readonly paramHeaders?: boolean;
}

export const MAX_NAME_CHARS = 16_384;
export const MAX_TITLE_CHARS = 512;
/** Some servers include a manual (Shopify: 13,090); an adapter's `maxDescriptionChars` truncates earlier. */
export const MAX_DESCRIPTION_CHARS = 32_768;
export const MAX_SCHEMA_BYTES: number = 512 * 1024;

const EMPTY_INPUT: JsonObject = { type: 'object', properties: {} };
const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;
const KNOWN_HINTS: ReadonlySet<string> = new Set(['title', ...HINTS]);
const KNOWN: ReadonlySet<string> = new Set([
  'name',
  'title',
  'description',
  'inputSchema',
  'input_schema',
  'outputSchema',
  'annotations',
  'execution',
  'icons',
  '_meta',
]);

/**
 * Parses one tool definition.
 *
 * @example
 * acceptTool({ name: 'now', inputSchema: null });
 * // { tool: { name: 'now', description: '', inputSchema: { type: 'object', properties: {} } },
 * //   repaired: ['inputSchema is missing: taken as "no parameters"'] }
 */
export function acceptTool(raw: unknown, options: AcceptToolOptions = {}): ToolAcceptance {
  if (!isRecord(raw)) return { reject: 'it is not an object' };
  const name = raw['name'];
  if (typeof name !== 'string' || name === '') return { reject: 'it has no name' };
  if (name.length > MAX_NAME_CHARS) return { reject: `its name is longer than ${MAX_NAME_CHARS} characters` };

  const repaired: string[] = [];
  const note = (text: string): void => void repaired.push(text);

  const input = acceptInputSchema(raw, note);
  if ('reject' in input) return { reject: input.reject, name };
  if (options.paramHeaders) {
    const headers = readParamHeaders(input.schema);
    if (!headers.ok) return { reject: headers.reason, name };
  }

  const title = acceptText(raw, 'title', MAX_TITLE_CHARS, note);
  const outputSchema = acceptOutputSchema(raw, note);
  const annotations = acceptAnnotations(raw['annotations'], note);
  const taskSupport = acceptTaskSupport(raw['execution']);
  const meta = acceptMeta(raw, note);
  const tool: AcceptedTool = {
    name,
    ...(title === undefined ? {} : { title }),
    description: acceptText(raw, 'description', MAX_DESCRIPTION_CHARS, note) ?? '',
    inputSchema: input.schema,
    ...defined({ outputSchema, annotations, taskSupport, _meta: meta }),
    ...acceptKept(raw, KNOWN, note),
  };
  return { tool, repaired };
}

function acceptInputSchema(
  raw: Record<string, unknown>,
  note: (text: string) => void,
): { schema: JsonObject } | { reject: string } {
  let schema = raw['inputSchema'];
  if ((schema === undefined || schema === null) && raw['input_schema'] !== undefined) {
    note('input_schema is taken as inputSchema');
    schema = raw['input_schema'];
  }
  if (schema === undefined || schema === null) {
    note('inputSchema is missing: taken as "no parameters"');
    return { schema: EMPTY_INPUT };
  }
  // PHP servers encode an empty object as `[]`.
  if (typeof schema === 'boolean' || (Array.isArray(schema) && schema.length === 0)) {
    note(`inputSchema is ${JSON.stringify(schema)}: taken as "no parameters"`);
    return { schema: EMPTY_INPUT };
  }
  if (!isRecord(schema)) return { reject: `its inputSchema is ${kindOf(schema)}, not an object` };
  const excess = faultOf(schema);
  if (excess !== undefined) return { reject: `its inputSchema ${excess}` };
  noteDialect(schema, 'inputSchema', note);
  return mendRoot(schema, note);
}

/** Repairs the root: arguments are always an object, so its type must be `object` and its keywords must be valid. */
function mendRoot(
  schema: Record<string, unknown>,
  note: (text: string) => void,
): { schema: JsonObject } | { reject: string } {
  const mended: Record<string, unknown> = { ...schema };
  const { type, properties, required } = schema;
  if (type !== 'object') {
    const objectAllowed =
      type === undefined ||
      type === null ||
      (Array.isArray(type) && type.includes('object')) ||
      isRecord(properties);
    if (!objectAllowed)
      return { reject: `its inputSchema is of type ${JSON.stringify(type)}, but arguments are an object` };
    note('inputSchema.type is set to "object"');
    mended['type'] = 'object';
  }
  if (properties !== undefined && !isRecord(properties)) {
    if (properties !== null && !(Array.isArray(properties) && properties.length === 0)) {
      return { reject: `its inputSchema.properties is ${kindOf(properties)}, not an object` };
    }
    note('inputSchema.properties is taken as empty');
    mended['properties'] = {};
  }
  if (required !== undefined && !isStringList(required)) {
    note('inputSchema.required is not a list of names: its other members are left out');
    mended['required'] = Array.isArray(required) ? required.filter((key) => typeof key === 'string') : [];
  }
  return { schema: mended };
}

function acceptOutputSchema(
  raw: Record<string, unknown>,
  note: (text: string) => void,
): JsonObject | undefined {
  const schema = raw['outputSchema'];
  if (schema === undefined) return undefined;
  if (!isRecord(schema)) {
    note(`outputSchema is ${kindOf(schema)}: left out`);
    return undefined;
  }
  const excess = faultOf(schema);
  if (excess !== undefined) {
    note(`outputSchema ${excess}: left out`);
    return undefined;
  }
  noteDialect(schema, 'outputSchema', note);
  return schema;
}

function noteDialect({ $schema }: JsonObject, name: string, note: (text: string) => void): void {
  if (dialectOf($schema) !== undefined) return;
  note(`${name} is of the dialect ${JSON.stringify($schema).slice(0, 200)}, which is not known: not checked`);
}

function acceptAnnotations(raw: unknown, note: (text: string) => void): ToolAnnotations | undefined {
  if (raw === undefined) return undefined;
  if (!isRecord(raw)) {
    note(`annotations is ${kindOf(raw)}: left out`);
    return undefined;
  }
  const others = unknownMembers(raw, KNOWN_HINTS);
  const fault = others === undefined ? undefined : sizeFault(others, MAX_META_BYTES);
  if (fault !== undefined) note(`unknown annotations left out: together ${fault}`);
  const accepted: Record<string, unknown> = fault === undefined ? { ...others } : {};
  const title = acceptText(raw, 'title', MAX_TITLE_CHARS, note);
  if (title !== undefined) accepted['title'] = title;
  for (const hint of HINTS) {
    const value = raw[hint];
    if (typeof value === 'boolean') accepted[hint] = value;
    else if (value !== undefined) note(`annotations.${hint} is ${kindOf(value)}: left out`);
  }
  return accepted;
}

function acceptTaskSupport(execution: unknown): AcceptedTool['taskSupport'] {
  const support = isRecord(execution) ? execution['taskSupport'] : undefined;
  return support === 'required' || support === 'optional' || support === 'forbidden' ? support : undefined;
}

/** Returns a text field of a list item; truncates it at the limit or drops a non-string, each with a note. */
export function acceptText(
  raw: Readonly<Record<string, unknown>>,
  field: string,
  maxChars: number,
  note: (text: string) => void,
): string | undefined {
  const value = raw[field];
  if (value === undefined) return undefined;
  if (typeof value !== 'string') {
    note(`${field} is ${kindOf(value)}: left out`);
    return undefined;
  }
  if (value.length <= maxChars) return value;
  note(`${field} has ${value.length} characters: cut at ${maxChars}`);
  // Never splits a surrogate pair: providers reject lone surrogates.
  return `${value.slice(0, maxChars - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}

/** Returns `_meta` of a list item; dropped with a note if it is not an object or too large. */
export function acceptMeta(
  raw: Readonly<Record<string, unknown>>,
  note: (text: string) => void,
): JsonObject | undefined {
  const meta = raw['_meta'];
  if (meta === undefined) return undefined;
  const fault = isRecord(meta) ? sizeFault(meta, MAX_META_BYTES) : `is ${kindOf(meta)}`;
  if (fault === undefined) return meta as JsonObject;
  note(`_meta ${fault}: left out`);
  return undefined;
}

/**
 * Returns why a schema is rejected, or undefined. Its texts are cleaned later; parameter names and enum values cannot
 * be, because the server depends on them. A tool that hides text there is not offered (A15).
 */
function faultOf(schema: JsonObject): string | undefined {
  const excess = sizeFault(schema, MAX_SCHEMA_BYTES);
  if (excess !== undefined) return excess;
  const json = JSON.stringify(schema);
  const remote = json.includes('Ref":') || json.includes('$ref":') ? remoteRef(schema) : undefined;
  if (remote !== undefined)
    return `refers to ${JSON.stringify(remote).slice(0, 200)}, and schemas of other addresses are not fetched`;
  if (!holdsHidden(json) || !holdsHidden(JSON.stringify(cleanSchema(schema)))) return undefined;
  return 'has names or values with invisible characters';
}

function holdsHidden(json: string): boolean {
  return json.includes('\\u001b') || clean(json) !== json;
}

function isStringList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((member) => typeof member === 'string');
}
