/** Replaces known secrets in a text; every text for logs, errors and other users passes through here (POL-7). */

import { PlugboardError } from '../errors.ts';
import { isRecord } from './json.ts';
import type { JsonRpcMessage } from './json-rpc.ts';

export const REDACTED = '[secret]';

/** Shorter secrets would match inside ordinary words. */
const MIN_SECRET_CHARS = 4;
/** A truncated text may end with the beginning of a secret; a match of this length is redacted. */
const MIN_CUT_CHARS = 8;
/** Limit on remembered secrets, since tokens are renewed; the oldest are dropped. */
const MAX_SECRETS = 256;
/** Minimum length of a line of a multi-line secret (a key file) that is redacted on its own. */
const MIN_LINE_CHARS = 8;

export type Redact = (text: string) => string;

/**
 * Replaces secrets, including their encodings in urls, JSON and Basic credentials.
 *
 * @example
 * const redactor = new Redactor(['hunter22']);
 * redactor.redact('password=hunter22'); // 'password=[secret]'
 */
export class Redactor {
  /** Every spelling, longest first, so that a secret that contains another is replaced whole. */
  #spellings: readonly string[] = [];
  readonly #secrets = new Set<string>();

  constructor(secrets: Iterable<string> = []) {
    for (const secret of secrets) this.#remember(secret);
    this.#sort();
  }

  get isEmpty(): boolean {
    return this.#secrets.size === 0;
  }

  add(secret: string): void {
    if (this.#secrets.has(secret) || !this.#remember(secret)) return;
    const [oldest] = this.#secrets;
    if (this.#secrets.size > MAX_SECRETS && oldest !== undefined) this.#secrets.delete(oldest);
    this.#sort();
  }

  readonly redact: Redact = (text) => this.#withoutCutEnd(this.redactWhole(text));

  /** Like `redact`, for a text that was not truncated. */
  readonly redactWhole: Redact = (text) => {
    let out = text;
    for (const spelling of this.#spellings) {
      if (out.includes(spelling)) out = out.replaceAll(spelling, REDACTED);
    }
    return out;
  };

  #withoutCutEnd(text: string): string {
    for (const spelling of this.#spellings) {
      for (let length = Math.min(spelling.length - 1, text.length); length >= MIN_CUT_CHARS; length--) {
        if (text.endsWith(spelling.slice(0, length))) return text.slice(0, -length) + REDACTED;
      }
    }
    return text;
  }

  #remember(secret: string): boolean {
    if (secret.trim().length < MIN_SECRET_CHARS) return false;
    this.#secrets.add(secret);
    return true;
  }

  #sort(): void {
    const all = new Set([...this.#secrets].flatMap(spellingsOf));
    this.#spellings = [...all].sort((a, b) => b.length - a.length);
  }
}

function spellingsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  const plain = [secret, secret.trim(), ...lines.filter((line) => line.length >= MIN_LINE_CHARS)];
  return plain.flatMap((text) => [
    text,
    encodeURIComponent(text.toWellFormed()),
    JSON.stringify(text).slice(1, -1),
    Buffer.from(text).toString('base64'),
  ]);
}

/** Deeper than any log line; deeper values are dropped, not shown unchecked. */
const MAX_DEPTH = 32;
const MAX_CAUSES = 8;

/** Returns the same error, or a copy without secrets. */
export function redactError(error: PlugboardError, redact: Redact): PlugboardError {
  const { detail } = error;
  const message = redact(error.message);
  const hint = error.hint === undefined ? undefined : redact(error.hint);
  const clean = redactValue(detail, redact) as typeof detail; // the same shape, with other strings
  const leaks = leaksSecret(error.cause, redact);
  const same = message === error.message && hint === error.hint && !leaks;
  if (same && JSON.stringify(clean) === JSON.stringify(detail)) return error;
  return new PlugboardError(error.code, message, {
    server: error.server,
    hint,
    // A stack repeats the message, so a cause with a secret is omitted.
    ...(leaks ? {} : { cause: error.cause }),
    detail: clean,
  });
}

function leaksSecret(cause: unknown, redact: Redact): boolean {
  let at = cause;
  for (let depth = 0; at !== undefined && at !== null; depth++) {
    if (depth === MAX_CAUSES) return true;
    const text = at instanceof Error ? `${at.message}\n${at.stack ?? ''}` : String(at);
    if (redact(text) !== text) return true;
    at = at instanceof Error ? at.cause : undefined;
  }
  return false;
}

/** Redacts error responses and log messages, which end up in our errors and logs. Results are not changed. */
export function redactMessage(message: JsonRpcMessage, redact: Redact): JsonRpcMessage {
  if ('error' in message && isRecord(message.error)) {
    return { ...message, error: redactValue(message.error, redact) as typeof message.error };
  }
  if ('method' in message && message.method === 'notifications/message' && message.params !== undefined) {
    return { ...message, params: redactValue(message.params, redact) as typeof message.params };
  }
  return message;
}

function redactValue(value: unknown, redact: Redact, depth = 0): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return undefined;
  if (Array.isArray(value)) return value.map((member) => redactValue(member, redact, depth + 1));
  const members = Object.entries(value).map(([key, member]) => [key, redactValue(member, redact, depth + 1)]);
  return Object.fromEntries(members);
}
