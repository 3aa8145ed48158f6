/**
 * Scans a server's tool definitions for attacks and reports findings. It decides nothing: an attacker can always find
 * text that no rule matches, so approval and pins are the protection. bench/policy-scan.mjs measures its detection
 * rate.
 */

import { isRecord } from '../lib/json.ts';
import { clean, hidesAnything, reveal } from './clean.ts';
import { RULES_OF_LANGUAGES } from './scan-languages.ts';
import { twinsAmong } from './scan-names.ts';
import { RULES_OF_SENTENCES } from './scan-rules.ts';
import { viewsOf } from './scan-views.ts';
import type { FindingKind, Rule } from './scan-words.ts';

export interface Finding {
  readonly tool: string;
  readonly kind: FindingKind;
  /** One clause that describes the suspicion. */
  readonly what: string;
  /** The suspicious text, safe to show. */
  readonly quote: string;
}

export interface ScannedTool {
  readonly tool: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

const MAX_QUOTE_CHARS = 120;
/** Limit per text; matching is linear, and longer descriptions are rarely read. */
const MAX_SCANNED_CHARS = 20_000;
const MAX_TEXTS_PER_TOOL = 500;
const MAX_DEPTH = 20;
/** Parameter names are scanned too, if they are long enough to contain a message. */
const MIN_NAME_CHARS = 24;

/** A longer sentence is scanned in overlapping pieces. */
const MAX_SENTENCE_CHARS = 600;
const OVERLAP_CHARS = 100;

const WHAT: Readonly<Record<FindingKind, string>> = {
  instruct: 'it speaks to the model instead of describing the tool',
  secrets: 'it asks for secrets or for files that hold them',
  cross: 'it tells the model how to use tools of others',
  conceal: 'it wants something kept from the user',
  exfil: 'it asks for data to be sent somewhere',
  prefer: 'it wants to be used before or instead of everything else',
  hidden: 'it holds text that people do not see',
  twin: 'its name looks like that of another tool',
};

const RULES: readonly Rule[] = [...RULES_OF_SENTENCES, ...RULES_OF_LANGUAGES];
/** Text that is present but not visible: comments, and text pushed out of sight by blanks or line breaks. */
const UNSEEN = /<!--[\s\S]{0,400}?-->|[^\s][^\S\n]{40,}\S|(?<!\n)\n{15,}\S/;
/** Long encoded runs without a readable decoding: suspicious if the text asks to decode them, or by length. */
const ENCODED = /\b(?:decode|base64)\b[\s\S]{0,60}[A-Za-z0-9+/]{40,}={0,2}|[A-Za-z0-9+/]{120,}={0,2}/i;

/** Returns suspected attacks in the tools of one server, at most one finding of each kind per tool. */
export function scanListing(tools: readonly ScannedTool[]): Finding[] {
  const twins = twinsAmong(tools.map(({ tool }) => tool));
  return tools.flatMap((tool) => {
    const kinds = new Map<FindingKind, Finding>();
    const twin = twins.get(tool.tool);
    if (twin !== undefined)
      kinds.set('twin', { ...named(tool), kind: 'twin', what: WHAT.twin, quote: reveal(twin) });
    for (const text of textsOf(tool)) {
      for (const { kind, what, quote } of scanText(text)) {
        if (!kinds.has(kind)) kinds.set(kind, { ...named(tool), kind, what, quote });
      }
    }
    return [...kinds.values()];
  });
}

function named({ tool }: ScannedTool): Pick<Finding, 'tool'> {
  return { tool: clean(tool, { multiline: false }) };
}

export function scanText(whole: string): Omit<Finding, 'tool'>[] {
  const text = whole.slice(0, MAX_SCANNED_CHARS);
  const found = new Map<FindingKind, string>();
  const note = (kind: FindingKind, quote: () => string): void => {
    if (!found.has(kind)) found.set(kind, quote());
  };
  if (hidesAnything(text)) note('hidden', () => shown(text, firstHidden(text)));
  // Hidden text is scanned too, since attacks are often there.
  const plain = text.normalize('NFKC').replace(/[\u200b-\u200f\u2060\ufeff\u00ad]/g, '');
  const unseen = UNSEEN.exec(plain) ?? ENCODED.exec(plain);
  if (unseen !== null) note('hidden', () => shown(plain, unseen.index));
  for (const view of viewsOf(plain)) {
    for (const sentence of sentencesOf(view.text)) {
      for (const { kind, all } of RULES) {
        if (found.has(kind) || !all.every((pattern) => pattern.test(sentence))) continue;
        note(kind, () => shown(sentence, all[0]?.exec(sentence)?.index ?? 0));
        if (view.hidden) note('hidden', () => shown(sentence, 0));
      }
    }
  }
  return Array.from(found, ([kind, quote]) => ({ kind, what: WHAT[kind], quote }));
}

/** Splits text into sentences: word classes within one sentence are significant; across sentences they rarely are. */
function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.!?;])\s+|\n+|(?<=[。！？；])/u).flatMap((sentence) => {
    if (sentence.length <= MAX_SENTENCE_CHARS) return [sentence];
    const pieces: string[] = [];
    for (let at = 0; at < sentence.length; at += MAX_SENTENCE_CHARS - OVERLAP_CHARS) {
      pieces.push(sentence.slice(at, at + MAX_SENTENCE_CHARS));
    }
    return pieces;
  });
}

function firstHidden(text: string): number {
  const shownText = reveal(text);
  let at = 0;
  while (at < text.length && text[at] === shownText[at]) at++;
  return at;
}

function shown(text: string, at: number): string {
  const quote = text.slice(Math.max(0, at - 10), at + MAX_QUOTE_CHARS).toWellFormed();
  return reveal(quote.replace(/\s+/g, ' ').trim());
}

/** Returns all texts of a definition that a model reads, including descriptions of parameters. */
function textsOf({ title, description, inputSchema }: ScannedTool): string[] {
  const texts = [title ?? '', description];
  const walk = (value: unknown, depth: number): void => {
    if (texts.length >= MAX_TEXTS_PER_TOOL || depth > MAX_DEPTH) return;
    if (typeof value === 'string') texts.push(value);
    else if (Array.isArray(value)) for (const member of value) walk(member, depth + 1);
    else if (isRecord(value)) {
      for (const [name, member] of Object.entries(value)) {
        if (name.length >= MIN_NAME_CHARS) texts.push(name);
        walk(member, depth + 1);
      }
    }
  };
  walk(inputSchema, 0);
  return texts.filter((text) => text !== '');
}
