/** Patterns of addresses in managed rules: `https://*.example.com/*`. Compared part by part, never as one text. */

interface Pattern {
  /** Undefined: any. */
  readonly scheme: string | undefined;
  readonly host: string;
  /** Undefined: the scheme's own, for a denial any. */
  readonly port: string | undefined;
  readonly path: string;
}

/**
 * In a host `*` stands for one label or more, in a path for anything. A denial reaches further than a permission:
 * it holds for every port where it names none and for http as well as https, so that no other spelling of an
 * address gets past it.
 */
export function matchesUrl(pattern: string, address: string, effect: 'allow' | 'deny'): boolean {
  if (!URL.canParse(address)) return false;
  const url = new URL(address);
  const { scheme, host, port, path } = parse(pattern);
  const deny = effect === 'deny';
  if (!deny && scheme !== undefined && `${scheme}:` !== url.protocol) return false;
  if (!fits(host, url.hostname.replace(/\.$/, ''), HOST_STAR)) return false;
  if (port !== undefined && port !== '*' && port !== portOf(url)) return false;
  if (port === undefined && !deny && url.port !== '') return false;
  return pathsOf(url).some((each) => fits(path, each, PATH_STAR));
}

function parse(pattern: string): Pattern {
  const [, scheme, authority = '', path = ''] =
    /^(?:([a-z*][a-z0-9+.*-]*):\/\/)?([^/?#]*)(.*)$/is.exec(pattern.trim()) ?? [];
  const [, host = '', port] = /^(.*?)(?::(\d+|\*))?$/s.exec(authority) ?? [];
  return {
    scheme: scheme === undefined || scheme === '*' ? undefined : scheme.toLowerCase(),
    host: host.toLowerCase().replace(/\.$/, ''),
    port,
    // A pattern without a path, or with nothing but a slash, means the whole host.
    path: path === '' || path === '/' ? '/*' : path,
  };
}

function portOf(url: URL): string {
  return url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
}

/** A path as it is sent, with and without its query, and with its percent signs read. */
function pathsOf({ pathname, search }: URL): string[] {
  const paths = [pathname, pathname + search];
  try {
    return [...paths, decodeURIComponent(pathname)];
  } catch {
    return paths;
  }
}

/** What a star may stand for. */
interface Star {
  readonly least: 0 | 1;
  readonly takes: (char: string) => boolean;
}

const HOST_STAR: Star = { least: 1, takes: (char) => !'/@:?#'.includes(char) };
const PATH_STAR: Star = { least: 0, takes: () => true };

/** Goes back to the last star only: an address is a stranger's, and as a regular expression it could take for ever. */
function fits(pattern: string, text: string, { least, takes }: Star): boolean {
  let at = 0;
  let after: number | undefined;
  let starEnd = 0;
  for (let from = 0; from < text.length; ) {
    if (pattern[at] === '*' && (least === 0 || takes(text.charAt(from)))) {
      at += 1;
      after = at;
      from += least;
      starEnd = from;
    } else if (pattern[at] === text[from] && pattern[at] !== '*') {
      at += 1;
      from += 1;
    } else if (after !== undefined && takes(text.charAt(starEnd))) {
      at = after;
      starEnd += 1;
      from = starEnd;
    } else return false;
  }
  return least === 0 ? /^\**$/.test(pattern.slice(at)) : at === pattern.length;
}
