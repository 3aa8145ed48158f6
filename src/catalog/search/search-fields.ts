/** Extracts the searchable texts of a tool definition, field by field. */

import { isRecord } from '../../lib/json.ts';
import type { Tool } from '../tool.ts';

/** In the order of the ranker's arrays. */
export const FIELDS = ['name', 'server', 'description', 'parameters', 'parameterTexts'] as const;
export type Field = (typeof FIELDS)[number];
export type FieldTexts = Readonly<Record<Field, string>>;

/** Some descriptions contain a manual; the distinguishing text is at the start. */
const MAX_DESCRIPTION_CHARS = 4000;
const MAX_PARAMETER_TEXT_CHARS = 4000;
const MAX_SCHEMA_DEPTH = 4;
const MAX_PROPERTIES = 100;
const MAX_ENUM_VALUES = 20;

export function fieldTexts(tool: Tool): FieldTexts {
  const found: SchemaTexts = { names: [], texts: [], textChars: 0 };
  readSchema(tool.inputSchema, 0, found);
  return {
    name: tool.title === undefined || tool.title === '' ? tool.tool : `${tool.tool} ${tool.title}`,
    server: tool.server,
    description: tool.description.slice(0, MAX_DESCRIPTION_CHARS),
    parameters: found.names.join(' '),
    parameterTexts: found.texts.join(' '),
  };
}

interface SchemaTexts {
  readonly names: string[];
  readonly texts: string[];
  textChars: number;
}

function readSchema(schema: unknown, depth: number, found: SchemaTexts): void {
  if (!isRecord(schema) || depth > MAX_SCHEMA_DEPTH) return;
  if (depth > 0) {
    addText(schema['description'], found);
    if (Array.isArray(schema['enum']))
      for (const v of schema['enum'].slice(0, MAX_ENUM_VALUES)) addText(v, found);
  }
  if (isRecord(schema['properties'])) {
    for (const name of Object.keys(schema['properties'])) {
      if (found.names.length >= MAX_PROPERTIES) return;
      found.names.push(name);
      readSchema(schema['properties'][name], depth + 1, found);
    }
  }
  readSchema(schema['items'], depth + 1, found);
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const branches = schema[key];
    if (Array.isArray(branches)) for (const branch of branches) readSchema(branch, depth + 1, found);
  }
}

function addText(value: unknown, found: SchemaTexts): void {
  if (typeof value !== 'string' || found.textChars > MAX_PARAMETER_TEXT_CHARS) return;
  const text = value.slice(0, MAX_PARAMETER_TEXT_CHARS);
  found.textChars += text.length;
  found.texts.push(text);
}
