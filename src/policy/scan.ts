/**
 * Scans a server's tool definitions for attacks and reports findings. It decides nothing: an attacker can always find
 * text that no rule matches, so approval and pins are the protection. bench/policy-scan.mjs measures its detection
 * rate.
 */

import { isRecord } from '../lib/json.ts';
import { hidesAnything, oneLine, reveal } from './clean.ts';
import { RULES_OF_LANGUAGES } from './scan-languages.ts';
import { twinsAmong } from './scan-names.ts';
import { RULES_OF_SENTENCES } from './scan-rules.ts';
import type { FindingKind, Rule } from './scan-words.ts';

export interface Finding {
  readonly tool: string;
  readonly kind: FindingKind;
  /** One clause that describes the suspicion. */
  readonly what: string;
  /** The suspicious text, safe to show. */
  readonly quote: string;
}

interface ScannedTool {
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
  cross: 'it instructs the model how to use tools of other servers',
  conceal: 'it asks the model to hide something from the user',
  exfil: 'it asks for data to be sent somewhere',
  prefer: 'it asks to be used before or instead of other tools',
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
  return { tool: oneLine(tool) };
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

/** Letters of other alphabets and, in the same order, the Latin letters that they look like. */
const FOREIGN = 'асԁеһіјӏոорԛѕԝхуαειορυντκηωАВСЕНІКМОРЅТХ';
const LATIN = 'acdehijlnopqswxyaeiopuvtknwABCEHIKMOPSTX';
const LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  Array.from(FOREIGN, (letter, at) => [letter, LATIN.charAt(at)]),
);
/** A word that mixes Latin letters with Cyrillic or Greek ones, which no language does. */
const MIXED = /(?=[\p{L}]{0,40}[A-Za-z])(?=[\p{L}]{0,40}[\p{Script=Cyrillic}\p{Script=Greek}])[\p{L}]{2,40}/u;
const BASE64 = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}={0,2}/g;
const HEX = /(?:0x)?(?:[0-9a-f]{2}){12,}/gi;
const MAX_DECODED = 20;
/** Minimum share of letters and spaces for decoded data to be treated as text. */
const MIN_WORDY = 0.85;

interface View {
  readonly text: string;
  /** True if users do not see this reading: a finding in it is hidden text. */
  readonly hidden: boolean;
}

/** Returns every reading of a text; the first is the text itself. */
function viewsOf(text: string): View[] {
  const views: View[] = [{ text, hidden: false }];
  if (MIXED.test(text)) {
    views.push({ text: text.replace(/\P{ASCII}/gu, (char) => LOOK_ALIKES.get(char) ?? char), hidden: true });
  }
  for (const decoded of decodings(text)) views.push({ text: decoded, hidden: true });
  if (/\brot-?13\b|\bcaesar\b/i.test(text)) views.push({ text: rot13(text), hidden: true });
  return views;
}

/** Decodes base64 and hexadecimal parts of the text that contain readable text. */
function decodings(text: string): string[] {
  const found = [
    ...Array.from(text.matchAll(BASE64), ([match]) => Buffer.from(match, 'base64')),
    ...Array.from(text.matchAll(HEX), ([match]) => Buffer.from(match.replace(/^0x/i, ''), 'hex')),
  ];
  return found
    .slice(0, MAX_DECODED)
    .map((bytes) => bytes.toString('utf8'))
    .filter(readsLikeWords);
}

function readsLikeWords(text: string): boolean {
  if (!/[a-z]{2,} [a-z]{2,}/i.test(text)) return false;
  const wordy = text.replace(/[^\p{L}\p{N} .,/~_:'"-]/gu, '').length;
  return wordy / text.length >= MIN_WORDY;
}

function rot13(text: string): string {
  return text.replace(/[a-z]/gi, (char) => {
    const base = char <= 'Z' ? 65 : 97;
    return String.fromCharCode(((char.charCodeAt(0) - base + 13) % 26) + base);
  });
}
