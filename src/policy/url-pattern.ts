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
  if (!glob(host, '[^/@:?#]+').test(url.hostname.replace(/\.$/, ''))) return false;
  if (port !== undefined && port !== '*' && port !== portOf(url)) return false;
  if (port === undefined && !deny && url.port !== '') return false;
  return pathsOf(url).some((each) => glob(path, '.*').test(each));
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

function glob(pattern: string, star: string): RegExp {
  const literal = pattern.split('*').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${literal.join(star)}$`, 's');
}
