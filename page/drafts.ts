/** Keeps unsent input of forms for this window, so that a reload does not lose it. */

const PREFIX = 'plugboard-draft:';
const SAVE_DELAY_MS = 200;
/** Larger input is not kept. */
const MAX_CHARS = 200_000;
const MAX_DRAFTS = 60;

export class Drafts {
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>();
  readonly #pending = new Map<string, unknown>();

  constructor() {
    addEventListener('pagehide', () => this.#flush());
  }

  load(key: string): unknown {
    if (this.#pending.has(key)) return this.#pending.get(key);
    try {
      return JSON.parse(sessionStorage.getItem(PREFIX + key) ?? 'null') ?? undefined;
    } catch {
      return undefined;
    }
  }

  /** Saves a value after a short delay. */
  save(key: string, value: unknown): void {
    this.#pending.set(key, value);
    clearTimeout(this.#timers.get(key));
    this.#timers.set(
      key,
      setTimeout(() => this.#write(key), SAVE_DELAY_MS),
    );
  }

  remove(key: string): void {
    clearTimeout(this.#timers.get(key));
    this.#timers.delete(key);
    this.#pending.delete(key);
    sessionStorage.removeItem(PREFIX + key);
  }

  #flush(): void {
    for (const key of [...this.#pending.keys()]) this.#write(key);
  }

  #write(key: string): void {
    const value = this.#pending.get(key);
    this.remove(key);
    try {
      const text = JSON.stringify(value);
      if (text.length > MAX_CHARS) return;
      this.#makeRoom();
      sessionStorage.setItem(PREFIX + key, text);
    } catch {
      // Storage that is full or switched off keeps no drafts; the form still works.
    }
  }

  #makeRoom(): void {
    const keys = Object.keys(sessionStorage).filter((key) => key.startsWith(PREFIX));
    for (const key of keys.slice(0, Math.max(0, keys.length - MAX_DRAFTS + 1)))
      sessionStorage.removeItem(key);
  }
}
