/** The values that handlers may return, and their conversion to the protocol's form. */

import type { ContentBlock, ResourceContents } from '../catalog/accept-result.ts';
import type { Params } from '../endpoint/client-era.ts';
import { isRecord } from '../lib/json.ts';

/** A complete result, for tools that return more than one value. */
export interface ToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: Readonly<Record<string, unknown>> | undefined;
  readonly isError?: boolean | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

/** One message of a prompt. */
export interface PromptMessage {
  readonly role: 'user' | 'assistant';
  readonly content: ContentBlock;
}

/** The messages of a prompt. */
export interface PromptResult {
  readonly description?: string | undefined;
  readonly messages: readonly PromptMessage[];
}

/** Text, bytes, or contents in the protocol's form. */
export type ResourceReturn = string | Uint8Array | ResourceContents | readonly ResourceContents[];

/** The values that a handler of a prompt may return. */
export type PromptReturn = string | readonly PromptMessage[] | PromptResult;

/** Converts a returned value: text, blocks and whole results are kept; everything else is serialized as JSON. */
export function toToolResult(returned: unknown): Params {
  if (typeof returned === 'string') return { content: [{ type: 'text', text: returned }] };
  if (returned === undefined || returned === null) return { content: [] };
  if (isToolResult(returned)) return { ...returned };
  if (isBlock(returned)) return { content: [returned] };
  if (Array.isArray(returned) && returned.length > 0 && returned.every(isBlock)) return { content: returned };
  // JSON cannot represent a function or a symbol.
  return { content: [{ type: 'text', text: JSON.stringify(returned) ?? String(returned) }] };
}

/** Converts a value of the tool's output schema; older clients read it as text. */
export function toStructuredResult(value: unknown): Params {
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value };
}

export function toErrorResult(text: string): Params {
  return { content: [{ type: 'text', text }], isError: true };
}

export function isToolResult(value: unknown): value is ToolResult {
  return isRecord(value) && Array.isArray(value['content']) && value['content'].every(isBlock);
}

export function toContents(
  returned: ResourceReturn,
  uri: string,
  mimeType: string | undefined,
): readonly ResourceContents[] {
  const type = mimeType === undefined ? {} : { mimeType };
  if (typeof returned === 'string') return [{ uri, ...type, text: returned }];
  if (returned instanceof Uint8Array) {
    return [{ uri, ...type, blob: Buffer.from(returned).toString('base64') }];
  }
  return [returned].flat();
}

export function toPromptResult(returned: PromptReturn): Params {
  if (typeof returned === 'string') {
    return { messages: [{ role: 'user', content: { type: 'text', text: returned } }] };
  }
  return 'messages' in returned ? { ...returned } : { messages: returned };
}

function isBlock(value: unknown): value is ContentBlock {
  return isRecord(value) && typeof value['type'] === 'string';
}
