/** Finds `@server:scheme://path` in what a person wrote; what merely looks similar stays text (CAT-9). */

export interface Mention {
  readonly server: string;
  readonly uri: string;
  /** As it was written: `@server:uri`. */
  readonly text: string;
}

export interface MentionedText {
  /** The text with `\@` before a mention written as the `@` that it stands for. */
  readonly text: string;
  /** In the order they were written; the same one may come again. */
  readonly mentions: readonly Mention[];
}

/** An address that goes on beyond this is cut, and then not found. */
const MAX_MENTION_CHARS = 8_192;

/** An `@` behind one of these belongs to an address, a path or a package, not to a mention. */
const INSIDE_A_WORD = /[\w.+%@/-]/;
/** The address of a resource: any scheme that a known server may have made up. */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:\S+/;
/** Of a server that nobody knows, only what cannot be anything else counts as a mention. */
const FOREIGN = /^([^\s:@\\]{1,128}):([A-Za-z][A-Za-z0-9+.-]*:\/\/\S+)/;
/** What ends a sentence ends the address too. */
const PUNCTUATION = new Set('.,;:!?\'"`*…»”’。，、；：！？');
const BRACKETS: ReadonlyMap<string, string> = new Map([
  [')', '('],
  [']', '['],
  ['}', '{'],
  ['>', '<'],
]);

/**
 * @example
 * findMentions('see (@docs:file:///a.md).', ['docs']).mentions;
 * // [{ server: 'docs', uri: 'file:///a.md', text: '@docs:file:///a.md' }]
 */
export function findMentions(text: string, servers: Iterable<string>): MentionedText {
  // A name may begin with another one: the longest that fits is meant.
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
  // Only a scheme is left: nothing was meant by it.
  if (uri.endsWith(':') || !uri.includes(':')) return undefined;
  return { server, uri, text: `@${server}:${uri}` };
}

/** A closing bracket stays when its opening one is part of the address. */
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
