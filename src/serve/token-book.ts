/** The tokens of one home that a running gateway accepts: reread when the file changes, ended when they expire. */

import { timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import type { Home } from '../config/home.ts';
import { watchFiles } from '../config/watch.ts';
import type { NamedTokens } from '../endpoint/guard.ts';
import type { Clock } from '../lib/clock.ts';
import { hashOf, readTokenFile, type StoredToken, type TokenFile, tokenFileOf } from './token-file.ts';

/** How often the file is checked if watching it fails; every request also checks it. */
const LOOK_MS = 5_000;
const EMPTY: TokenFile = { tokens: [], revoked: [] };

export class TokenBook implements NamedTokens {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #listeners = new Set<(name: string) => void>();
  readonly #stopWatching: () => void;
  #stopLooking: () => void = () => {};
  #stamp: string | undefined;
  #content: TokenFile = EMPTY;
  /** Hashes of the valid tokens at the last check, by name. */
  #valid: ReadonlyMap<string, string> = new Map();

  constructor(home: Pick<Home, 'dir'>, clock: Clock) {
    this.#file = tokenFileOf(home);
    this.#clock = clock;
    this.#look();
    this.#stopWatching = watchFiles([this.#file], clock, () => this.#look());
    this.#lookAgain();
  }

  nameOf(token: string): string | undefined {
    this.#look();
    const hash = Buffer.from(hashOf(token));
    let found: string | undefined;
    // All are compared, each in constant time.
    for (const [name, valid] of this.#valid) if (timingSafeEqual(Buffer.from(valid), hash)) found = name;
    return found;
  }

  bindingOf(name: string): string {
    return this.#valid.get(name) ?? '';
  }

  /** True if a token was revoked: then it is not accepted as the gateway's own token either. */
  isRevoked(token: string): boolean {
    this.#look();
    return this.#content.revoked.includes(hashOf(token));
  }

  onEnd(listener: (name: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#stopWatching();
    this.#stopLooking();
    this.#listeners.clear();
  }

  /** Rereads the file if it changed since the last check, and ends the tokens that are no longer valid. */
  #look(): void {
    const stamp = stampOf(this.#file);
    if (stamp !== this.#stamp) {
      this.#stamp = stamp;
      this.#content = contentOf(this.#file);
    }
    const now = this.#clock.now();
    const valid = new Map(
      this.#content.tokens.filter((token) => isValid(token, now)).map(({ name, hash }) => [name, hash]),
    );
    const ended = [...this.#valid].filter(([name, hash]) => valid.get(name) !== hash);
    this.#valid = valid;
    for (const [name] of ended) for (const listener of this.#listeners) listener(name);
  }

  /** Schedules a check for the next expiry, or soon. */
  #lookAgain(): void {
    const now = this.#clock.now();
    const expiries = this.#content.tokens.flatMap(({ expires = now }) =>
      expires > now ? [expires - now] : [],
    );
    this.#stopLooking = this.#clock.after(Math.min(LOOK_MS, ...expiries), () => {
      this.#look();
      this.#lookAgain();
    });
  }
}

function isValid({ expires }: StoredToken, now: number): boolean {
  return expires === undefined || now < expires;
}

/** Fails closed: an unreadable file has no valid tokens. */
function contentOf(file: string): TokenFile {
  try {
    return readTokenFile(file);
  } catch {
    return EMPTY;
  }
}

/** Returns a value that differs for every replaced file. */
function stampOf(file: string): string {
  try {
    const { ino, mtimeMs, size } = statSync(file);
    return `${ino} ${mtimeMs} ${size}`;
  } catch {
    return '';
  }
}
