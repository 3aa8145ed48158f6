/**
 * Looks for attacks in what a server says of its tools, and advises. It decides nothing: words can always be found
 * that no rule knows, so consent and pins carry the weight. How much it finds is measured by bench/policy-scan.mjs.
 */

import { isRecord } from '../lib/json-rpc.ts';
import { clean, reveal } from './clean.ts';

export interface Finding {
  readonly tool: string;
  readonly kind: FindingKind;
  /** One clause: what this looks like. */
  readonly what: string;
  /** The words that look like it, safe to show. */
  readonly quote: string;
}

export type FindingKind = 'hidden' | 'instruct' | 'secrets' | 'cross' | 'conceal' | 'exfil' | 'prefer';

export interface ScannedTool {
  readonly tool: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

interface Rule {
  readonly kind: FindingKind;
  readonly what: string;
  readonly pattern: RegExp;
}

const MAX_QUOTE_CHARS = 120;
/** Per text; matching is linear in it, and nobody reads a longer description either. */
const MAX_SCANNED_CHARS = 20_000;
const MAX_TEXTS_PER_TOOL = 500;
const MAX_DEPTH = 20;

/** Gaps are bounded, so that no text makes a pattern slow. */
const rule = (kind: FindingKind, what: string, pattern: RegExp): Rule => ({ kind, what, pattern });

const INSTRUCT = 'it speaks to the model instead of describing the tool';
const SECRETS = 'it asks for secrets or for files that hold them';
const CROSS = 'it tells the model how to use tools of others';
const CONCEAL = 'it wants something kept from the user';
const EXFIL = 'it asks for data to be sent somewhere';
const PREFER = 'it wants to be used before or instead of everything else';
const HIDDEN = 'it holds text that people do not see';

const RULES: readonly Rule[] = [
  rule(
    'instruct',
    INSTRUCT,
    /\b(?:ignor|disregard|forget|overrid|bypass)\w*\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|all|any|safety|system|your)\b[^.\n]{0,30}\b(?:instruction|rule|prompt|guideline|restriction|polic|message)/i,
  ),
  rule(
    'instruct',
    INSTRUCT,
    /<\/?(?:important|system|assistant|instructions?|secret|critical|admin|hidden)>|<\|[a-z_]{2,20}\|>|\[\[?(?:assistant|system|inst)\]?\]|"role"\s*:\s*"(?:system|assistant)"/i,
  ),
  rule('instruct', INSTRUCT, /(?:^|[.!\n]\s*)(?:SYSTEM|ASSISTANT|ADMIN)\s*:/),
  rule(
    'instruct',
    INSTRUCT,
    /\b(?:notes?|messages?|instructions?|hints?|reminders?)\s+(?:to|for)\s+(?:the\s+|any\s+)?(?:assistant|ai\b|ai model|model|agent|llm)/i,
  ),
  rule('instruct', INSTRUCT, /\b(?:as|dear)\s+(?:an?|the)?\s*(?:ai\b|assistant|language model|llm)/i),
  rule(
    'instruct',
    INSTRUCT,
    /\b(?:from now on|new instructions?:|you are now|you have no restrictions|developer mode|maintenance mode|act as (?:an?|the) (?:admin|root|unrestricted)|you are root)/i,
  ),
  rule(
    'secrets',
    SECRETS,
    /\bid_(?:rsa|ed25519|ecdsa)\b|~\/\.(?:ssh|aws|gnupg|kube|netrc|cursor|docker|config\/gcloud|claude)|\.aws\/credentials|\/etc\/(?:passwd|shadow)\b|\bmcp\.json\b/i,
  ),
  rule(
    'secrets',
    SECRETS,
    /\b(?:read|pass|put|include|attach|copy|provide|insert|append|paste|supply|prefix\w*)\b[^.\n]{0,60}\b(?:private key|system prompt|session cookies?|(?:whole|full|entire|complete) (?:conversation|chat|context)|conversation (?:so far|history)|environment variables?|everything you know)/i,
  ),
  rule(
    'secrets',
    SECRETS,
    /\b(?:contents?|values?) of (?:the |your |my |all )?[^.\n]{0,30}(?:\.env\b|token\b|credential|secret|password|environment variable|key file)/i,
  ),
  rule(
    'secrets',
    SECRETS,
    /\.env\b[^.\n]{0,40}\b(?:pass|read|include|send)|\b(?:pass|read|include|send)\b[^.\n]{0,40}\s\.env\b/i,
  ),
  rule(
    'secrets',
    SECRETS,
    /\b(?:password|api keys?|token|credentials?)\b[^.\n]{0,30}\bfrom (?:the|your|a) (?:config|environment|keychain|vault|browser)/i,
  ),
  rule(
    'cross',
    CROSS,
    /\b(?:any|every|each|all)\s+other\s+(?:mcp\s+)?(?:tools?|servers?)\b[^.\n]{0,60}\b(?:call|deprecat|avoid|unsafe|wrong|replac|argument|result)/i,
  ),
  rule(
    'cross',
    CROSS,
    /\b(?:after|before|prior to|whenever|when|every time|each time)\b[^.\n]{0,30}\b(?:any|every|each)\s+(?:other\s+|database\s+)?tool/i,
  ),
  rule(
    'cross',
    CROSS,
    /\b(?:when|whenever|if)\b[^.\n]{0,30}\b(?:[a-z]+_[a-z_]+|tool)\b[^.\n]{0,30}\b(?:is|are) (?:used|called|invoked|available|present)[^.\n]{0,60}\b(?:set|replace|change|call|add|use|send)/i,
  ),
  rule(
    'cross',
    CROSS,
    /\b(?:tools?|server)\b[^.\n]{0,40}\b(?:is|are) (?:deprecated|broken|unsafe|insecure|compromised)\b|\bchanges? how \w+ works|\binstead of (?:the )?\w+ (?:tool )?of other servers/i,
  ),
  rule('cross', CROSS, /\bif the tool list contains\b|\bhas a bug, (?:to|so)\b/i),
  rule(
    'conceal',
    CONCEAL,
    /\b(?:do not|don't|never|must not|should not|without|no need to|avoid)\s+(?:ever\s+)?(?:mention|tell|reveal|inform|notify|disclos|show|alert|warn|ask)\w*\b[^.\n]{0,50}\b(?:user|human|person|anybody|anyone|this (?:text|step|instruction)|confirm)/i,
  ),
  rule(
    'conceal',
    CONCEAL,
    /\bnever reveal\b|\bkeep (?:this|it|these)\b[^.\n]{0,20}\bsecret|\buser (?:never|must not|should not|does not need to|need not) (?:learn|know|see|notice|be told)|\b(?:secretly|silently|covertly|quietly) (?:append|send|add|upload|read|copy|include|call|forward)/i,
  ),
  rule(
    'conceal',
    CONCEAL,
    /\b(?:approve|confirm|accept|consent)\b[^.\n]{0,20}\bon (?:the user's|their|behalf of)/i,
  ),
  rule(
    'exfil',
    EXFIL,
    /\b(?:send|post|upload|forward|transmit|submit|exfiltrat|report)\w*\b[^.\n]{0,60}(?:https?:\/\/|[\w.]+@[\w-]+\.\w{2,})/i,
  ),
  rule('exfil', EXFIL, /!\[[^\]]{0,40}\]\(https?:\/\/[^)]{0,80}[<{$]/i),
  rule(
    'exfil',
    EXFIL,
    /\b(?:encode|convert)\b[^.\n]{0,40}\b(?:environment|secret|conversation|file)\w*\b[^.\n]{0,30}\bbase64/i,
  ),
  rule(
    'exfil',
    EXFIL,
    /\b(?:every time|whenever|each time)\b[^.\n]{0,40}\b(?:file|message|document|email)\b[^.\n]{0,40}\b(?:upload|send|forward|sent|copied)/i,
  ),
  rule(
    'prefer',
    PREFER,
    /\b(?:must|always|mandatory)\b[^.\n]{0,40}\b(?:call|called|choose|use|used|prefer|invoke)\w*\b[^.\n]{0,40}\b(?:first in every|over (?:every|all|any) other|whatever the user|before and after each|before answering|every (?:response|conversation|message))/i,
  ),
  rule(
    'prefer',
    PREFER,
    /\b(?:highest|top) priority tool|\ball other tools (?:are|should)|\bmandatory:\s*call this tool|\balways prefer this (?:one|tool)/i,
  ),
  rule('hidden', HIDDEN, /<!--[\s\S]{0,400}?-->|[^\s][^\S\n]{40,}\S|\n{15,}\S/),
  rule(
    'hidden',
    HIDDEN,
    /\b(?:decode|base64)\b[\s\S]{0,60}[A-Za-z0-9+/]{40,}={0,2}|[A-Za-z0-9+/]{120,}={0,2}/i,
  ),
];

/** What looks like an attack in the tools of one server, at most one finding of each kind for a tool. */
export function scanListing(_server: string, tools: readonly ScannedTool[]): Finding[] {
  return tools.flatMap((tool) => {
    const kinds = new Map<FindingKind, Finding>();
    for (const text of textsOf(tool)) {
      for (const { kind, what, quote } of scanText(text)) {
        if (!kinds.has(kind))
          kinds.set(kind, { tool: clean(tool.tool, { multiline: false }), kind, what, quote });
      }
    }
    return [...kinds.values()];
  });
}

export function scanText(whole: string): Omit<Finding, 'tool'>[] {
  const text = whole.slice(0, MAX_SCANNED_CHARS);
  const visible = clean(text);
  const found: Omit<Finding, 'tool'>[] = [];
  if (visible !== text.replace(/\r\n?/g, '\n')) {
    found.push({ kind: 'hidden', what: HIDDEN, quote: shown(text, firstHidden(text)) });
  }
  // What was hidden is read too: that is where attacks are.
  const plain = text.normalize('NFKC').replace(/[\u200b-\u200f\u2060\ufeff\u00ad]/g, '');
  for (const { kind, what, pattern } of RULES) {
    const match = pattern.exec(plain);
    if (match !== null) found.push({ kind, what, quote: shown(plain, match.index) });
  }
  return found;
}

function firstHidden(text: string): number {
  const shownText = clean(text);
  let at = 0;
  while (at < text.length && text[at] === shownText[at]) at++;
  return at;
}

function shown(text: string, at: number): string {
  const quote = text.slice(Math.max(0, at - 10), at + MAX_QUOTE_CHARS).toWellFormed();
  return reveal(quote.replace(/\s+/g, ' ').trim());
}

/** Everything in a definition that a model reads: poison stands in the description of a parameter as well. */
function textsOf({ title, description, inputSchema }: ScannedTool): string[] {
  const texts = [title ?? '', description];
  const walk = (value: unknown, depth: number): void => {
    if (texts.length >= MAX_TEXTS_PER_TOOL || depth > MAX_DEPTH) return;
    if (typeof value === 'string') texts.push(value);
    else if (Array.isArray(value)) for (const member of value) walk(member, depth + 1);
    else if (isRecord(value)) for (const member of Object.values(value)) walk(member, depth + 1);
  };
  walk(inputSchema, 0);
  return texts.filter((text) => text !== '');
}
