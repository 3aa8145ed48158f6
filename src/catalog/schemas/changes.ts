/** What was done to a schema, in words for a person; bounded, because a schema decides how much there is to say. */

const MAX_CHANGES = 40;
const MAX_PATH_CHARS = 120;

export class Changes {
  readonly #lines = new Set<string>();
  #more = 0;

  /** `path` is where in the arguments; empty for the whole. */
  add(path: string, text: string): void {
    const place = path.length > MAX_PATH_CHARS ? `${path.slice(0, MAX_PATH_CHARS - 1)}…` : path;
    const line = place === '' ? text : `${place}: ${text}`;
    if (this.#lines.has(line)) return;
    if (this.#lines.size < MAX_CHANGES) this.#lines.add(line);
    else this.#more += 1;
  }

  list(): string[] {
    return this.#more === 0 ? [...this.#lines] : [...this.#lines, `and ${this.#more} more`];
  }
}
