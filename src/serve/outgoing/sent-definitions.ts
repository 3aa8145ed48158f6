/** Converts listed definitions for clients: parts that the client's revision would reject are repaired or omitted. */

import type { JsonObject } from '../../catalog/accept-bounds.ts';
import type { Prompt, PromptArgument, Resource, ResourceTemplate } from '../../catalog/accept-lists.ts';
import { readParamHeaders } from '../../catalog/param-headers.ts';
import type { Tool } from '../../catalog/tool.ts';
import type { Params } from '../../endpoint/client-era.ts';
import { isRecord } from '../../lib/json.ts';
import { compileFault } from './compilable.ts';
import type { Reader } from './reader.ts';
import { isTexts, type Note, shown, withChanges, withValidFields } from './valid-fields.ts';

/** @param item as in "tool add". @param text the problem. */
export type RepairReport = (server: string, item: string, text: string) => void;

/** @param report reports a message about a server once. */
export function createRepairReport(report: (server: string, message: string) => void): RepairReport {
  return (server, item, text) => report(server, `repaired for clients of the gateway: ${item}: ${text}`);
}

/** Returns a tool for a client; empty if the client must not receive it. */
export function sentTool(tool: Tool, reader: Reader, report: RepairReport): readonly Params[] {
  const { server, tool: own, deferred: _deferred, extra, description, ...fields } = tool;
  const note: Note = (text) => report(server, `tool ${own}`, text);
  if (reader.mirrors) {
    const headers = readParamHeaders(tool.inputSchema);
    if (!headers.ok) {
      note(`it is left out for clients over HTTP: ${headers.reason}`);
      return [];
    }
  }
  const { inputSchema, outputSchema } = tool;
  const input = sentInput(inputSchema, reader, note);
  const output = outputSchema === undefined ? undefined : sentOutput(outputSchema, reader, note);
  const sent = { ...extra, ...withValidIcons(fields, note), ...(description === '' ? {} : { description }) };
  return [
    withChanges(sent, {
      ...(input === inputSchema ? {} : { inputSchema: input }),
      ...(output === outputSchema ? {} : { outputSchema: output }),
    }),
  ];
}

/** Annotations of tools are checked when they are accepted; they differ from those of resources. */
function withValidIcons<T extends Pick<Tool, 'icons' | 'annotations'>>(fields: T, note: Note): T {
  if (fields.icons === undefined) return fields;
  const { annotations, ...rest } = fields;
  const valid = withValidFields(rest, note);
  return (valid === rest ? fields : { ...valid, ...(annotations && { annotations }) }) as T; // The same members.
}

export function sentResource(
  { server, extra, ...resource }: Resource & { readonly server: string },
  report: RepairReport,
): Params {
  return {
    ...extra,
    ...withValidFields(resource, (text) => report(server, `resource ${resource.uri}`, text)),
  };
}

export function sentTemplate(
  { server, extra, ...template }: ResourceTemplate & { readonly server: string },
  report: RepairReport,
): Params {
  const name = `resource template ${template.uriTemplate}`;
  return { ...extra, ...withValidFields(template, (text) => report(server, name, text)) };
}

/**
 * Converts a prompt for a client.
 *
 * @param name the client's name of the prompt.
 */
export function sentPrompt(
  { server, extra, arguments: args, ...prompt }: Prompt & { readonly server: string },
  name: string,
  report: RepairReport,
): Params {
  return {
    ...extra,
    ...withValidFields(prompt, (text) => report(server, `prompt ${prompt.name}`, text)),
    name,
    ...(args === undefined ? {} : { arguments: args.map(sentArgument) }),
  };
}

function sentArgument({ extra, ...argument }: PromptArgument): Params {
  return extra === undefined ? argument : { ...extra, ...argument };
}

/** Converts an input schema; accepted ones always have a root of type object. */
function sentInput(schema: JsonObject, { isModern }: Reader, note: Note): JsonObject {
  return isModern ? modern(schema, 'inputSchema', note) : legacy(schema, 'inputSchema', note);
}

/** Converts an output schema; undefined if the client could not use it, or would reject the list that contains it. */
function sentOutput(schema: JsonObject, { isModern }: Reader, note: Note): JsonObject | undefined {
  if (isModern) return modern(schema, 'outputSchema', note);
  if (schema['type'] !== 'object') {
    note('outputSchema is left out: before 2026-07-28 its root must be of type object');
    return undefined;
  }
  const sent = legacy(schema, 'outputSchema', note);
  const fault = compileFault(sent);
  if (fault === undefined) return sent;
  note(`outputSchema is left out: ${fault}`);
  return undefined;
}

function modern(schema: JsonObject, name: string, note: Note): JsonObject {
  const { $schema: dialect } = schema;
  if (dialect === undefined || typeof dialect === 'string') return schema;
  note(`${name}.$schema is ${shown(dialect)}`);
  return withChanges(schema, { $schema: undefined });
}

/** Properties must be objects in the legacy era: other values that JSON Schema allows there are converted. */
function legacy(schema: JsonObject, name: string, note: Note): JsonObject {
  const { properties, required } = schema;
  const changes: Record<string, unknown> = {};
  if (properties !== undefined && !isRecord(properties)) {
    changes['properties'] = undefined;
    note(`${name}.properties is ${shown(properties)}`);
  } else if (properties !== undefined && !Object.values(properties).every(isObject)) {
    const odd = Object.keys(properties).filter((key) => !isObject(properties[key]));
    note(`${name}.properties.${odd.slice(0, 3).join(', ')} is not an object`);
    changes['properties'] = Object.fromEntries(
      Object.entries(properties).map(([key, value]) => [key, isObject(value) ? value : asObject(value)]),
    );
  }
  if (required !== undefined && !isTexts(required)) {
    note(`${name}.required is ${shown(required)}`);
    changes['required'] = Array.isArray(required)
      ? required.filter((key) => typeof key === 'string')
      : undefined;
  }
  return withChanges(schema, changes);
}

/** Returns the object equivalent of a boolean schema; `{}` for a value that is not a schema. */
function asObject(value: unknown): JsonObject {
  return value === false ? { not: {} } : {};
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
