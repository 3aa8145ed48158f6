/** Converts results of calls to text or to a JSON value. */

import type { ContentBlock } from '../catalog/accept-result.ts';
import { PlugboardError } from '../errors.ts';

interface Readable {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
}

/**
 * Returns the text of a result: its text blocks, joined by newlines. Images, audio and links are omitted.
 *
 * @param result - The result of a call.
 * @returns The text; empty if there is none.
 * @example
 * textOf({ content: [{ type: 'text', text: 'hi' }] }); // → 'hi'
 */
export function textOf({ content }: Pick<Readable, 'content'>): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

/**
 * Returns the value of a result: its structured content, else its text parsed as JSON. The type is not checked.
 *
 * @param result - The result of a call.
 * @returns The value, as the type that you name.
 * @throws PlugboardError PROTOCOL_ERROR if the tool failed, or its result is not JSON.
 * @example
 * jsonOf<{ id: number }>({ content: [{ type: 'text', text: '{"id":1}' }], isError: false }).id; // → 1
 */
export function jsonOf<T = unknown>(result: Readable): T {
  const text = textOf(result);
  if (result.isError === true) throw notJson(`The tool failed: ${text.slice(0, MAX_QUOTED_CHARS)}`);
  // The caller vouches for the type.
  if (result.structuredContent !== undefined) return result.structuredContent as T;
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw notJson('The result is not JSON', cause);
  }
}

const MAX_QUOTED_CHARS = 200;

function notJson(message: string, cause?: unknown): PlugboardError {
  return new PlugboardError('PROTOCOL_ERROR', message, {
    hint: 'Look at "isError" and "content" of the result, or use textOf().',
    cause,
  });
}
