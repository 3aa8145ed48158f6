/** Resolves mentions to messages appended to the text: each resource once, within size limits (CAT-9). */

import type { ResourceContents } from './accept-result.ts';
import type { Mention } from './mentions.ts';
import type { PromptMessage } from './prompts.ts';
import type { ReadResult } from './resources.ts';

/** Limit on different resources per text. */
export const MAX_ATTACHED_RESOURCES = 32;
/** Limit on characters (text and base64) of all attachments of one text: about 125,000 tokens. */
export const MAX_ATTACHED_CHARS = 500_000;

export interface Attached {
  readonly messages: readonly PromptMessage[];
  /** Unresolved mentions, as written. */
  readonly unknown: readonly string[];
}

/** Reads one mention; undefined if it cannot be read, which the reader has already reported. */
export type ReadMention = (mention: Mention) => Promise<ReadResult | undefined>;

export async function attach(mentions: readonly Mention[], read: ReadMention): Promise<Attached> {
  const distinct = [...new Map(mentions.map((mention) => [mention.text, mention])).values()];
  const wanted = distinct.slice(0, MAX_ATTACHED_RESOURCES);
  const results = await Promise.all(
    wanted.map(async (mention) => ({ mention, result: await read(mention) })),
  );
  const messages: PromptMessage[] = [];
  const unknown: string[] = [];
  let room = MAX_ATTACHED_CHARS;
  for (const { mention, result } of results) {
    if (result === undefined) unknown.push(mention.text);
    for (const contents of result?.contents ?? []) {
      const size = sizeOf(contents);
      messages.push(size <= room ? embedded(contents) : shortened(mention, contents, room));
      room = Math.max(0, room - size);
    }
  }
  const left = distinct.slice(MAX_ATTACHED_RESOURCES).map(({ text }) => text);
  if (left.length > 0) {
    messages.push(note(`${left.join(', ')} not attached: at most ${MAX_ATTACHED_RESOURCES} at once`));
  }
  return { messages, unknown };
}

function sizeOf(contents: ResourceContents): number {
  return 'text' in contents ? contents.text.length : contents.blob.length;
}

/** Truncates text that is too long; other contents are replaced by a note, since part of an image is useless. */
function shortened(mention: Mention, contents: ResourceContents, room: number): PromptMessage {
  const limit = `attachments may have ${MAX_ATTACHED_CHARS} characters together`;
  if (!('text' in contents) || room === 0) {
    return note(`${mention.text} (${sizeOf(contents)} characters) not attached: ${limit}`);
  }
  const text = `${contents.text.slice(0, room).toWellFormed()}\n[Cut after ${room} of ${contents.text.length} characters: ${limit}.]`;
  return embedded({ ...contents, text });
}

function embedded(resource: ResourceContents): PromptMessage {
  return { role: 'user', content: { type: 'resource', resource } };
}

function note(text: string): PromptMessage {
  return { role: 'user', content: { type: 'text', text: `[${text}]` } };
}
