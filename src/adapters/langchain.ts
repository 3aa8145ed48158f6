/** Tools for LangChain and LangGraph: a live list, of plain tools or of LangChain's own. */

import { TOOL_SEARCH } from '../catalog/deferral.ts';
import type { JsonSchema } from '../catalog/schemas/write.ts';
import { isRecord } from '../lib/json-rpc.ts';
import type { AdapterHost, AdapterOptions } from './adapter-host.ts';
import type { Answer } from './answer.ts';
import { keepLive } from './live.ts';
import { MEDIA_TYPES } from './media.ts';
import { dataUrl, errorText, isImage, mapParts, type Part, textOf } from './parts.ts';
import { Toolbox } from './toolbox.ts';

const isImageType = (type: string): boolean => type.startsWith('image/');
const ANTHROPIC_IMAGES: ReadonlySet<string> = new Set(MEDIA_TYPES.anthropic.filter(isImageType));
const RESPONSES_IMAGES: ReadonlySet<string> = new Set(MEDIA_TYPES['openai-responses'].filter(isImageType));

export type LangChainContent =
  | string
  | ({ type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } })[];

/** The fields of a `ToolMessage` of LangChain. */
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
  /** The state of the graph, in agents. */
  readonly state?: unknown;
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

/** Options of `toLangChain`; `tools` as in {@link LangChainOptions}. */
export interface LangChainAdapterOptions<Own = LangChainTool> extends AdapterOptions {
  /** Tools of your own: first in the list. A tool of the host that has the name of one is left out. */
  readonly tools?: readonly Own[] | undefined;
  /**
   * As for every adapter. Default: images if the model of the conversation takes them in messages of the role `tool`
   * (ChatAnthropic, and ChatOpenAI with the Responses API), else none.
   */
  readonly media?: AdapterOptions['media'];
}

export interface LangChainOptions<Made> extends LangChainAdapterOptions<Made> {
  /** `tool` of `@langchain/core/tools`: makes tools that agents and graphs can run. */
  readonly tool: (run: Run, fields: LangChainFields) => Made;
}

/**
 * A list for `bindTools` and agents that is kept up to date with the host. Where it is copied, as in `createAgent`, tools
 * that `tool_search` finds are called through `call_tool`. Give LangChain's `tool` to get LangChain's own tools; they
 * check arguments before we do, and report invalid ones in LangChain's way. Their messages have the status `success` also
 * for errors; `artifact.isError` has the truth.
 *
 * @example
 * const tools = toLangChain(host); // or toLangChain(host, { tool })
 * const message = await tools[0].invoke({ type: 'tool_call', id: 'call_1', name: tools[0].name, args: { a: 1, b: 2 } });
 * [message.status, message.content]; // → ['success', '3']
 */
export function toLangChain<Made extends object>(host: AdapterHost, options: LangChainOptions<Made>): Made[];
export function toLangChain<Own extends { readonly name: string } = LangChainTool>(
  host: AdapterHost,
  options?: LangChainAdapterOptions<Own>,
): (LangChainTool | Own)[];
export function toLangChain<Made extends object>(
  host: AdapterHost,
  options: LangChainAdapterOptions<Made> & Partial<LangChainOptions<Made>> = {},
): (Made | LangChainTool)[] {
  const { tools: own = [], tool: ownMaker, ...common } = options;
  const tools: (Made | LangChainTool)[] = [...own];
  const make = ownMaker ?? plainTool;
  const toolbox: Toolbox<Made | LangChainTool> = new Toolbox<Made | LangChainTool>(host, {
    ...common,
    provider: 'ai-sdk',
    media: options.media ?? 'text',
    taken: new Set(
      own.flatMap((tool) => ('name' in tool && typeof tool.name === 'string' ? [tool.name] : [])),
    ),
    define: ({ tool, description, schema }) => {
      const { name, server } = tool;
      const run: Run = async (input, config) => {
        const id = config?.toolCall?.id ?? '';
        const media = options.media === undefined ? mediaOfModel(config?.state) : undefined;
        const answer = await toolbox.call({ name, id, input, signal: config?.signal, media });
        // A search changes the tools of its caller only, so there is no event.
        if (name === TOOL_SEARCH) refresh();
        const parts = toolbox.parts(answer, media);
        return [answer.isError ? errorText(answer, parts) : contentOf(parts), answer];
      };
      const metadata = { server, tool: tool.tool };
      return make(run, { name, description, schema, responseFormat: 'content_and_artifact', metadata });
    },
  });
  let given: readonly (Made | LangChainTool)[] = [];
  const refresh = keepLive(toolbox, tools, (target, { definitions }) => {
    const before = new Set(given);
    const others = target.filter((tool) => !before.has(tool));
    given = [...definitions.values()];
    target.splice(0, target.length, ...others, ...given);
  });
  return tools;
}

/** What the model takes that made the calls: the last message of the state names its provider. */
function mediaOfModel(state: unknown): ReadonlySet<string> | undefined {
  const messages = isRecord(state) ? state['messages'] : undefined;
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  const metadata = isRecord(last) ? last['response_metadata'] : undefined;
  if (!isRecord(metadata)) return undefined;
  if (metadata['model_provider'] === 'anthropic') return ANTHROPIC_IMAGES;
  const isResponses = metadata['model_provider'] === 'openai' && metadata['object'] === 'response';
  return isResponses ? RESPONSES_IMAGES : undefined;
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

function contentOf(parts: readonly Part[]): LangChainContent {
  if (!parts.some((part) => part.type === 'media' && isImage(part))) return textOf(parts);
  return mapParts<Exclude<LangChainContent, string>[number]>(
    parts,
    (text) => ({ type: 'text', text }),
    (part) => (isImage(part) ? { type: 'image_url', image_url: { url: dataUrl(part) } } : undefined),
  );
}
