/**
 * The tokens that a running gateway accepts: those of `tokens.json`, reread when the file changes and ended when they
 * expire, and those of `clients` in the configuration.
 */

import { statSync } from 'node:fs';
import type { Home } from '../config/home.ts';
import { watchFiles } from '../config/watch.ts';
import type { NamedTokens } from '../endpoint/guard.ts';
import { attempt } from '../lib/attempt.ts';
import type { Clock } from '../lib/clock.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { onceInTurn } from '../lib/turn-memo.ts';
import { hashOf, readTokenFile, type TokenFile, tokenFileOf } from './token-file.ts';

/** How often the file is checked if watching it fails; every request also checks it. */
const LOOK_MS = 5_000;
const EMPTY: TokenFile = { tokens: [], revoked: [] };
const NO_CLIENTS: ReadonlyMap<string, string> = new Map();

export interface TokenBookOptions {
  readonly clock: Clock;
  /** Names of the clients of the configuration by the hashes of their tokens: a new map for each version of it. */
  readonly configured?: (() => ReadonlyMap<string, string>) | undefined;
}

interface Known {
  readonly name: string;
  readonly profile?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly expires?: number | undefined;
}

export class TokenBook implements NamedTokens {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #configured: () => ReadonlyMap<string, string>;
  readonly #listeners = new Set<(name: string) => void>();
  readonly #stopWatching: () => void;
  #stopLooking: () => void = () => {};
  readonly #stampNow = onceInTurn(() => stampOf(this.#file));
  #stamp: string | undefined;
  #clients: ReadonlyMap<string, string> = NO_CLIENTS;
  #content: TokenFile = EMPTY;
  /** By hash: a lookup takes the same time however many there are, and reveals nothing about other tokens. */
  #tokens: ReadonlyMap<string, Known> = new Map();
  #revoked: ReadonlySet<string> = new Set();
  /** Names with a token that another name has too. */
  #refused: ReadonlySet<string> = new Set();
  #profiles: ReadonlyMap<string, string> = new Map();
  /** The valid tokens and the profile of each name at the last check, as a text that changes with them. */
  #bindings: ReadonlyMap<string, string> = new Map();
  /** Changes with the tokens. */
  version = 0;
  /** When the next token expires. */
  #nextExpiry = Number.POSITIVE_INFINITY;

  constructor(home: Pick<Home, 'dir'>, { clock, configured = () => NO_CLIENTS }: TokenBookOptions) {
    this.#file = tokenFileOf(home);
    this.#clock = clock;
    this.#configured = configured;
    this.#look();
    this.#stopWatching = watchFiles([this.#file], clock, () => this.#look());
    this.#lookAgain();
  }

  nameOf(token: string): string | undefined {
    this.#look();
    const hash = hashOf(token);
    const known = this.#tokens.get(hash);
    if (known === undefined || this.#revoked.has(hash)) return undefined;
    return known.expires === undefined || this.#clock.now() < known.expires ? known.name : undefined;
  }

  bindingOf(name: string): string {
    return this.#bindings.get(name) ?? '';
  }

  /** The profile that `tokens.json` has for a name. */
  profileOf(name: string): string | undefined {
    return this.#profiles.get(name);
  }

  /** True if another name has the same token: it does not identify its client. */
  isRefused(name: string): boolean {
    return this.#refused.has(name);
  }

  /** True if a token was revoked: then it is not accepted in any other way either. */
  isRevoked(token: string): boolean {
    this.#look();
    return this.#revoked.has(hashOf(token));
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

  /** Rereads the tokens if they changed since the last check, and ends those that are no longer valid. */
  #look(): void {
    const stamp = this.#stampNow();
    const clients = this.#configured();
    const isSame = stamp === this.#stamp && clients === this.#clients;
    if (isSame && this.#clock.now() < this.#nextExpiry) return;
    if (stamp !== this.#stamp) this.#content = contentOf(this.#file);
    this.#stamp = stamp;
    this.#clients = clients;
    this.#index();
  }

  #index(): void {
    this.version += 1;
    const { tokens, revoked } = this.#content;
    const now = this.#clock.now();
    const byHash = new Map<string, Known>();
    const refused = new Set<string>();
    const hashes = new Map<string, string[]>();
    const add = (hash: string, known: Known): void => {
      const other = byHash.get(hash);
      if (other !== undefined && other.name !== known.name)
        for (const each of [other, known]) refused.add(each.name);
      byHash.set(hash, { ...other, ...known });
      getOrMake(hashes, known.name, () => []).push(hash);
    };
    const valid = tokens.filter(({ expires = Number.POSITIVE_INFINITY }) => now < expires);
    for (const { name, hash, expires, profile } of valid) add(hash, { name, expires, profile });
    for (const [hash, name] of this.#clients) if (!revoked.includes(hash)) add(hash, { name });
    this.#tokens = byHash;
    this.#revoked = new Set(revoked);
    this.#refused = refused;
    this.#profiles = new Map(
      tokens.flatMap(({ name, profile }) => (profile === undefined ? [] : [[name, profile]])),
    );
    this.#nextExpiry = Math.min(...valid.map(({ expires = Number.POSITIVE_INFINITY }) => expires));
    this.#rebind(
      new Map([...hashes].map(([name, all]) => [name, [...all, this.#profiles.get(name) ?? ''].join(' ')])),
    );
  }

  #rebind(bindings: ReadonlyMap<string, string>): void {
    const ended = [...this.#bindings].filter(([name, before]) => bindings.get(name) !== before);
    this.#bindings = bindings;
    for (const [name] of ended) for (const listener of this.#listeners) listener(name);
  }

  /** Schedules a check for the next expiry, or soon. */
  #lookAgain(): void {
    const untilExpiry = Math.max(1, this.#nextExpiry - this.#clock.now());
    this.#stopLooking = this.#clock.after(Math.min(LOOK_MS, untilExpiry), () => {
      this.#look();
      this.#lookAgain();
    });
  }
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
  // Without an exception for a missing file, which costs more than the rest of the check.
  const found = attempt(() => statSync(file, { throwIfNoEntry: false }), undefined);
  return found === undefined ? '' : `${found.ino} ${found.mtimeMs} ${found.size}`;
}
