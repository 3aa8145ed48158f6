/** Converts messages of prompts, mentions and resources to the form of each provider. */

import type { ContentBlock, ResourceContents } from '../catalog/accept-result.ts';
import type { PromptMessage } from '../catalog/prompts.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import { type AnthropicMedia, anthropicMedia } from './anthropic.ts';
import { type MediaFamily, mediaLimits, mediaTypes, shownParts } from './media.ts';
import { dataUrl, fileName, isImage, type MediaPart, mapParts, type Part, partsOf, textOf } from './parts.ts';

/** The results of `host.prompt()`, `host.expand()` (`messages`) and `host.read()` (`contents`). */
export type MessageSource =
  | { readonly messages: readonly PromptMessage[] }
  | { readonly contents: readonly ResourceContents[] };

/** A message of the AI SDK: a `ModelMessage`. */
export type AiSdkMessage =
  | {
      role: 'user';
      content: (
        | { type: 'text'; text: string }
        | { type: 'image'; image: string; mediaType: string }
        | { type: 'file'; data: string; mediaType: string }
      )[];
    }
  | { role: 'assistant'; content: string };

/** A message of Anthropic's Messages API. */
export interface AnthropicMessage {
  role: 'user' | 'assistant';
  content: ({ type: 'text'; text: string } | AnthropicMedia)[];
}

/** An item of the `input` of OpenAI's Responses API. */
export type OpenAIMessage =
  | {
      role: 'user';
      content: (
        | { type: 'input_text'; text: string }
        | { type: 'input_image'; image_url: string; detail: 'auto' }
        | { type: 'input_file'; filename: string; file_data: string }
      )[];
    }
  | { role: 'assistant'; content: string };

/** A message of Chat Completions. */
export type OpenAIChatMessage =
  | {
      role: 'user';
      content: (
        | { type: 'text'; text: string }
        | { type: 'image_url'; image_url: { url: string } }
        | { type: 'file'; file: { filename: string; file_data: string } }
      )[];
    }
  | { role: 'assistant'; content: string };

/** A `Content` of Gemini. */
export interface GeminiMessage {
  role: 'user' | 'model';
  parts: ({ text: string } | { inlineData: { mimeType: string; data: string } })[];
}

/** The message type of each provider. */
export interface ProviderMessages {
  'ai-sdk': AiSdkMessage;
  anthropic: AnthropicMessage;
  'openai-responses': OpenAIMessage;
  'openai-chat': OpenAIChatMessage;
  gemini: GeminiMessage;
}

/** The media that each accepts in a message of the user. */
const MEDIA: Readonly<Record<keyof ProviderMessages, MediaFamily>> = {
  'ai-sdk': 'common',
  anthropic: 'anthropic',
  'openai-responses': 'openai-responses',
  // A message of the user may contain more media than a tool's.
  'openai-chat': 'openai-responses',
  gemini: 'gemini-2',
};

/**
 * Converts a prompt, expanded text or a resource to messages for the conversation with a provider's model. Media that
 * the provider does not accept becomes a note.
 *
 * @param source - The result of `prompt()`, `expand()` or `read()`.
 * @param provider - The form of the messages.
 * @returns Messages for the conversation.
 * @example
 * const prompt = { messages: [{ role: 'user', content: { type: 'text', text: 'Review this.' } }] };
 * toMessages(prompt, 'anthropic'); // → [{ role: 'user', content: [{ type: 'text', text: 'Review this.' }] }]
 * toMessages(prompt, 'gemini'); // → [{ role: 'user', parts: [{ text: 'Review this.' }] }]
 */
export function toMessages<Provider extends keyof ProviderMessages>(
  source: MessageSource,
  provider: Provider,
): ProviderMessages[Provider][] {
  checkMessages(source, provider);
  const write: (role: PromptMessage['role'], parts: readonly Part[]) => ProviderMessages[Provider] =
    WRITERS[provider];
  return messagesOf(source).map(({ role, content }) => write(role, partsFor(content, role, MEDIA[provider])));
}

function checkMessages(source: unknown, provider: string): void {
  if (!Object.hasOwn(WRITERS, provider))
    throw new PlugboardError('CONFIG_INVALID', `toMessages: ${JSON.stringify(provider)} is not a provider`, {
      hint: `There are ${Object.keys(WRITERS).join(', ')}.`,
    });
  if (!isRecord(source) || !(Array.isArray(source['messages']) || Array.isArray(source['contents'])))
    throw new PlugboardError('CONFIG_INVALID', 'toMessages: the source has neither messages nor contents', {
      hint: 'Give the result of host.prompt(), host.expand() or host.read(), which are promises.',
    });
}

/** A resource becomes one message of the user. */
function messagesOf(source: MessageSource): { role: PromptMessage['role']; content: ContentBlock[] }[] {
  if ('messages' in source) return source.messages.map(({ role, content }) => ({ role, content: [content] }));
  return [
    { role: 'user', content: source.contents.map((resource) => ({ type: 'resource', resource }) as const) },
  ];
}

/** A model's own messages are text for every provider. */
function partsFor(
  content: readonly ContentBlock[],
  role: PromptMessage['role'],
  family: MediaFamily,
): readonly Part[] {
  const media = role === 'assistant' ? 'text' : family;
  return shownParts(partsOf({ content, isError: false }), mediaTypes(media), mediaLimits(media));
}

type Role = PromptMessage['role'];

type Written<Content> = { role: 'user'; content: Content[] } | { role: 'assistant'; content: string };

/** Writes parts in the messages of the user, and text in those of the model. */
function written<Content>(
  text: (text: string) => Content,
  media: (part: MediaPart) => Content,
): (role: Role, parts: readonly Part[]) => Written<Content> {
  return (role, parts) =>
    role === 'assistant'
      ? { role, content: textOf(parts) }
      : { role, content: mapParts<Content>(parts, text, media) };
}

type ContentOf<Message> = Extract<
  Message,
  { role: 'user'; content: unknown }
>['content'] extends (infer Content)[]
  ? Content
  : never;

const WRITERS: {
  readonly [Provider in keyof ProviderMessages]: (
    role: Role,
    parts: readonly Part[],
  ) => ProviderMessages[Provider];
} = {
  'ai-sdk': written<ContentOf<AiSdkMessage>>(
    (text) => ({ type: 'text', text }),
    ({ data, mimeType: mediaType }) =>
      mediaType.startsWith('image/')
        ? { type: 'image', image: data, mediaType }
        : { type: 'file', data, mediaType },
  ),
  anthropic: (role, parts) => ({
    role,
    content: mapParts<AnthropicMessage['content'][number]>(
      parts,
      (text) => ({ type: 'text', text }),
      anthropicMedia,
    ),
  }),
  'openai-responses': written<ContentOf<OpenAIMessage>>(
    (text) => ({ type: 'input_text', text }),
    (part) =>
      isImage(part)
        ? { type: 'input_image', image_url: dataUrl(part), detail: 'auto' }
        : { type: 'input_file', filename: fileName(part), file_data: dataUrl(part) },
  ),
  'openai-chat': written<ContentOf<OpenAIChatMessage>>(
    (text) => ({ type: 'text', text }),
    (part) =>
      isImage(part)
        ? { type: 'image_url', image_url: { url: dataUrl(part) } }
        : { type: 'file', file: { filename: fileName(part), file_data: dataUrl(part) } },
  ),
  gemini: (role, parts) => ({
    role: role === 'assistant' ? 'model' : 'user',
    parts: mapParts<GeminiMessage['parts'][number]>(
      parts,
      (text) => ({ text }),
      ({ mimeType, data }) => ({ inlineData: { mimeType, data } }),
    ),
  }),
};
