/** Records on disk which servers failed at their last start, so that the next list does not wait for them. */

import { join } from 'node:path';
import type { Home } from '../config/home.ts';
import { type ErrorCode, isErrorCode, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { type Dated, DatedMap } from '../lib/json-store.ts';

/** A server whose failure is older is waited for once more. */
const FAILURE_MAX_AGE_MS: number = 24 * 60 * 60 * 1000;
/** The same failure of a server is recorded again after this time. */
const REPEATED_AFTER_MS: number = 60 * 60 * 1000;
const MAX_FAILURES = 1_000;
const MAX_TEXT_CHARS = 500;

interface LastFailure extends Dated {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
}

/** Uses the keys of `CatalogLoader.startKeyOf`, so a changed entry has no recorded failure. */
export interface LastFailures {
  /** Returns why the last start of a server failed; undefined if it succeeded or the failure is too old. */
  get(key: string): PlugboardError | undefined;
  failed(key: string, error: PlugboardError): void;
  recovered(key: string): void;
  flush(): Promise<void>;
}

export async function openLastFailures(home: Home, clock: Clock): Promise<LastFailures> {
  const known = await DatedMap.open<LastFailure>({
    file: join(home.cache, 'failures.json'),
    lockDir: join(home.run, 'locks'),
    maxEntries: MAX_FAILURES,
    parse: parseFailure,
  });
  return {
    get(key) {
      const found = known.get(key);
      if (found === undefined || clock.now() - found.at >= FAILURE_MAX_AGE_MS) return undefined;
      return new PlugboardError(found.code, found.message, { hint: found.hint });
    },
    failed(key, { code, message, hint }) {
      const before = known.get(key);
      const isSame = before?.code === code && before.message === message.slice(0, MAX_TEXT_CHARS);
      // Avoids a write for each retry of the same failure.
      if (isSame && clock.now() - before.at < REPEATED_AFTER_MS) return;
      known.set(key, {
        at: clock.now(),
        code,
        message: message.slice(0, MAX_TEXT_CHARS),
        ...(hint === undefined ? {} : { hint: hint.slice(0, MAX_TEXT_CHARS) }),
      });
    },
    recovered: (key) => known.delete(key),
    flush: () => known.flush(),
  };
}

function parseFailure({
  at,
  code,
  message,
  hint,
}: Readonly<Record<string, unknown>>): LastFailure | undefined {
  if (!isErrorCode(code) || typeof message !== 'string') return undefined;
  return { at: Number(at), code, message, ...(typeof hint === 'string' ? { hint } : {}) };
}
