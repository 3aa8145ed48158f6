/** The types of the protocol's `sampling/createMessage`: request and result. */

import type { Params } from './peer.ts';

/** One part of a message of a sampling request. */
export type SampleContent =
  | { readonly type: 'text'; readonly text: string; readonly [member: string]: unknown }
  | {
      readonly type: 'image' | 'audio';
      readonly data: string;
      readonly mimeType: string;
      readonly [member: string]: unknown;
    }
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly input: Params;
      readonly [member: string]: unknown;
    }
  | {
      readonly type: 'tool_result';
      readonly toolUseId: string;
      readonly content: readonly unknown[];
      readonly structuredContent?: unknown;
      readonly isError?: boolean;
      readonly [member: string]: unknown;
    };

/** One message of a sampling request. */
export interface SampleMessage {
  readonly role: 'user' | 'assistant';
  /** One block, or several. */
  readonly content: SampleContent | readonly SampleContent[];
  readonly [member: string]: unknown;
}

/** A tool that the server runs itself: answer with `tool_use`, and its next request contains the result. */
export interface SampleTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Params;
  readonly [member: string]: unknown;
}

/** Validated, cleaned, and with `maxTokens` limited. */
export interface SampleParams extends Params {
  readonly messages: readonly SampleMessage[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly includeContext?: string;
  readonly modelPreferences?: {
    readonly hints?: readonly { readonly name?: string }[];
    readonly costPriority?: number;
    readonly speedPriority?: number;
    readonly intelligencePriority?: number;
  };
  /** Only with `sampling: { tools: true }`. */
  readonly tools?: readonly SampleTool[];
  readonly toolChoice?: { readonly mode?: 'auto' | 'required' | 'none' };
  readonly metadata?: Params;
  readonly _meta?: Params;
}

/**
 * The result of `sample`. With `stopReason: 'toolUse'` the content has `tool_use` blocks.
 *
 * @example
 * const sample = async ({ params }: SampleRequest) =>
 *   ({ role: 'assistant', model: 'mine', content: { type: 'text', text: 'Hello' } }) satisfies SampleResult;
 */
export interface SampleResult {
  readonly role: 'user' | 'assistant';
  readonly content: SampleContent | readonly SampleContent[];
  readonly model: string;
  readonly stopReason?:
    | 'endTurn'
    | 'stopSequence'
    | 'maxTokens'
    | 'toolUse'
    | (string & Record<never, never>);
  readonly _meta?: Params;
}
