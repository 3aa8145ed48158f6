/** Matches url patterns of managed rules, such as `https://*.example.com/*`, part by part. */

import { attempt } from '../lib/attempt.ts';

interface Pattern {
  /** Undefined: any. */
  readonly scheme: string | undefined;
  readonly host: string;
  /** Undefined: the default port of the scheme; any port for a denial. */
  readonly port: string | undefined;
  readonly path: string;
}

/**
 * In a host `*` matches one label or more, in a path anything. A denial matches more than a permission: every port if
 * it names none, and http as well as https, so that another spelling of an address does not evade it.
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
    // A pattern without a path, or with only a slash, matches the whole host.
    path: path === '' || path === '/' ? '/*' : path,
  };
}

function portOf(url: URL): string {
  return url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
}

/** Returns a path as sent, with its query, and percent-decoded. */
function pathsOf({ pathname, search }: URL): string[] {
  const paths = [pathname, pathname + search];
  return attempt(() => [...paths, decodeURIComponent(pathname)], paths);
}

/** The characters that a star may match. */
interface Star {
  readonly least: 0 | 1;
  readonly takes: (char: string) => boolean;
}

const HOST_STAR: Star = { least: 1, takes: (char) => !'/@:?#'.includes(char) };
const PATH_STAR: Star = { least: 0, takes: () => true };

/** Backtracks only to the last star: the address is untrusted, and a regular expression could take exponential time. */
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
