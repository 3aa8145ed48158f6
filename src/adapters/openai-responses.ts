/** Tools for OpenAI's Responses API, with its own tool search if the model supports it. */

import { TOOL_SEARCH } from '../catalog/deferral.ts';
import type { JsonSchema } from '../catalog/schemas/write-schema.ts';
import type { AdapterHost, AdapterOptions, ExecuteOptions, QuarantinedTool } from './adapter-host.ts';
import { foundNames, type OwnToolsOptions } from './adapter-own-tools.ts';
import type { Answer } from './answer.ts';
import {
  dataUrl,
  errorText,
  fileName,
  isImage,
  type MediaPart,
  mapParts,
  type Part,
  textOf,
} from './parts.ts';
import { Toolbox, type Usable } from './toolbox.ts';

export interface OpenAIFunctionTool {
  type: 'function';
  name: string;
  description: string;
  parameters: JsonSchema;
  strict: boolean;
  defer_loading?: true;
}

/** The provider's own tool search, executed here. */
export interface OpenAISearchTool {
  type: 'tool_search';
  execution: 'client';
  description: string;
  parameters: JsonSchema;
}

/** A tool definition for the Responses API. */
export type OpenAITool = OpenAIFunctionTool | OpenAISearchTool;

/** A function call of the Responses API. */
export interface OpenAIFunctionCall {
  readonly type: 'function_call';
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface OpenAISearchCall {
  readonly type: 'tool_search_call';
  readonly call_id?: string | null;
  readonly arguments: unknown;
}

/** Content of a function's output. */
export type OutputPart =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string; detail: 'auto' }
  | { type: 'input_file'; filename: string; file_data: string };

export interface OpenAIFunctionOutput {
  type: 'function_call_output';
  call_id: string;
  output: string | OutputPart[];
}

export interface OpenAISearchOutput {
  type: 'tool_search_output';
  execution: 'client';
  call_id: string | null;
  status: 'completed';
  tools: OpenAIFunctionTool[];
}

/** Tools for the Responses API of OpenAI, and the functions that run their calls. */
export interface OpenAIResponsesAdapter {
  /** For `tools` of the next request. */
  readonly tools: OpenAITool[];
  /** Tools of the host that are not offered, with the reason. */
  readonly quarantined: readonly QuarantinedTool[];
  /** Whether calls of this name are executed here. */
  has(name: string): boolean;
  /** Executes one call and returns the item for the next request's `input`; never rejects. */
  execute(call: OpenAIFunctionCall, options?: ExecuteOptions): Promise<OpenAIFunctionOutput>;
  /**
   * Executes the calls among the items of a response's `output`, in parallel, with results in order. Calls of your
   * `tools` without `execute` are left to you.
   */
  executeAll(
    output: readonly { readonly type: string }[],
    options?: ExecuteOptions,
  ): Promise<(OpenAIFunctionOutput | OpenAISearchOutput)[]>;
}

interface ResponsesOptions extends AdapterOptions, OwnToolsOptions {
  readonly strict: boolean;
  readonly deferLoading: boolean;
}

export function toOpenAIResponses(host: AdapterHost, options: ResponsesOptions): OpenAIResponsesAdapter {
  const { deferLoading, tools: own, ...common } = options;
  const toolbox = new Toolbox<OpenAITool>(host, {
    ...common,
    ...(deferLoading ? { found: 'name' } : {}),
    provider: 'openai',
    media: options.media ?? 'openai-responses',
    own,
    define: (usable) =>
      deferLoading && usable.tool.name === TOOL_SEARCH
        ? searchTool(usable)
        : functionTool(usable, deferLoading),
  });

  async function execute(
    { call_id: id, name, arguments: input }: OpenAIFunctionCall,
    { signal }: ExecuteOptions = {},
  ): Promise<OpenAIFunctionOutput> {
    const answer = await toolbox.call({ name, id, input, signal });
    return { type: 'function_call_output', call_id: id, output: outputOf(answer, toolbox.parts(answer)) };
  }

  async function search(
    { call_id: id = null, arguments: input }: OpenAISearchCall,
    { signal }: ExecuteOptions = {},
  ): Promise<OpenAISearchOutput> {
    const answer = await toolbox.call({ name: TOOL_SEARCH, id: id ?? '', input, signal });
    const { definitions } = toolbox.shelf;
    const tools = foundNames(answer).flatMap((name) => {
      const definition = definitions.get(name);
      return definition?.type === 'function' ? [definition] : [];
    });
    return { type: 'tool_search_output', execution: 'client', call_id: id, status: 'completed', tools };
  }

  return {
    get tools() {
      const all = [...toolbox.shelf.definitions.values()];
      // Found tools are in the conversation, in the output of their search.
      return all.filter((tool) => tool.type === 'tool_search' || tool.defer_loading === undefined);
    },
    get quarantined() {
      return toolbox.shelf.quarantined;
    },
    has: (name) => toolbox.has(name),
    execute,
    executeAll: (output, executeOptions) =>
      Promise.all(
        output.flatMap((item): Promise<OpenAIFunctionOutput | OpenAISearchOutput>[] => {
          if (isFunctionCall(item)) return toolbox.answers(item.name) ? [execute(item, executeOptions)] : [];
          return isSearchCall(item) ? [search(item, executeOptions)] : [];
        }),
      ),
  };
}

function functionTool(
  { tool, description, schema, strict }: Usable,
  deferLoading: boolean,
): OpenAIFunctionTool {
  return {
    type: 'function',
    name: tool.name,
    description,
    parameters: schema,
    strict,
    ...(deferLoading && tool.deferred ? { defer_loading: true } : {}),
  };
}

function searchTool({ description, schema }: Usable): OpenAISearchTool {
  return { type: 'tool_search', execution: 'client', description, parameters: schema };
}

function isFunctionCall(item: { readonly type: string }): item is OpenAIFunctionCall {
  return item.type === 'function_call';
}

/** True for a search call that the provider has not executed itself. */
function isSearchCall(item: {
  readonly type: string;
  readonly execution?: unknown;
}): item is OpenAISearchCall {
  return item.type === 'tool_search_call' && item.execution !== 'server';
}

/** Converts a function's output for the Responses API. */
export function outputOf(answer: Answer, parts: readonly Part[]): string | OutputPart[] {
  if (answer.isError) return errorText(answer, parts);
  if (parts.every(({ type }) => type === 'text')) return textOf(parts);
  return mapParts<OutputPart>(parts, (text) => ({ type: 'input_text', text }), mediaOf);
}

function mediaOf(part: MediaPart): OutputPart | undefined {
  if (isImage(part)) return { type: 'input_image', image_url: dataUrl(part), detail: 'auto' };
  if (part.mimeType !== 'application/pdf') return undefined;
  return {
    type: 'input_file',
    filename: fileName(part),
    file_data: dataUrl(part),
  };
}
