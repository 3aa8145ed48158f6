/** Collects the changes made to a schema as readable text; bounded, because the schema decides how many there are. */

const MAX_CHANGES = 40;
const MAX_PATH_CHARS = 120;

export class Changes {
  readonly #lines = new Set<string>();
  #more = 0;

  /** `path` is the location in the arguments; empty for the whole schema. */
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
