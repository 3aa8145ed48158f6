/** Replaces known secrets in a text; every text for logs, errors and other users passes through here (POL-7). */

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

  readonly redact: Redact = (text) => {
    let out = text;
    for (const spelling of this.#spellings) {
      if (out.includes(spelling)) out = out.replaceAll(spelling, REDACTED);
    }
    return this.#withoutCutEnd(out);
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
