/**
 * Writes the line of one call for the audit log, as JSON text: with the shape of its arguments, never their values.
 *
 * Every call pays for it, so the text is built directly: an object, a Date and `JSON.stringify` cost three times as
 * much.
 */

import type { PlugboardError } from '../errors.ts';
import { createQuoted, type Quoted } from '../lib/quoted.ts';
import type { Outcome } from './observe.ts';

const MAX_DEPTH = 3;
const MAX_KEYS = 20;
const MAX_KEY_CHARS = 64;
const SECOND_MS = 1_000;

export interface AuditedCall {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly session: string;
  /** The client of the session, and its profile, if it has them. */
  readonly client?: string | undefined;
  readonly profile?: string | undefined;
  /** The program that made the call. */
  readonly program?: string | undefined;
  readonly server: string;
  readonly tool: string;
  readonly decision: string;
  /** The rule that decided, if one did. */
  readonly rule?: string | undefined;
  readonly outcome: Outcome;
  readonly ms: number;
  readonly code?: PlugboardError['code'] | undefined;
  readonly bytes?: number | undefined;
}

interface AuditLine {
  shapeOf(args: unknown): string;
  /** `shape`: of its arguments, as JSON. */
  lineOf(call: AuditedCall, shape: string): string;
}

/** Returns functions that write shapes and lines; they remember texts that occur in many of them. */
export function createAuditLine(): AuditLine {
  const timeOf = createTimeText();
  const quoted = createQuoted();
  const whoOf = createWhoText(quoted);
  return {
    shapeOf: (args) => shapeText(args, quoted),
    lineOf(call, shape) {
      const { at, program, decision, rule, outcome, ms, code, bytes } = call;
      const why = rule === undefined ? quoted(decision) : `${quoted(decision)},"rule":${quoted(rule)}`;
      const how = `"arguments":${shape},"decision":${why},"outcome":"${outcome}","ms":${ms}`;
      const failed = code === undefined ? '' : `,"code":"${code}"`;
      const by = program === undefined ? '' : `,"program":${quoted(program)}`;
      return `{"time":"${timeOf(at)}",${whoOf(call)}${by},${how}${failed}${bytes === undefined ? '' : `,"bytes":${bytes}`}}`;
    },
  };
}

/** The fields that say who called what; kept for the next call, which is mostly of the same tool. */
function createWhoText(quoted: Quoted): (call: AuditedCall) => string {
  let last: AuditedCall | undefined;
  let text = '';
  return (call) => {
    const { session, client, profile, server, tool } = call;
    const isSame =
      session === last?.session &&
      server === last.server &&
      tool === last.tool &&
      client === last.client &&
      profile === last.profile;
    if (!isSame) {
      const named = client === undefined ? '' : `,"client":${quoted(client)}`;
      const viewed = profile === undefined ? '' : `,"profile":${quoted(profile)}`;
      text = `"session":${quoted(session)}${named}${viewed},"server":${quoted(server)},"tool":${quoted(tool)}`;
    }
    last = call;
    return text;
  };
}

/** Returns the shape of a value as JSON: `{ path: 'a.md', lines: [1, 2] }` is `{"path":"string(4)","lines":"array(2)"}`. */
export function shapeText(value: unknown, quoted: Quoted = JSON.stringify, depth = 0): string {
  if (typeof value === 'string') return `"string(${value.length})"`;
  if (Array.isArray(value)) return `"array(${value.length})"`;
  if (typeof value !== 'object' || value === null) return value === null ? '"null"' : `"${typeof value}"`;
  const members = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(members);
  if (depth === MAX_DEPTH) return `"object(${keys.length})"`;
  let text = '{';
  for (const key of keys.length > MAX_KEYS ? keys.slice(0, MAX_KEYS) : keys) {
    const name = quoted(key.length > MAX_KEY_CHARS ? key.slice(0, MAX_KEY_CHARS) : key);
    text += `${text === '{' ? '' : ','}${name}:${shapeText(members[key], quoted, depth + 1)}`;
  }
  return keys.length > MAX_KEYS ? `${text},"…":"${keys.length - MAX_KEYS} more"}` : `${text}}`;
}

/** ISO 8601; the part before the milliseconds is kept for a second. */
function createTimeText(): (at: number) => string {
  let second = Number.NaN;
  let prefix = '';
  return (at) => {
    const now = Math.floor(at / SECOND_MS);
    if (now !== second) {
      second = now;
      prefix = new Date(now * SECOND_MS).toISOString().slice(0, -'000Z'.length);
    }
    return `${prefix}${String(Math.floor(at) - now * SECOND_MS).padStart(3, '0')}Z`;
  };
}
