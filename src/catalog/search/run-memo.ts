/**
 * Remembers something about each run of letters in texts, without cutting the run out of the text again: an index reads
 * a megabyte of text that is made of a few thousand different runs.
 */

interface Entry<Value> {
  /** A second hash: runs are told apart by both, because comparing them letter by letter takes most of the time. */
  readonly check: number;
  readonly value: Value;
  /** Another run with the same first hash. */
  readonly next: Entry<Value> | undefined;
}

/** Hashes stay below it, where the engine keeps integers unboxed. */
const HASH_MASK = 0x3fffffff;

/** Which ASCII codes belong to a run; all others do. */
const IN_RUN = Uint8Array.from({ length: 128 }, (_x, code) =>
  /[A-Za-z0-9]/.test(String.fromCharCode(code)) ? 1 : 0,
);

export class RunMemo<Value> {
  readonly #make: (run: string) => Value;
  readonly #entries = new Map<number, Entry<Value>>();
  /** Drawn anew each time, so that no server can make up words that are taken for others. */
  readonly #multiplier: number = 2 * Math.floor(Math.random() * 2 ** 28) + 257;

  /** `make` is asked once for each different run. */
  constructor(make: (run: string) => Value) {
    this.#make = make;
  }

  /** Calls `visit` with what is remembered of each run of the text, in order. */
  forEach(text: string, visit: (value: Value) => void): void {
    const multiplier = this.#multiplier;
    const end = text.length;
    for (let at = 0; at < end; at++) {
      const start = at;
      let hash = 0;
      let check = 0;
      for (; at < end; at++) {
        const code = text.charCodeAt(at);
        if (code < 128 && IN_RUN[code] === 0) break;
        hash = (Math.imul(hash, 31) + code) & HASH_MASK;
        check = (Math.imul(check, multiplier) + code + 1) & HASH_MASK;
      }
      if (at > start) visit(this.#recall(text, start, at, hash, check));
    }
  }

  #recall(text: string, start: number, end: number, hash: number, check: number): Value {
    const first = this.#entries.get(hash);
    for (let entry = first; entry !== undefined; entry = entry.next)
      if (entry.check === check) return entry.value;
    const value = this.#make(text.slice(start, end));
    this.#entries.set(hash, { check, value, next: first });
    return value;
  }
}
