/** Estimates the token cost of a result, serializes it as one text, and truncates it to a limit (CAL-5). */

import type { CallResult, ContentBlock } from '../catalog/accept-result.ts';
import { estimateTokens } from '../catalog/tokens.ts';
import { isRecord, parseJson } from '../lib/json.ts';

/** Images cost by their dimensions, not by their bytes; this is the cost of a large one. */
const IMAGE_TOKENS = 1_600;
/** The estimate of `catalog/tokens.ts`, inverted. */
const ASCII_TOKENS = 0.25;
const OTHER_TOKENS = 0.7;
/** Comparing a text with the structured content serializes both; above this limit it is not worth the memory. */
const MAX_COMPARED_CHARS: number = 4 * 1024 * 1024;

export interface Cost {
  readonly tokens: number;
  /** Additional cost of the structured content; 0 if the text has the same content. */
  readonly structured: number;
  /**
   * Whether the text is the serialized structured content, as the protocol recommends, or its only member, as in
   * `{ content: text }`.
   */
  readonly repeats: false | 'json' | 'member';
}

export function costOf(result: CallResult): Cost {
  let tokens = 0;
  for (const block of result.content) tokens += blockCost(block);
  const { structuredContent } = result;
  if (structuredContent === undefined) return { tokens, structured: 0, repeats: false };
  if (isOnlyMember(result)) return { tokens, structured: 0, repeats: 'member' };
  const written = JSON.stringify(structuredContent);
  // The same content in another form is not sent twice, so it is not counted twice.
  if (repeats(result, written)) return { tokens, structured: 0, repeats: 'json' };
  const structured = estimateTokens(written);
  return { tokens: tokens + structured, structured, repeats: false };
}

function blockCost(block: ContentBlock): number {
  switch (block.type) {
    case 'text':
      return estimateTokens(block.text);
    case 'image':
    case 'audio':
      return IMAGE_TOKENS;
    case 'resource': {
      const { resource } = block;
      return (
        estimateTokens('text' in resource ? resource.text : resource.blob) + estimateTokens(resource.uri)
      );
    }
    case 'resource_link':
      return estimateTokens(JSON.stringify(block));
    default:
      return block satisfies never;
  }
}

function isOnlyMember({ content, structuredContent }: CallResult): boolean {
  const [only, ...more] = content;
  if (only?.type !== 'text' || more.length > 0 || !isRecord(structuredContent)) return false;
  const values = Object.values(structuredContent);
  return values.length === 1 && values[0] === only.text;
}

function repeats({ content }: CallResult, written: string): boolean {
  const [only, ...more] = content;
  if (only?.type !== 'text' || more.length > 0 || only.text.length > MAX_COMPARED_CHARS) return false;
  if (only.text === written) return true;
  // Pretty-printed JSON is longer, never shorter.
  if (only.text.length < written.length) return false;
  return JSON.stringify(parseJson(only.text)) === written;
}

/** Returns everything as one text for a file: the text or the structured content alone if there is nothing else. */
export function wholeOf(result: CallResult, cost: Cost): { text: string; kind: 'txt' | 'json' } {
  const [only, ...more] = result.content;
  const alone = only?.type === 'text' && more.length === 0;
  if (alone && (result.structuredContent === undefined || cost.repeats !== false)) {
    return { text: only.text, kind: cost.repeats === 'json' ? 'json' : 'txt' };
  }
  if (only === undefined && result.structuredContent !== undefined)
    return { text: JSON.stringify(result.structuredContent, null, 1), kind: 'json' };
  return { text: JSON.stringify(result, null, 1), kind: 'json' };
}

export interface CutOptions {
  /** The limit that the result exceeds. */
  readonly max: number;
  /** The tokens of what is kept; less than the limit if the rest can be read in parts. */
  readonly kept: number;
  /** Where the whole result is, as sentences. */
  readonly where: string;
  readonly whole: string;
}

/** Truncates a result to the limit, in its order. Links come first, because they are short and lead to the rest. */
export function cutTo(result: CallResult, cost: Cost, { max, kept, where, whole }: CutOptions): CallResult {
  const size = `about ${cost.tokens} tokens (${Buffer.byteLength(whole)} bytes)`;
  const text = `[Cut: the whole result is ${size}, the limit is ${max}. ${where}]`;
  let room = Math.max(0, kept - estimateTokens(text));
  // Unknown fields have no size limit; they are in the file.
  const { structuredContent, extra: _extra, ...rest } = result;
  const keepsStructured =
    structuredContent !== undefined && cost.repeats === false && cost.structured <= room / 2;
  if (keepsStructured) room -= cost.structured;
  const links = new Set<ContentBlock>();
  let forLinks = room / 2;
  for (const block of result.content) {
    if (block.type !== 'resource_link') continue;
    const price = blockCost(block);
    if (price > forLinks) break;
    links.add(block);
    forLinks -= price;
    room -= price;
  }
  const content: ContentBlock[] = [];
  for (const block of result.content) {
    if (block.type === 'resource_link') {
      if (links.has(block)) content.push(block);
      continue;
    }
    const price = blockCost(block);
    if (price <= room) {
      content.push(block);
      room -= price;
      continue;
    }
    const part = partOf(block, room);
    if (part !== undefined) content.push(part);
    room = 0;
  }
  // Structured content without text: its first rows.
  if (result.content.length === 0 && !keepsStructured && room > 0)
    content.push({ type: 'text', text: beginning(whole, room) });
  return {
    ...rest,
    content: [...content, { type: 'text', text }],
    ...(keepsStructured ? { structuredContent } : {}),
  };
}

/** Returns the beginning of a block that is too long; undefined for types that cannot be split. */
function partOf(block: ContentBlock, room: number): ContentBlock | undefined {
  if (block.type === 'text') {
    const text = beginning(block.text, room);
    const { original: _original, ...rest } = block;
    return text === '' ? undefined : { ...rest, text };
  }
  if (block.type !== 'resource' || !('text' in block.resource)) return undefined;
  const { resource } = block;
  const text = beginning(resource.text, room - estimateTokens(resource.uri));
  return text === '' ? undefined : { ...block, resource: { ...resource, text } };
}

/** Returns the beginning of a text that has this many tokens. */
export function beginning(text: string, room: number): string {
  let left = room;
  let end = 0;
  while (end < text.length) {
    left -= text.charCodeAt(end) < 0x80 ? ASCII_TOKENS : OTHER_TOKENS;
    if (left < 0) break;
    end += 1;
  }
  // Copies the text, because a substring retains the whole string in memory. Drops half a surrogate pair at the end.
  if (end > 0 && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end -= 1;
  return Buffer.from(text.slice(0, end)).toString();
}
