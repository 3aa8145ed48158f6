/** Tools for the AI SDK (`ai` 5 and 6): a live `ToolSet` of dynamic tools. */

import { TOOL_SEARCH } from '../catalog/deferral.ts';
import type { JsonSchema } from '../catalog/schemas/write.ts';
import type { AdapterHost, AdapterOptions } from './adapter-host.ts';
import type { Answer } from './answer.ts';
import { keepLive } from './live.ts';
import { isImage, mapParts, partsOf, textOf } from './parts.ts';
import { type Shelf, Toolbox, type Usable } from './toolbox.ts';

/**
 * The SDK's lazy form of a schema. The schema itself is marked with a symbol that only the SDK's own types can
 * name, so the function is typed to return `never`: that fits wherever the SDK asks for a schema.
 */
export type AiSdkSchema = (() => never) & { readonly jsonSchema: JsonSchema };

export type AiSdkModelOutput =
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'error-text'; readonly value: string }
  | { readonly type: 'content'; readonly value: AiSdkContent[] };

export type AiSdkContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image-data' | 'file-data'; readonly data: string; readonly mediaType: string };

export interface AiSdkTool {
  readonly type: 'dynamic';
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: AiSdkSchema;
  /** Where the tool comes from; the SDK hands it on to whoever shows the call. */
  readonly metadata: { readonly server: string; readonly tool: string };
  execute(
    input: unknown,
    options?: { readonly toolCallId?: string; readonly abortSignal?: AbortSignal | undefined },
  ): Promise<Answer>;
  toModelOutput(options: { readonly output: unknown }): AiSdkModelOutput;
}

export type AiSdkTools = Record<string, AiSdkTool>;

/** How the SDK recognises a schema that was not made by a schema library. */
const SCHEMA = Symbol.for('vercel.ai.schema');

/**
 * A `ToolSet` for `generateText`, `streamText` and agents. It stays in step with the host: what `tool_search`
 * loads can be called in the next step of the same run. (A copy, `{ ...tools }`, does not.)
 *
 * @example
 * const tools = toAiSdk(host);
 * Object.keys(tools); // → ['mcp__demo__add']
 * const output = await tools['mcp__demo__add'].execute({ a: 1, b: 2 });
 * output; // → { content: [{ type: 'text', text: '3' }], isError: false }
 */
export function toAiSdk(host: AdapterHost, options: AdapterOptions = {}): AiSdkTools {
  const tools: AiSdkTools = {};
  const toolbox: Toolbox<AiSdkTool> = new Toolbox(host, {
    ...options,
    provider: 'ai-sdk',
    define: (usable) =>
      toolOf(usable, async (input, { toolCallId = '', abortSignal } = {}) => {
        const { name } = usable.tool;
        const output = await toolbox.call({ name, id: toolCallId, input, signal: abortSignal });
        // A search changes what its caller is shown and nobody else's tools, so no event tells of it.
        if (name === TOOL_SEARCH) refresh();
        return output;
      }),
  });
  const refresh = keepLive(toolbox, tools, fill);
  return tools;
}

function fill(tools: AiSdkTools, { definitions }: Shelf<AiSdkTool>): void {
  const gone = Object.keys(tools).filter((name) => !definitions.has(name));
  for (const name of gone) delete tools[name];
  for (const [name, definition] of definitions) tools[name] = definition;
}

function toolOf({ tool, description, schema }: Usable, execute: AiSdkTool['execute']): AiSdkTool {
  return {
    type: 'dynamic',
    ...(tool.title === undefined ? {} : { title: tool.title }),
    description,
    inputSchema: schemaOf(schema),
    metadata: { server: tool.server, tool: tool.tool },
    execute,
    toModelOutput: ({ output }) => modelOutput(output),
  };
}

function schemaOf(jsonSchema: JsonSchema): AiSdkSchema {
  const schema = { [SCHEMA]: true, _type: undefined, jsonSchema, validate: undefined };
  return Object.assign((() => schema) as () => never, { jsonSchema });
}

/** The output comes back from wherever the messages were kept, so it is looked at again. */
function modelOutput(output: unknown): AiSdkModelOutput {
  if (!isAnswer(output)) return { type: 'text', value: JSON.stringify(output) ?? '' };
  const parts = partsOf(output);
  if (output.isError) return { type: 'error-text', value: textOf(parts) };
  if (parts.every(({ type }) => type === 'text')) return { type: 'text', value: textOf(parts) };
  const value = mapParts<AiSdkContent>(
    parts,
    (text) => ({ type: 'text', text }),
    (part) => ({
      type: isImage(part) ? 'image-data' : 'file-data',
      data: part.data,
      mediaType: part.mimeType,
    }),
  );
  return { type: 'content', value };
}

function isAnswer(output: unknown): output is Answer {
  return (
    typeof output === 'object' && output !== null && 'content' in output && Array.isArray(output.content)
  );
}
