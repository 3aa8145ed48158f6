/** Parses `WWW-Authenticate`: the scheme, the scope and the resource metadata url that a server requires. */

/** Longer headers are ignored; a real challenge is much shorter. */
const MAX_HEADER_CHARS = 8192;
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** Matches one parameter with a token or a quoted string. Anchored and without nested quantifiers. */
const PARAMETER = new RegExp(`(${TOKEN})[ \\t]*=[ \\t]*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s",]+))`, 'y');
const SCHEME = new RegExp(`(${TOKEN})(?=[ \\t,]|$)`, 'y');
const GAP = /[ \t,]*/y;

/** The requirements of a server, taken from the first challenge with a scheme that we support. */
export interface RequiredAccess {
  readonly scheme: 'bearer' | 'dpop' | undefined;
  readonly error: string | undefined;
  readonly scope: string | undefined;
  readonly resourceMetadata: string | undefined;
}

export const NOTHING_REQUIRED: RequiredAccess = {
  scheme: undefined,
  error: undefined,
  scope: undefined,
  resourceMetadata: undefined,
};

export function readChallenge(header: string | undefined): RequiredAccess {
  const spoken = parse(header ?? '').filter(({ scheme }) => scheme === 'bearer' || scheme === 'dpop');
  // If a server offers both schemes, the stronger one is used.
  const chosen = spoken.find(({ scheme }) => scheme === 'dpop') ?? spoken[0];
  if (chosen === undefined) return NOTHING_REQUIRED;
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
    // Skip the opaque token68 of a scheme that we do not support.
    const comma = header.indexOf(',', at);
    at = comma === -1 ? header.length : comma + 1;
  }
  return found;
}

/** Returns the distinct scopes of all texts, in order of first appearance. */
export function scopeUnion(...texts: readonly (string | undefined)[]): string | undefined {
  const words = new Set(texts.flatMap((text) => text?.split(/\s+/) ?? []).filter((word) => word !== ''));
  return words.size === 0 ? undefined : [...words].join(' ');
}

/** True if every scope in `wanted` is in `granted`. */
export function scopeCovers(granted: string | undefined, wanted: string): boolean {
  const have = new Set(granted?.split(/\s+/));
  return wanted.split(/\s+/).every((word) => word === '' || have.has(word));
}
