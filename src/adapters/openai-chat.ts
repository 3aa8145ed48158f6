/** Tools for Chat Completions, of OpenAI and compatible servers. */

import type { JsonSchema } from '../catalog/schemas/write-schema.ts';
import type { AdapterHost, AdapterOptions, ExecuteOptions, QuarantinedTool } from './adapter-host.ts';
import type { OwnToolsOptions } from './adapter-own-tools.ts';
import { dataUrl, errorText, fileName, isImage, type MediaPart, type Part, textOf } from './parts.ts';
import { Toolbox } from './toolbox.ts';

/** A tool definition for Chat Completions. */
export interface OpenAIChatTool {
  type: 'function';
  function: { name: string; description: string; parameters: JsonSchema; strict?: true };
}

/** One of the `tool_calls` of the model's message. */
export interface OpenAIChatToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface OpenAIChatToolMessage {
  role: 'tool';
  tool_call_id: string;
  content: string;
}

type UserPart =
  | { type: 'text'; text: string }
  | { type: 'image_url'; image_url: { url: string } }
  | { type: 'file'; file: { filename: string; file_data: string } }
  | { type: 'input_audio'; input_audio: { data: string; format: 'wav' | 'mp3' } };

/** A single result is one message, which may contain text only. */
const NO_MEDIA: ReadonlySet<string> = new Set();

/** A tool's message may contain text only: images follow in a message of the user. */
export interface OpenAIChatImagesMessage {
  role: 'user';
  content: UserPart[];
}

/** Tools for the Chat Completions API of OpenAI, and the functions that run their calls. */
export interface OpenAIChatAdapter {
  /** For `tools` of the next request. */
  readonly tools: OpenAIChatTool[];
  /** Tools of the host that are not offered, with the reason. */
  readonly quarantined: readonly QuarantinedTool[];
  /** Whether calls of this name are executed here. */
  has(name: string): boolean;
  /** Executes one tool call, with a text result; never rejects. */
  execute(call: OpenAIChatToolCall, options?: ExecuteOptions): Promise<OpenAIChatToolMessage>;
  /**
   * Executes the calls of a message in parallel: returns their messages in order, then one with the images. Calls of
   * your `tools` without `execute` are left to you: put the messages for them before the one of the role `user`.
   */
  executeAll(
    calls: readonly { readonly type: string }[] | null | undefined,
    options?: ExecuteOptions,
  ): Promise<(OpenAIChatToolMessage | OpenAIChatImagesMessage)[]>;
}

interface ChatOptions extends AdapterOptions, OwnToolsOptions {
  readonly strict: boolean;
}

export function toOpenAIChat(host: AdapterHost, options: ChatOptions): OpenAIChatAdapter {
  const { tools: own, ...common } = options;
  const toolbox = new Toolbox<OpenAIChatTool>(host, {
    ...common,
    provider: 'openai',
    media: options.media ?? 'openai-chat',
    own,
    define: ({ tool, description, schema, strict }) => ({
      type: 'function',
      // Compatible servers may not support the field, so it is omitted where it has no effect.
      function: { name: tool.name, description, parameters: schema, ...(strict ? { strict } : {}) },
    }),
  });

  async function parts(
    call: OpenAIChatToolCall,
    { signal }: ExecuteOptions,
    media?: ReadonlySet<string>,
  ): Promise<readonly Part[]> {
    const { id, function: called } = call;
    const answer = await toolbox.call({ name: called.name, id, input: called.arguments, signal, media });
    const all = toolbox.parts(answer, media);
    return answer.isError ? [{ type: 'text', text: errorText(answer, all) }] : all;
  }

  return {
    get tools() {
      return [...toolbox.shelf.definitions.values()];
    },
    get quarantined() {
      return toolbox.shelf.quarantined;
    },
    has: (name) => toolbox.has(name),
    execute: async (call, executeOptions = {}) =>
      toolMessage(call, await parts(call, executeOptions, NO_MEDIA)),
    executeAll: async (calls, executeOptions = {}) => {
      const made = (calls ?? []).filter(isFunctionCall).filter((call) => toolbox.answers(call.function.name));
      const answers = await Promise.all(
        made.map(async (call) => ({ call, parts: await parts(call, executeOptions) })),
      );
      const messages = answers.map((answer) => toolMessage(answer.call, answer.parts.map(announced)));
      const images = answers.flatMap((answer) => imagesOf(answer.call, answer.parts));
      return images.length === 0 ? messages : [...messages, { role: 'user', content: images }];
    },
  };
}

function isFunctionCall(call: { readonly type: string }): call is OpenAIChatToolCall {
  return call.type === 'function';
}

function toolMessage({ id }: OpenAIChatToolCall, parts: readonly Part[]): OpenAIChatToolMessage {
  return { role: 'tool', tool_call_id: id, content: textOf(parts) };
}

function announced(part: Part): Part {
  return isShown(part) ? { type: 'text', text: `[${part.mimeType}: in the message that follows]` } : part;
}

function imagesOf({ id, function: { name } }: OpenAIChatToolCall, parts: readonly Part[]): UserPart[] {
  const shown = parts.flatMap((part) => (part.type === 'media' ? (userPart(part) ?? []) : []));
  return shown.length === 0 ? [] : [{ type: 'text', text: `[shown by ${name}, call ${id}]` }, ...shown];
}

function isShown(part: Part): part is MediaPart {
  return part.type === 'media' && userPart(part) !== undefined;
}

function userPart(part: MediaPart): UserPart | undefined {
  if (isImage(part)) return { type: 'image_url', image_url: { url: dataUrl(part) } };
  const { mimeType, data } = part;
  if (mimeType === 'application/pdf')
    return { type: 'file', file: { filename: fileName(part), file_data: dataUrl(part) } };
  const format = mimeType === 'audio/wav' ? 'wav' : mimeType === 'audio/mpeg' ? 'mp3' : undefined;
  return format === undefined ? undefined : { type: 'input_audio', input_audio: { data, format } };
}
