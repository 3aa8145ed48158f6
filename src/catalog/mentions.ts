/** Finds `@server:scheme://path` mentions in a user's text, and attaches the resources they name (CAT-9). */

import type { ResourceContents } from './accept-result.ts';
import type { PromptMessage } from './prompts.ts';
import type { ReadResult } from './resources.ts';

export interface Mention {
  readonly server: string;
  readonly uri: string;
  /** As written: `@server:uri`. */
  readonly text: string;
}

export interface MentionedText {
  /** The text with `\@` before a mention replaced by `@`. */
  readonly text: string;
  /** In order of appearance; may contain duplicates. */
  readonly mentions: readonly Mention[];
}

/** A longer address is truncated and then not found. */
const MAX_MENTION_CHARS = 8_192;

/** An `@` after one of these belongs to an email address, a path or a package. */
const INSIDE_A_WORD = /[\w.+%@/-]/;
/** The address of a resource; any scheme, since known servers may define their own. */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:\S+/;
/** For unknown servers only unambiguous text is a mention. */
const FOREIGN = /^([^\s:@\\]{1,128}):([A-Za-z][A-Za-z0-9+.-]*:\/\/\S+)/;
/** Trailing punctuation is not part of the address. */
const PUNCTUATION = new Set('.,;:!?\'"`*…»”’。，、；：！？');
const BRACKETS: ReadonlyMap<string, string> = new Map([
  [')', '('],
  [']', '['],
  ['}', '{'],
  ['>', '<'],
]);

/**
 * Finds the mentions in a text.
 *
 * @example
 * findMentions('see (@docs:file:///a.md).', ['docs']).mentions;
 * // [{ server: 'docs', uri: 'file:///a.md', text: '@docs:file:///a.md' }]
 */
export function findMentions(text: string, servers: Iterable<string>): MentionedText {
  // A name may be a prefix of another: the longest match wins.
  const names = [...servers].sort((a, b) => b.length - a.length);
  const mentions: Mention[] = [];
  let out = '';
  let copied = 0;
  let from = 0;
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', from)) {
    from = at + 1;
    const before = text.charAt(at - 1);
    if (INSIDE_A_WORD.test(before)) continue;
    const mention = mentionAt(text, at, names);
    if (mention === undefined) continue;
    from = at + mention.text.length;
    if (before === '\\') {
      out += text.slice(copied, at - 1);
      copied = at;
    } else mentions.push(mention);
  }
  return { text: out + text.slice(copied), mentions };
}

function mentionAt(text: string, at: number, names: readonly string[]): Mention | undefined {
  for (const name of names) {
    if (!text.startsWith(`${name}:`, at + 1)) continue;
    const start = at + 1 + name.length + 1;
    const [run] = URI.exec(text.slice(start, start + MAX_MENTION_CHARS)) ?? [];
    if (run !== undefined) return mention(name, run);
  }
  const [, server, run] = FOREIGN.exec(text.slice(at + 1, at + 1 + MAX_MENTION_CHARS)) ?? [];
  return server === undefined || run === undefined ? undefined : mention(server, run);
}

function mention(server: string, run: string): Mention | undefined {
  const uri = withoutPunctuation(run);
  // Only a scheme is left, so it is not a mention.
  if (uri.endsWith(':') || !uri.includes(':')) return undefined;
  return { server, uri, text: `@${server}:${uri}` };
}

/** Removes trailing punctuation; a closing bracket stays if its opening one is part of the address. */
function withoutPunctuation(run: string): string {
  const count = new Map<string, number>();
  for (const char of run) count.set(char, (count.get(char) ?? 0) + 1);
  let end = run.length;
  for (; end > 0; end -= 1) {
    const char = run.charAt(end - 1);
    const opening = BRACKETS.get(char);
    if (opening === undefined ? !PUNCTUATION.has(char) : (count.get(opening) ?? 0) >= (count.get(char) ?? 0))
      break;
    count.set(char, (count.get(char) ?? 0) - 1);
  }
  return run.slice(0, end);
}

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
