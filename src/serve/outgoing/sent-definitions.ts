/** Converts listed definitions for clients: parts that the client's revision would reject are repaired or omitted. */

import type { Prompt, PromptArgument, Resource, ResourceTemplate } from '../../catalog/accept-lists.ts';
import { readParamHeaders } from '../../catalog/param-headers.ts';
import type { Tool } from '../../catalog/tool.ts';
import type { Params } from '../../endpoint/client-era.ts';
import type { Reader } from './reader.ts';
import type { RepairReport } from './repair-report.ts';
import { sentInput, sentOutput } from './sent-schemas.ts';
import { type Note, withChanges, withValidFields } from './valid-fields.ts';

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
