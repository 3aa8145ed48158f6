/** Tools for OpenAI: selects one of its two APIs, and has the options of both. */

import type { AdapterHost, AdapterOptions } from './adapter-host.ts';
import type { OwnToolsOptions } from './adapter-own-tools.ts';
import { checkAdapter } from './check-options.ts';
import { type OpenAIChatAdapter, toOpenAIChat } from './openai-chat.ts';
import { type OpenAIResponsesAdapter, toOpenAIResponses } from './openai-responses.ts';

/** Options of `toOpenAI`. */
export interface OpenAIOptions extends AdapterOptions, OwnToolsOptions {
  /** Which API the tools are for (default: `responses`). */
  readonly api?: 'responses' | 'chat' | undefined;
  /** Use strict mode where the schema allows it (default: yes). */
  readonly strict?: boolean | undefined;
  /**
   * The model supports `tool_search` (default: no; Responses only). Tools that it finds are then loaded where they
   * were found, and the beginning of the prompt is unchanged, so that its cache is used. `found` has no effect.
   */
  readonly deferLoading?: boolean | undefined;
}

/**
 * Creates the adapter for the Responses API, or with `api: 'chat'` for Chat Completions and compatible servers.
 *
 * @param host - The host, or a session of it.
 * @param options - `api`, your own tools, media.
 * @returns The definitions for a request, and functions that run the calls of a response.
 * @throws PlugboardError `CONFIG_INVALID` if the first argument is not a host, or for an invalid option.
 * @example
 * const openai = toOpenAI(host);
 * openai.tools.map(({ name, strict }) => [name, strict]); // → [['mcp__demo__add', true]]
 * const call = { type: 'function_call', call_id: 'call_1', name: 'mcp__demo__add', arguments: '{"a":1,"b":2}' };
 * const items = await openai.executeAll([call]);
 * items; // → [{ type: 'function_call_output', call_id: 'call_1', output: '3' }]
 *
 * const chat = toOpenAI(host, { api: 'chat' });
 * const toolCall = { id: 'call_1', type: 'function', function: { name: 'mcp__demo__add', arguments: '{"a":1,"b":2}' } };
 * const messages = await chat.executeAll([toolCall]);
 * messages; // → [{ role: 'tool', tool_call_id: 'call_1', content: '3' }]
 */
export function toOpenAI(
  host: AdapterHost,
  options: OpenAIOptions & { readonly api: 'chat' },
): OpenAIChatAdapter;
export function toOpenAI(
  host: AdapterHost,
  options?: OpenAIOptions & { readonly api?: 'responses' | undefined },
): OpenAIResponsesAdapter;
export function toOpenAI(
  host: AdapterHost,
  options: OpenAIOptions = {},
): OpenAIChatAdapter | OpenAIResponsesAdapter {
  checkAdapter('toOpenAI', host, options);
  const { api, strict = true, deferLoading = false, ...common } = options;
  return api === 'chat'
    ? toOpenAIChat(host, { ...common, strict })
    : toOpenAIResponses(host, { ...common, strict, deferLoading });
}
