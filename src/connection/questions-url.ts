/** Validates the URL of an elicitation and derives the host and the warning to show with it (A17). */

const MAX_URL_CHARS = 8_192;

export interface ShownUrl {
  readonly url: string;
  /** The host in its network form: other alphabets appear as `xn--…`. */
  readonly host: string;
  /** Shown before the person accepts. */
  readonly warning?: string;
}

/** Returns the normalized URL that would be opened, or one sentence on why it is refused. */
export function readUrl(raw: unknown): ShownUrl | { readonly refused: string } {
  if (typeof raw !== 'string' || raw.length > MAX_URL_CHARS || !URL.canParse(raw)) {
    return { refused: 'it has no address that can be read' };
  }
  const url = new URL(raw);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return { refused: `an address that begins with ${url.protocol} is not for a browser` };
  }
  // `https://bank.example@evil.example/` opens evil.example.
  if (url.username !== '' || url.password !== '')
    return { refused: 'its address hides its host behind a user name' };
  const warning = warningFor(url);
  return { url: url.href, host: url.host, ...(warning === undefined ? {} : { warning }) };
}

function warningFor(url: URL): string | undefined {
  if (/(?:^|\.)xn--/.test(url.hostname)) {
    return `${url.hostname} is written with letters of other alphabets, which can look like another address.`;
  }
  const local = url.hostname === 'localhost' || url.hostname === '[::1]' || url.hostname.startsWith('127.');
  if (url.protocol === 'http:' && !local) {
    return 'The connection is not encrypted: others on the way can read what is typed there.';
  }
  return undefined;
}
