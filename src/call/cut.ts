/** What a result costs a model, all of it as one text, and as much of it as fits (CAL-5). */

import type { CallResult, ContentBlock } from '../catalog/accept-result.ts';
import { estimateTokens } from '../catalog/tokens.ts';

/** Room for the note that says what was cut. */
const NOTE_TOKENS = 150;
/** Pictures cost by their size on screen, not by their bytes; this is what a large one costs. */
const IMAGE_TOKENS = 1_600;
/** The estimate of `catalog/tokens.ts`, turned around. */
const ASCII_TOKENS = 0.25;
const OTHER_TOKENS = 0.7;
/** Comparing a text with the structured content writes both out; above this it is not worth its memory. */
const MAX_COMPARED_CHARS: number = 4 * 1024 * 1024;

export interface Cost {
  readonly tokens: number;
  /** What the structured content adds; nothing when the text says the same. */
  readonly structured: number;
  /** Whether the text is the structured content written out, as the protocol advises. */
  readonly repeats: boolean;
}

export function costOf(result: CallResult): Cost {
  let tokens = 0;
  for (const block of result.content) tokens += blockCost(block);
  const { structuredContent } = result;
  if (structuredContent === undefined) return { tokens, structured: 0, repeats: false };
  const written = JSON.stringify(structuredContent);
  // The same again in another form is not sent twice, so it is not counted twice.
  if (repeats(result, written)) return { tokens, structured: 0, repeats: true };
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

function repeats({ content }: CallResult, written: string): boolean {
  const [only, ...more] = content;
  if (only?.type !== 'text' || more.length > 0 || only.text.length > MAX_COMPARED_CHARS) return false;
  if (only.text === written) return true;
  // Written out with spaces it is longer, and never shorter.
  if (only.text.length < written.length) return false;
  try {
    return JSON.stringify(JSON.parse(only.text)) === written;
  } catch {
    return false;
  }
}

/** Everything as one text for a file: the text itself where there is nothing else. */
export function wholeOf(result: CallResult, cost: Cost): { text: string; kind: 'txt' | 'json' } {
  const [only, ...more] = result.content;
  const alone = only?.type === 'text' && more.length === 0;
  if (alone && (result.structuredContent === undefined || cost.repeats)) {
    return { text: only.text, kind: cost.repeats ? 'json' : 'txt' };
  }
  return { text: JSON.stringify(result, null, 1), kind: 'json' };
}

export interface CutOptions {
  readonly max: number;
  readonly file: string;
  readonly whole: string;
}

/** As much as fits, in its order. Links go first, because they are short and lead to the rest. */
export function cutTo(result: CallResult, cost: Cost, { max, file, whole }: CutOptions): CallResult {
  let room = Math.max(0, max - NOTE_TOKENS);
  // What is not known has no bound either; it is in the file.
  const { structuredContent, extra: _extra, ...rest } = result;
  const keepsStructured = structuredContent !== undefined && !cost.repeats && cost.structured <= room / 2;
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
  const lines = whole.includes('\n') ? 'lines' : 'characters';
  const size = `about ${cost.tokens} tokens (${Buffer.byteLength(whole)} bytes)`;
  const where =
    file === ''
      ? 'It was not saved; ask the tool for less.'
      : `All of it is in ${file}; read it there in parts, by ${lines}, or ask the tool for less.`;
  const text = `[Cut: the whole result is ${size}, the limit is ${max}. ${where}]`;
  return {
    ...rest,
    content: [...content, { type: 'text', text }],
    ...(keepsStructured ? { structuredContent } : {}),
  };
}

/** The beginning of a block that is too long; nothing of what cannot be read in parts. */
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

function beginning(text: string, room: number): string {
  let left = room;
  let end = 0;
  while (end < text.length) {
    left -= text.charCodeAt(end) < 0x80 ? ASCII_TOKENS : OTHER_TOKENS;
    if (left < 0) break;
    end += 1;
  }
  // A copy: a part of a string keeps all of it in memory. Half a pair of surrogates at the end goes.
  if (end > 0 && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end -= 1;
  return Buffer.from(text.slice(0, end)).toString();
}
