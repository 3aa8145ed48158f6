/** Returns the spellings of a string that servers may treat alike; conditions of rules look at all of them. */

import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { attempt } from '../lib/attempt.ts';
import { resolveLinks, resolveLinksIn } from '../lib/resolve-links.ts';

/** A value with more spellings than this is made to have them. */
const MAX_SPELLINGS = 32;

type Respelled = (text: string) => readonly string[];

/** A text of printable ASCII without white space at its ends has one spelling. */
const PLAIN = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/;

function textRespelled(text: string): readonly string[] {
  if (PLAIN.test(text)) return [];
  return [
    text.normalize('NFC'),
    text.normalize('NFKC'),
    text.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, ''),
    text.trim(),
  ];
}

/** Returns the spellings of a text; undefined if it is unreadable. */
export function textSpellings(text: string): readonly string[] | undefined {
  return PLAIN.test(text) ? [text] : spellings(text, []);
}

function spellings(text: string, more: readonly Respelled[]): readonly string[] | undefined {
  const found = new Set([text]);
  // The set grows while it is read.
  for (const each of found) {
    if (each.includes('\0')) return undefined;
    for (const respelled of [textRespelled, ...more]) {
      for (const other of respelled(each)) found.add(other);
    }
    if (found.size > MAX_SPELLINGS) return undefined;
  }
  return [...found];
}

function percentDecoded(text: string): readonly string[] {
  if (!text.includes('%')) return [];
  return [text.replaceAll(/(?:%[0-9A-Fa-f]{2})+/g, (run) => attempt(() => decodeURIComponent(run), run))];
}

// Paths.

/** Where paths begin. */
export interface PathPlace {
  readonly projectDir: string;
  /** Other folders that a relative path may be relative to. */
  readonly folders: readonly string[];
  /** The working folder of the server is not known, so relative paths are unreadable. */
  readonly isUnknown?: boolean;
}

const FILE_URL = /^file:/i;

function pathRespelled(text: string): readonly string[] {
  const slashed = text.includes('\\') ? [text.replaceAll('\\', '/')] : [];
  if (!FILE_URL.test(text)) return [...slashed, ...percentDecoded(text)];
  const path = text.slice('file:'.length).replace(/^\/\/[^/\\]*/, '');
  return [...slashed, ...percentDecoded(text), path, path.replace(/[?#].*$/s, '')];
}

/** Returns the paths that a text may be, absolute, with "/" and without links too; undefined if it is unreadable. */
export function pathSpellings(text: string, place: PathPlace): readonly string[] | undefined {
  const written = spellings(text, [pathRespelled])?.filter((each) => !FILE_URL.test(each));
  if (written === undefined) return undefined;
  const found = new Set<string>();
  for (const path of written.flatMap(withHome)) {
    if (place.isUnknown === true && !isAbsolute(path)) return undefined;
    const bases = isAbsolute(path) ? [''] : [place.projectDir, ...place.folders];
    for (const base of bases) {
      const real = base === '' ? resolveLinks(path) : realIn(base, path);
      if (real === undefined) return undefined;
      found.add(slashes(resolve(base, path)));
      found.add(slashes(real));
    }
  }
  return [...found];
}

function realIn(base: string, path: string): string | undefined {
  // The folder nearly always exists, so the system resolves all of it at once.
  const folder = attempt(() => realpathSync.native(base), undefined) ?? resolveLinks(base);
  return folder === undefined ? undefined : resolveLinksIn(folder, path);
}

/** True if a text, read as a path, has `.`, `..` or empty segments, or is unreadable. */
export function hasUnresolved(text: string): boolean {
  const written = spellings(text, [pathRespelled]);
  return written?.some((each) => /(?:^|\/)\.{1,2}(?:\/|$)|\/\//.test(each)) ?? true;
}

function withHome(path: string): readonly string[] {
  const [, name, rest = ''] = /^~([^/]*)(.*)$/s.exec(path) ?? [];
  if (name === undefined) return [path];
  const home = homedir();
  return [path, `${name === '' ? home : join(dirname(home), name)}${rest}`];
}

function slashes(path: string): string {
  return process.platform === 'win32' ? path.replaceAll('\\', '/') : path;
}

// URLs.

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//;

/** Returns the URLs that a text may be; undefined if it is unreadable. `scheme`: for a text without one. */
export function urlSpellings(text: string, scheme: string): readonly string[] | undefined {
  return spellings(text, [percentDecoded, (each) => urlRespelled(each, scheme)]);
}

function urlRespelled(text: string, scheme: string): readonly string[] {
  // "host:443/x" is a URL with the scheme "host", and clients that add a scheme read it in another way.
  const found = SCHEME.test(text)
    ? []
    : [`${scheme}://${text.replace(/^[/\\]+/, '')}`].filter((url) => URL.canParse(url));
  // By RFC 3986 a backslash does not end the host: "https://a\@b/" has the host b, by WHATWG a.
  const [, start, rest] = /^([^:/?#]*:\/\/)[^/?#]*\\[^/?#]*@([^@/?#]*(?:[/?#].*)?)$/s.exec(text) ?? [];
  if (start !== undefined && rest !== undefined) found.push(`${start}${rest}`);
  if (!URL.canParse(text)) return found;
  const url = new URL(text);
  found.push(url.href);
  const vary = (change: (copy: URL) => void): void => {
    const copy = new URL(url);
    change(copy);
    found.push(copy.href);
  };
  vary((copy) => {
    copy.username = '';
    copy.password = '';
  });
  vary((copy) => {
    copy.search = '';
    copy.hash = '';
  });
  vary((copy) => {
    copy.hostname = copy.hostname.replace(/\.$/, '');
  });
  return found;
}
