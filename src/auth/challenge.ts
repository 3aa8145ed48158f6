/** Reads `WWW-Authenticate`: which scheme a server wants, which scope, and where it describes itself. */

/** Longer headers are not read: nothing that we need takes a page of text. */
const MAX_HEADER_CHARS = 8192;
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** One scheme, or one parameter with a token or a quoted string. Anchored and without nested repeats. */
const PARAMETER = new RegExp(`(${TOKEN})[ \\t]*=[ \\t]*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s",]+))`, 'y');
const SCHEME = new RegExp(`(${TOKEN})(?=[ \\t,]|$)`, 'y');
const GAP = /[ \t,]*/y;

/** What a server asks for, taken from the first challenge of a scheme that we speak. */
export interface Wanted {
  readonly scheme: 'bearer' | 'dpop' | undefined;
  readonly error: string | undefined;
  readonly scope: string | undefined;
  readonly resourceMetadata: string | undefined;
}

export const NOTHING_WANTED: Wanted = {
  scheme: undefined,
  error: undefined,
  scope: undefined,
  resourceMetadata: undefined,
};

export function readChallenge(header: string | undefined): Wanted {
  const spoken = parse(header ?? '').filter(({ scheme }) => scheme === 'bearer' || scheme === 'dpop');
  // A server that offers both is asked with the stronger one.
  const chosen = spoken.find(({ scheme }) => scheme === 'dpop') ?? spoken[0];
  if (chosen === undefined) return NOTHING_WANTED;
  return {
    scheme: chosen.scheme === 'dpop' ? 'dpop' : 'bearer',
    error: chosen.params.get('error'),
    scope: chosen.params.get('scope'),
    resourceMetadata: chosen.params.get('resource_metadata'),
  };
}

interface OneChallenge {
  readonly scheme: string;
  readonly params: Map<string, string>;
}

function parse(header: string): OneChallenge[] {
  if (header.length > MAX_HEADER_CHARS) return [];
  const found: OneChallenge[] = [];
  let at = 0;
  const eat = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(header);
    if (match !== null) at = pattern.lastIndex;
    return match;
  };
  while (at < header.length) {
    eat(GAP);
    const parameter = eat(PARAMETER);
    if (parameter !== null) {
      const [, name = '', quoted, plain = ''] = parameter;
      found.at(-1)?.params.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? plain);
      continue;
    }
    const scheme = eat(SCHEME);
    if (scheme !== null) {
      found.push({ scheme: (scheme[1] ?? '').toLowerCase(), params: new Map() });
      continue;
    }
    // The opaque word of a scheme that we do not speak: go on after it.
    const comma = header.indexOf(',', at);
    at = comma === -1 ? header.length : comma + 1;
  }
  return found;
}

/** The distinct words of scope texts, in the order of their first appearance. */
export function scopeUnion(...texts: readonly (string | undefined)[]): string | undefined {
  const words = new Set(texts.flatMap((text) => text?.split(/\s+/) ?? []).filter((word) => word !== ''));
  return words.size === 0 ? undefined : [...words].join(' ');
}

/** True when every word of `wanted` is in `granted`. */
export function scopeCovers(granted: string | undefined, wanted: string): boolean {
  const have = new Set(granted?.split(/\s+/));
  return wanted.split(/\s+/).every((word) => word === '' || have.has(word));
}
