/** One call of the history: its line in a file, and how a line is read. */

import type { Outcome } from '../call/observe.ts';
import { estimateTokens } from '../catalog/tokens.ts';
import { isRecord } from '../lib/json.ts';
import { createQuoted } from '../lib/quoted.ts';
import type { Redactor } from '../lib/redact.ts';
import { argumentText, redactedCopy, resultText } from './value-text.ts';

/** The program behind a client, as it identifies itself. */
export interface AgentName {
  readonly name: string;
  readonly version: string;
}

/** A call without its values, for lists. */
export interface PastCall {
  /** Unique for ever: the run of the process, and the id of the call in it. */
  readonly key: string;
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  readonly session: string;
  /** Start, milliseconds since the epoch. */
  readonly at: number;
  readonly ms: number;
  readonly outcome: Outcome;
  readonly client?: string;
  readonly profile?: string;
  readonly agent?: AgentName;
  readonly folder?: string;
  readonly ref?: string;
  readonly code?: string;
  readonly rule?: string;
  /** Why it was allowed or refused. */
  readonly decision?: string;
  readonly tokens?: { readonly arguments: number; readonly result: number };
}

/** The values of a call: cut and without secrets. */
export interface PastValues {
  readonly arguments?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
  /** Approximate lengths of the values that were cut. */
  readonly cut?: { readonly arguments?: number; readonly result?: number };
}

/** A call that has ended, as it is given to the history. */
export interface EndedCall {
  readonly key: string;
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  readonly session: string;
  readonly at: number;
  readonly ms: number;
  readonly outcome: Outcome;
  readonly client: string | undefined;
  readonly profile: string | undefined;
  readonly agent: AgentName | undefined;
  readonly folder: string | undefined;
  readonly ref: string | undefined;
  readonly code: string | undefined;
  readonly rule: string | undefined;
  readonly decision: string | undefined;
  readonly arguments: unknown;
  /** One of both. */
  readonly result: unknown;
  readonly error: unknown;
  /** The secrets that its host knows. */
  readonly redactor: Pick<Redactor, 'redact' | 'redactWhole'>;
}

/** The part of a call that the next one mostly has too. */
type Who = Pick<
  EndedCall,
  'server' | 'tool' | 'client' | 'profile' | 'folder' | 'decision' | 'rule' | 'agent'
>;

/** Separates the call from its values: a list reads only the first. JSON contains no raw tab. */
export const SEPARATOR = '\t';

/**
 * Returns a function that writes the line of a call, without its line break. Every call pays for it, so most of the text
 * is built directly; the part that many calls have in common is kept.
 */
export function createHistoryLine(): (ended: EndedCall) => string {
  const quoted = createQuoted();
  let last: Who | undefined;
  let who = '';
  const whoOf = (call: EndedCall): string => {
    const { server, tool, client, profile, folder, decision, rule, agent } = call;
    const isSame =
      server === last?.server &&
      tool === last.tool &&
      decision === last.decision &&
      rule === last.rule &&
      client === last.client &&
      profile === last.profile &&
      folder === last.folder &&
      (agent === last.agent || (agent?.name === last.agent?.name && agent?.version === last.agent?.version));
    if (isSame) return who;
    who = `"server":${quoted(server)},"tool":${quoted(tool)}`;
    for (const [key, value] of Object.entries({ client, profile, folder, decision, rule }))
      if (value !== undefined) who += `,"${key}":${quoted(value)}`;
    if (agent !== undefined)
      who += `,"agent":{"name":${quoted(agent.name)},"version":${quoted(agent.version)}}`;
    last = { server, tool, client, profile, folder, decision, rule, agent };
    return who;
  };
  return (ended) => {
    const { key, id, session, at, ms, outcome, ref, code, result, error, redactor } = ended;
    const given = argumentText(ended.arguments, redactor);
    const got = resultText(result ?? error, redactor);
    const named = ref === undefined ? '' : `,"ref":${JSON.stringify(ref)}`;
    const failed = code === undefined ? '' : `,"code":"${code}"`;
    const tokens = `{"arguments":${estimateTokens(given.text)},"result":${estimateTokens(got.text)}}`;
    const head = `{"key":"${key}","id":"${id}","session":"${session}",${whoOf(ended)},"at":${at},"ms":${ms},"outcome":"${outcome}"${failed}${named},"tokens":${tokens}}`;
    const cut =
      given.cut === undefined && got.cut === undefined
        ? ''
        : `,"cut":${JSON.stringify({ arguments: given.cut, result: got.cut })}`;
    const kind = result === undefined ? 'error' : 'result';
    const line = `${head}${SEPARATOR}{"arguments":${given.text},"${kind}":${got.text}${cut}}`;
    return redactor.redactWhole(line) === line ? line : safeLine(line, redactor);
  };
}

/** A secret of digits may be part of a number or an id: strings are redacted one by one. */
function safeLine(line: string, redactor: EndedCall['redactor']): string {
  return line
    .split(SEPARATOR)
    .map((text, at) => {
      const value: unknown = JSON.parse(text);
      const { key, id } = isRecord(value) ? value : {};
      const safe = redactedCopy(value, redactor);
      return JSON.stringify(at === 0 && isRecord(safe) ? { ...safe, key, id } : safe);
    })
    .join(SEPARATOR);
}

/** Parses the part of a line before the separator; undefined for a damaged line. */
export function readPastCall(text: string): PastCall | undefined {
  const value = parsed(text);
  const isCall =
    isRecord(value) &&
    TEXTS.every((key) => typeof value[key] === 'string') &&
    NUMBERS.every((key) => Number.isFinite(value[key]));
  // Written by `lineOf`, into a file of this user only.
  return isCall ? (value as unknown as PastCall) : undefined;
}

const TEXTS = ['key', 'id', 'server', 'tool', 'session', 'outcome'] as const;
const NUMBERS = ['at', 'ms'] as const;

/** Parses the part of a line after the separator; empty for a damaged one. */
export function readPastValues(text: string): PastValues {
  const value = parsed(text);
  return isRecord(value) ? value : {};
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
