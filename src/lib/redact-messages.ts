/** Redacts secrets in errors with all their fields, and in messages of servers. */

import { PlugboardError } from '../errors.ts';
import { isRecord } from './json.ts';
import type { JsonRpcMessage } from './json-rpc.ts';
import type { Redact } from './redact.ts';

/** Deeper than any log line; deeper values are dropped, not shown unchecked. */
const MAX_DEPTH = 32;
const MAX_CAUSES = 8;

/** Returns the same error, or a copy without secrets. */
export function redactError(error: PlugboardError, redact: Redact): PlugboardError {
  const { detail } = error;
  const message = redact(error.message);
  const hint = error.hint === undefined ? undefined : redact(error.hint);
  const clean = redactValue(detail, redact) as typeof detail; // the same shape, with other strings
  const tells = tellsSecret(error.cause, redact);
  const same = message === error.message && hint === error.hint && !tells;
  if (same && JSON.stringify(clean) === JSON.stringify(detail)) return error;
  return new PlugboardError(error.code, message, {
    server: error.server,
    hint,
    // A stack repeats the message, so a cause with a secret is omitted.
    ...(tells ? {} : { cause: error.cause }),
    detail: clean,
  });
}

function tellsSecret(cause: unknown, redact: Redact): boolean {
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
