/**
 * Shortens definitions for listings with `definitions: "compact"`: the first sentence of a description, and schemas
 * without text for people. A schema accepts the same values as before.
 */

import { getOrMake } from '../lib/get-or-make.ts';
import { isRecord } from '../lib/json.ts';
import type { Schema } from './schemas/object-members.ts';
import { firstSentence } from './signature.ts';
import type { Tool } from './tool.ts';

/** Keywords that describe a value and do not restrict it. */
const TEXTS: ReadonlySet<string> = new Set(['title', 'description', 'examples', 'example', '$comment']);
/** Keywords whose values are data and not schemas. */
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'required', 'type']);
/** Keywords whose members are schemas by name: a name may equal a keyword. */
const NAMED: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);
/** Deeper schemas are kept as they are. */
const MAX_DEPTH = 64;

export interface CompactDefinitions {
  /** Returns the short form of a tool: the same object for the same tool. */
  tool(tool: Tool): Tool;
  /** The same for a list: the same array for the same list. */
  list(tools: readonly Tool[]): readonly Tool[];
}

/** A definition depends on the tool alone, so it never changes after it was sent. */
export function createCompactDefinitions(): CompactDefinitions {
  const made = new WeakMap<Tool, Tool>();
  const lists = new WeakMap<readonly Tool[], readonly Tool[]>();
  const tool = (whole: Tool): Tool => getOrMake(made, whole, () => compactTool(whole));
  return { tool, list: (tools) => getOrMake(lists, tools, () => tools.map(tool)) };
}

/** Tools of the host itself have no server; their descriptions explain how to use them. */
export function compactTool(tool: Tool): Tool {
  if (tool.server === '') return tool;
  const { outputSchema } = tool;
  return {
    ...tool,
    description: firstSentence(tool.description),
    inputSchema: withoutTexts(tool.inputSchema),
    ...(outputSchema === undefined ? {} : { outputSchema: withoutTexts(outputSchema) }),
  };
}

/** Returns a schema without the keywords that only describe values. */
export function withoutTexts(schema: Schema): Schema {
  const { $schema, ...rest } = schema;
  const short = shorter(rest, 0);
  // Only tuples are written differently in the drafts, and 2020-12 is the default.
  return $schema !== undefined && hasTuple(rest, 0) ? { $schema, ...short } : short;
}

function shorter(schema: Schema, depth: number): Schema {
  const kept = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (TEXTS.has(key) && !isRecord(value)) return [];
    if (DATA.has(key)) return [[key, value]];
    if (NAMED.has(key) && isRecord(value))
      return [
        [key, Object.fromEntries(Object.entries(value).map(([name, own]) => [name, part(own, depth)]))],
      ];
    return [[key, part(value, depth)]];
  });
  return Object.fromEntries(kept);
}

function part(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => part(item, depth + 1));
  return isRecord(value) ? shorter(value, depth + 1) : value;
}

function hasTuple(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false;
  if (isRecord(value) && (Array.isArray(value['items']) || value['$recursiveRef'] !== undefined)) return true;
  return Object.values(value).some((member) => hasTuple(member, depth + 1));
}
