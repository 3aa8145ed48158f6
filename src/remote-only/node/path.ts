/** `node:path` for a build without Node: POSIX paths. */

export const sep = '/';
export const delimiter = ':';

export function normalize(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (part !== '..' || !path.startsWith('/')) parts.push(part);
  }
  const joined = parts.join('/');
  return path.startsWith('/') ? `/${joined}` : joined || '.';
}

export function join(...parts: readonly string[]): string {
  return normalize(parts.filter((part) => part !== '').join('/'));
}

export function resolve(...parts: readonly string[]): string {
  const from = parts.findLastIndex((part) => part.startsWith('/'));
  return normalize(`/${parts.slice(Math.max(from, 0)).join('/')}`);
}

export function isAbsolute(path: string): boolean {
  return path.startsWith('/');
}

export function parse(path: string): { readonly root: string } {
  return { root: path.startsWith('/') ? '/' : '' };
}

export function dirname(path: string): string {
  const at = path.replace(/\/+$/, '').lastIndexOf('/');
  return at > 0 ? path.slice(0, at) : at === 0 ? '/' : '.';
}

export function basename(path: string, suffix = ''): string {
  const name = path.replace(/\/+$/, '').split('/').at(-1) ?? '';
  return suffix !== '' && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
}

export function relative(from: string, to: string): string {
  const [a, b] = [resolve(from).split('/').filter(Boolean), resolve(to).split('/').filter(Boolean)];
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same += 1;
  return [...a.slice(same).map(() => '..'), ...b.slice(same)].join('/');
}

interface Posix {
  readonly isAbsolute: typeof isAbsolute;
  readonly join: typeof join;
  readonly normalize: typeof normalize;
}

export const posix: Posix = { isAbsolute, join, normalize };
