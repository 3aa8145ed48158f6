/**
 * Keeps the books of a home equal to those of all replicas: the host reads files, and Redis is not on the path of a call.
 *
 * A record that only one replica has is added to all. A record that differs at the start is that of the cluster: the
 * first pin and the last approval of all replicas are valid. Later, the replica that changes a record first wins.
 */

import { stat } from 'node:fs/promises';
import type { Home } from '../config/home.ts';
import type { ClusterKeys } from './cluster-keys.ts';
import { type Book, booksOf, MAX_SHARED_CHARS } from './home-books.ts';
import { REPLACE_FIELD } from './lua.ts';
import type { RedisStore } from './redis-store.ts';
import type { SharedVersions } from './shared-versions.ts';

/** How often the home is compared with what was read last. */
const LOOK_MS = 1_000;
/** A book that is not written for this long is dropped from Redis. */
const LIFETIME_MS: number = 30 * 24 * 60 * 60 * 1000;
/** A book with more records begins again: entries that changed leave their old records behind. */
const MAX_RECORDS = 5_000;
/** The text of a removed record: it stays removed in homes that still have it. */
const REMOVED = '';

export interface MirrorOptions {
  readonly store: RedisStore;
  readonly keys: ClusterKeys;
  readonly versions: SharedVersions;
  readonly home: Home;
  /** Called when a record of another replica was written to this home. */
  readonly onReceived: (book: string) => void;
}

export class HomeMirror {
  readonly #books: readonly MirroredBook[];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: MirrorOptions) {
    this.#books = booksOf(options.home).map((book) => new MirroredBook(book, options));
  }

  /** Resolves when this home has the records of all replicas. A Redis that is away leaves it as it is. */
  async open(): Promise<void> {
    await Promise.all(this.#books.map((book) => book.settle()));
    this.#timer = setInterval(() => {
      for (const book of this.#books) void book.look();
    }, LOOK_MS);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/** One book of a home, and its copy in Redis. */
class MirroredBook {
  readonly #book: Book;
  readonly #options: MirrorOptions;
  /** The texts that this home and Redis last had in common. */
  readonly #common = new Map<string, string>();
  #changedAt: number | undefined;
  #settling: Promise<void> | undefined;
  #isAgain = false;

  constructor(book: Book, options: MirrorOptions) {
    this.#book = book;
    this.#options = options;
    options.versions.onChange(book.name, () => void this.settle());
  }

  /** Compares this home with Redis if its files have changed. */
  async look(): Promise<void> {
    const { mtimeMs } = await stat(this.#book.path).catch(() => ({ mtimeMs: 0 }));
    if (mtimeMs !== this.#changedAt) await this.settle();
  }

  /** Makes this home and Redis equal; a failure is repaired by the next change. */
  settle(): Promise<void> {
    if (this.#settling !== undefined) {
      this.#isAgain = true;
      return this.#settling;
    }
    this.#settling = this.#settle()
      .catch(() => {
        this.#changedAt = undefined;
      })
      .finally(() => {
        this.#settling = undefined;
        if (this.#isAgain) {
          this.#isAgain = false;
          void this.settle();
        }
      });
    return this.#settling;
  }

  async #settle(): Promise<void> {
    const book = this.#book;
    const { mtimeMs } = await stat(book.path).catch(() => ({ mtimeMs: 0 }));
    const here = await book.read();
    const sealed = await this.#options.store.redis.hgetall(this.#key);
    const received = new Map<string, string | undefined>();
    let isSent = false;
    for (const name of new Set([...here.keys(), ...Object.keys(sealed)])) {
      const local = here.get(name);
      const raw = sealed[name];
      const shared = raw === undefined ? undefined : this.#open(name, raw);
      switch (this.#decide(name, local, shared)) {
        case 'send':
          isSent = (await this.#send(name, raw ?? '', local ?? REMOVED)) || isSent;
          break;
        case 'receive':
          received.set(name, shared === REMOVED ? undefined : shared);
          this.#common.set(name, shared ?? REMOVED);
          break;
        case 'same':
          if (shared !== undefined) this.#common.set(name, shared);
          break;
      }
    }
    if (received.size > 0) {
      await book.write(received);
      this.#options.onReceived(book.name);
    }
    // Our own write is compared once more, which changes nothing.
    this.#changedAt = mtimeMs;
    if (isSent) await this.#options.versions.changed(book.name);
  }

  /** `shared` is undefined if Redis has no record, or one that was not sealed by a replica. */
  #decide(name: string, local: string | undefined, shared: string | undefined): 'same' | 'send' | 'receive' {
    const { removes, essence } = this.#book;
    if (local !== undefined && local.length > MAX_SHARED_CHARS) return 'same';
    if (shared === undefined) return local === undefined ? 'same' : 'send';
    if (local === undefined && shared === REMOVED) return 'same';
    if (local !== undefined && shared !== REMOVED && essence(local) === essence(shared)) return 'same';
    const common = this.#common.get(name);
    if (common === undefined || essence(common) !== essence(shared)) return 'receive';
    // Only this home has changed.
    return local === undefined && !removes ? 'same' : 'send';
  }

  async #send(name: string, expected: string, text: string): Promise<boolean> {
    const sealed = this.#seal(name, text);
    const args = [name, expected, sealed, LIFETIME_MS, MAX_RECORDS];
    if ((await this.#options.store.script(REPLACE_FIELD, [this.#key], args)) !== 1) {
      this.#isAgain = true;
      return false;
    }
    this.#common.set(name, text);
    return true;
  }

  get #key(): string {
    return this.#options.store.key('book', this.#book.name);
  }

  #seal(name: string, text: string): string {
    return this.#options.keys.sealText(text, `book ${this.#book.name}\n${name}`);
  }

  #open(name: string, sealed: string): string | undefined {
    return this.#options.keys.openText(sealed, `book ${this.#book.name}\n${name}`);
  }
}
