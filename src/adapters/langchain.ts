/** Tools for LangChain and LangGraph: a live list, of plain tools or of LangChain's own. */

import { TOOL_SEARCH } from '../catalog/deferral.ts';
import type { JsonSchema } from '../catalog/schemas/write.ts';
import { isRecord } from '../lib/json-rpc.ts';
import type { AdapterHost, AdapterOptions } from './adapter-host.ts';
import type { Answer } from './answer.ts';
import { keepLive } from './live.ts';
import { dataUrl, isImage, mapParts, partsOf, textOf } from './parts.ts';
import { type Shelf, Toolbox } from './toolbox.ts';

export type LangChainContent =
  | string
  | ({ type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } })[];

/** What LangChain makes a `ToolMessage` of. */
export interface LangChainToolMessage {
  readonly role: 'tool';
  readonly name: string;
  readonly tool_call_id: string;
  readonly status: 'success' | 'error';
  readonly content: LangChainContent;
  /** The whole answer, for programs; models do not see it. */
  readonly artifact: Answer;
}

interface Config {
  readonly signal?: AbortSignal | undefined;
  readonly toolCall?: { readonly id?: string | undefined } | undefined;
}

/** The fields that `tool` of `@langchain/core/tools` is given. */
export interface LangChainFields {
  name: string;
  description: string;
  schema: JsonSchema;
  responseFormat: 'content_and_artifact';
  metadata: Record<string, unknown>;
}

type Run = (input: unknown, config?: Config) => Promise<[LangChainContent, Answer]>;

export interface LangChainTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
  /** Given arguments it answers with content, given a tool call with a message; never rejects. */
  invoke(input: unknown, config?: Config): Promise<LangChainContent | LangChainToolMessage>;
}

export interface LangChainOptions<Made> extends AdapterOptions {
  /** `tool` of `@langchain/core/tools`: makes tools that agents and graphs can run. */
  readonly tool: (run: Run, fields: LangChainFields) => Made;
}

/**
 * A list for `bindTools` and agents that stays in step with the host: what `tool_search` loads is in it when
 * the next turn binds it again. Hand in LangChain's `tool` to get LangChain's own tools; they check arguments
 * before we do, and report bad ones in LangChain's way.
 *
 * @example
 * const tools = toLangChain(host); // or toLangChain(host, { tool })
 * const message = await tools[0].invoke({ type: 'tool_call', id: 'call_1', name: tools[0].name, args: { a: 1, b: 2 } });
 * [message.status, message.content]; // → ['success', '3']
 */
export function toLangChain<Made extends object>(host: AdapterHost, options: LangChainOptions<Made>): Made[];
export function toLangChain(host: AdapterHost, options?: AdapterOptions): LangChainTool[];
export function toLangChain<Made extends object>(
  host: AdapterHost,
  options: AdapterOptions & Partial<LangChainOptions<Made>> = {},
): (Made | LangChainTool)[] {
  const tools: (Made | LangChainTool)[] = [];
  const make = options.tool ?? plainTool;
  const toolbox: Toolbox<Made | LangChainTool> = new Toolbox<Made | LangChainTool>(host, {
    ...options,
    provider: 'ai-sdk',
    define: ({ tool, description, schema }) => {
      const { name, server } = tool;
      const run: Run = async (input, config) => {
        const id = config?.toolCall?.id ?? '';
        const answer = await toolbox.call({ name, id, input, signal: config?.signal });
        // A search changes what its caller is shown and nobody else's tools, so no event tells of it.
        if (name === TOOL_SEARCH) refresh();
        return [contentOf(answer), answer];
      };
      const metadata = { server, tool: tool.tool };
      return make(run, { name, description, schema, responseFormat: 'content_and_artifact', metadata });
    },
  });
  const refresh = keepLive(toolbox, tools, fill);
  return tools;
}

function fill<Definition>(tools: Definition[], { definitions }: Shelf<Definition>): void {
  tools.splice(0, tools.length, ...definitions.values());
}

function plainTool(run: Run, { name, description, schema }: LangChainFields): LangChainTool {
  return {
    name,
    description,
    schema,
    async invoke(input, config) {
      const call = isToolCall(input) ? input : undefined;
      const id = call?.id ?? config?.toolCall?.id;
      const [content, artifact] = await run(call === undefined ? input : call.args, {
        ...config,
        toolCall: { id },
      });
      if (id === undefined) return content;
      const status = artifact.isError ? 'error' : 'success';
      return { role: 'tool', name, tool_call_id: id, status, content, artifact };
    },
  };
}

function isToolCall(input: unknown): input is { readonly id?: string; readonly args: unknown } {
  return isRecord(input) && input['type'] === 'tool_call' && 'args' in input;
}

function contentOf(answer: Answer): LangChainContent {
  const parts = partsOf(answer);
  if (!parts.some((part) => part.type === 'media' && isImage(part))) return textOf(parts);
  return mapParts<Exclude<LangChainContent, string>[number]>(
    parts,
    (text) => ({ type: 'text', text }),
    (part) => (isImage(part) ? { type: 'image_url', image_url: { url: dataUrl(part) } } : undefined),
  );
}
