/** Tools for Anthropic's Messages API, with deferred loading by `tool_reference` if the model supports it. */

import { TOOL_SEARCH } from '../catalog/deferral.ts';
import type { JsonSchema } from '../catalog/schemas/write-schema.ts';
import type { AdapterHost, AdapterOptions, ExecuteOptions, QuarantinedTool } from './adapter-host.ts';
import { foundNames, type OwnToolsOptions } from './adapter-own-tools.ts';
import type { Answer } from './answer.ts';
import { checkAdapter } from './check-options.ts';
import { type MediaPart, mapParts, type Part } from './parts.ts';
import { Toolbox } from './toolbox.ts';

/** A tool definition for Anthropic's Messages API. */
export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: JsonSchema & { type: 'object' };
  defer_loading?: true;
}

/** A `tool_use` block of the model's message. */
export interface AnthropicToolUse {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

type ImageType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';

export type AnthropicMedia =
  | { type: 'image'; source: { type: 'base64'; media_type: ImageType; data: string } }
  | { type: 'document'; source: { type: 'base64'; media_type: 'application/pdf'; data: string } };

export type AnthropicContent =
  | { type: 'text'; text: string }
  | AnthropicMedia
  | { type: 'tool_reference'; tool_name: string };

/** A `tool_result` block. */
export interface AnthropicToolResult {
  type: 'tool_result';
  tool_use_id: string;
  content: AnthropicContent[];
  is_error?: true;
}

/** Options of `toAnthropic`. */
export interface AnthropicOptions extends AdapterOptions, OwnToolsOptions {
  /**
   * The model supports `tool_reference` (default: no). Tools that a search finds are then loaded where they were
   * found, and the beginning of the prompt is unchanged, so that its cache is used. `found` has no effect.
   */
  readonly deferLoading?: boolean | undefined;
}

/** Tools for the Messages API of Anthropic, and the functions that run their calls. */
export interface AnthropicAdapter {
  /** For `tools` of the next request. */
  readonly tools: AnthropicTool[];
  /** Tools of the host that are not offered, with the reason. */
  readonly quarantined: readonly QuarantinedTool[];
  /** Whether calls of this name are executed here. */
  has(name: string): boolean;
  /** Executes one `tool_use` block; never rejects. */
  execute(call: AnthropicToolUse, options?: ExecuteOptions): Promise<AnthropicToolResult>;
  /**
   * Executes the `tool_use` blocks of a message, in parallel, with results in order. Calls of your `tools` without
   * `execute` are left to you.
   */
  executeAll(
    content: readonly { readonly type: string }[],
    options?: ExecuteOptions,
  ): Promise<AnthropicToolResult[]>;
}

/**
 * Creates the adapter for Anthropic's Messages API.
 *
 * @param host - The host, or a session of it.
 * @param options - Your own tools, deferred loading, media.
 * @returns The definitions for a request, and functions that run the calls of a response.
 * @throws PlugboardError `CONFIG_INVALID` if the first argument is not a host, or for an invalid option.
 * @example
 * const anthropic = toAnthropic(host);
 * anthropic.tools.map(({ name }) => name); // → ['mcp__demo__add']
 * const call = { type: 'tool_use', id: 'toolu_1', name: 'mcp__demo__add', input: { a: 1, b: 2 } };
 * const results = await anthropic.executeAll([{ type: 'text', text: 'Let me see.' }, call]);
 * results; // → [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: '3' }] }]
 */
export function toAnthropic(host: AdapterHost, options: AnthropicOptions = {}): AnthropicAdapter {
  checkAdapter('toAnthropic', host, options);
  const { deferLoading = false, tools: own, ...common } = options;
  /** Tools that the conversation refers to must be in every request, even after their server is gone. */
  const referred = new Map<string, AnthropicTool>();
  const toolbox: Toolbox<AnthropicTool> = new Toolbox(host, {
    ...common,
    ...(deferLoading ? { found: 'name' } : {}),
    provider: 'anthropic',
    media: options.media ?? 'anthropic',
    own,
    define: ({ tool, description, schema }) => ({
      name: tool.name,
      description,
      input_schema: { ...schema, type: 'object' },
      ...(deferLoading && tool.deferred ? { defer_loading: true } : {}),
    }),
  });

  async function execute(
    call: AnthropicToolUse,
    { signal }: ExecuteOptions = {},
  ): Promise<AnthropicToolResult> {
    const { id, name, input } = call;
    const answer = await toolbox.call({ name, id, input, signal });
    const references = deferLoading && name === TOOL_SEARCH ? refer(answer) : [];
    return {
      type: 'tool_result',
      tool_use_id: id,
      content: references.length > 0 ? references : contentOf(answer, toolbox.parts(answer)),
      ...(answer.isError ? { is_error: true } : {}),
    };
  }

  function refer(answer: Answer): AnthropicContent[] {
    const { definitions } = toolbox.shelf;
    return foundNames(answer).flatMap((name) => {
      const definition = definitions.get(name);
      if (definition?.defer_loading === undefined) return [];
      referred.set(name, definition);
      return [{ type: 'tool_reference', tool_name: name } as const];
    });
  }

  return {
    get tools() {
      const { definitions } = toolbox.shelf;
      const gone = [...referred].filter(([name]) => !definitions.has(name));
      return [...definitions.values(), ...gone.map(([, definition]) => definition)];
    },
    get quarantined() {
      return toolbox.shelf.quarantined;
    },
    has: (name) => toolbox.has(name),
    execute,
    executeAll: (content, executeOptions) =>
      Promise.all(
        content
          .filter(isToolUse)
          .filter(({ name }) => toolbox.answers(name))
          .map((call) => execute(call, executeOptions)),
      ),
  };
}

function isToolUse(block: { readonly type: string }): block is AnthropicToolUse {
  return block.type === 'tool_use';
}

function contentOf(answer: Answer, parts: readonly Part[]): AnthropicContent[] {
  // An error may contain text only.
  const media = answer.isError ? () => undefined : anthropicMedia;
  return mapParts<AnthropicContent>(parts, (text) => ({ type: 'text', text }), media);
}

export function anthropicMedia({ mimeType, data }: MediaPart): AnthropicMedia | undefined {
  switch (mimeType) {
    case 'image/jpeg':
    case 'image/png':
    case 'image/gif':
    case 'image/webp':
      return { type: 'image', source: { type: 'base64', media_type: mimeType, data } };
    case 'application/pdf':
      return { type: 'document', source: { type: 'base64', media_type: mimeType, data } };
    default:
      return undefined;
  }
}
