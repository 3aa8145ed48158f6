/** Tools for Chat Completions, of OpenAI and of everything that speaks like it. */

import type { JsonSchema } from '../catalog/schemas/write.ts';
import type { AdapterHost, AdapterOptions, ExecuteOptions, QuarantinedTool } from './adapter-host.ts';
import { dataUrl, isImage, type MediaPart, type Part, partsOf, textOf } from './parts.ts';
import { Toolbox } from './toolbox.ts';

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

type UserPart = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } };

/** Images cannot stand in a tool's message: they follow in one of the user's. */
export interface OpenAIChatImagesMessage {
  role: 'user';
  content: UserPart[];
}

export interface OpenAIChatAdapter {
  /** For `tools` of the next request. */
  readonly tools: OpenAIChatTool[];
  readonly quarantined: readonly QuarantinedTool[];
  /** Answers one tool call in text; never rejects. */
  execute(call: OpenAIChatToolCall, options?: ExecuteOptions): Promise<OpenAIChatToolMessage>;
  /** Answers all calls of a message at the same time: their messages in order, then one with the images. */
  executeAll(
    calls: readonly { readonly type: string }[] | null | undefined,
    options?: ExecuteOptions,
  ): Promise<(OpenAIChatToolMessage | OpenAIChatImagesMessage)[]>;
}

interface ChatOptions extends AdapterOptions {
  readonly strict: boolean;
}

export function toOpenAIChat(host: AdapterHost, options: ChatOptions): OpenAIChatAdapter {
  const toolbox = new Toolbox<OpenAIChatTool>(host, {
    ...options,
    provider: 'openai',
    define: ({ tool, description, schema, strict }) => ({
      type: 'function',
      // Servers that only speak like OpenAI may not know the word, so it is left out where it says nothing.
      function: { name: tool.name, description, parameters: schema, ...(strict ? { strict } : {}) },
    }),
  });

  async function parts(call: OpenAIChatToolCall, { signal }: ExecuteOptions): Promise<readonly Part[]> {
    const { id, function: called } = call;
    return partsOf(await toolbox.call({ name: called.name, id, input: called.arguments, signal }));
  }

  return {
    get tools() {
      return [...toolbox.shelf.definitions.values()];
    },
    get quarantined() {
      return toolbox.shelf.quarantined;
    },
    execute: async (call, executeOptions = {}) => toolMessage(call, await parts(call, executeOptions)),
    executeAll: async (calls, executeOptions = {}) => {
      const made = (calls ?? []).filter(isFunctionCall);
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
  const images = parts.filter(isShown);
  if (images.length === 0) return [];
  return [
    { type: 'text', text: `[shown by ${name}, call ${id}]` },
    ...images.map((part): UserPart => ({ type: 'image_url', image_url: { url: dataUrl(part) } })),
  ];
}

function isShown(part: Part): part is MediaPart {
  return part.type === 'media' && isImage(part);
}
