/** A second evaluator of rules, written from docs/rules.md alone: slow, naive, and without code of the product. */

import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { posix } from 'node:path';

export interface ReferenceCondition {
  readonly argument: readonly string[];
  readonly operator: '=' | '!=' | '~' | '!~';
  readonly pattern: string;
}

export interface ReferencePlace {
  readonly projectDir: string;
  readonly folders: readonly string[];
}

/** Marks a value that cannot be read. */
const UNREADABLE = Symbol('unreadable');

type Answer = boolean | typeof UNREADABLE;

/** Whether all conditions of a rule match. `*` as a segment is every member. */
export function referenceMatches(
  conditions: readonly ReferenceCondition[],
  list: 'allow' | 'ask' | 'deny',
  args: unknown,
  place: ReferencePlace,
  schema: unknown = undefined,
): boolean {
  return conditions.every((condition) => {
    const positive = { ...condition, operator: condition.operator.replace('!', '') };
    const asAllow = (): boolean => strictly(args, positive.argument, positive, place) === true;
    const asDeny = (): boolean => loosely(args, positive.argument, positive, place, schema) !== false;
    if (!condition.operator.startsWith('!')) return list === 'allow' ? asAllow() : asDeny();
    if (list !== 'allow') return !asAllow();
    return isThere(args, positive.argument) && !asDeny();
  });
}

interface Positive {
  readonly operator: string;
  readonly pattern: string;
}

function isThere(value: unknown, path: readonly string[]): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every((element) => isThere(element, path));
  const [first, ...rest] = path;
  if (first === undefined) return value !== null && value !== undefined;
  if (typeof value !== 'object' || value === null) return false;
  const members = first === '*' ? Object.values(value) : ownOf(value, first);
  return members.length > 0 && members.every((member) => isThere(member, rest));
}

function ownOf(value: object, name: string): unknown[] {
  return Object.entries(value).flatMap(([key, member]) => (key === name ? [member] : []));
}

function strictly(
  value: unknown,
  path: readonly string[],
  condition: Positive,
  place: ReferencePlace,
): boolean {
  if (Array.isArray(value))
    return value.length > 0 && value.every((element) => strictly(element, path, condition, place));
  const [first, ...rest] = path;
  if (first !== undefined) {
    if (typeof value !== 'object' || value === null) return false;
    const members = first === '*' ? Object.values(value) : ownOf(value, first);
    return members.length > 0 && members.every((member) => strictly(member, rest, condition, place));
  }
  if (value === null) return condition.operator === '=' && condition.pattern === 'null';
  if (typeof value === 'object') return false;
  const texts = spellingsOf(value, condition, place);
  if (texts === UNREADABLE || texts === undefined) return false;
  if (isMeantAsPath(condition) && typeof value === 'string' && hasDots(value)) return false;
  if (kindOf(condition) === 'url' && texts.some((text) => !URL.canParse(text))) return false;
  return texts.every((text) => fits(text, condition, place, false));
}

function loosely(
  value: unknown,
  path: readonly string[],
  condition: Positive,
  place: ReferencePlace,
  schema: unknown,
): Answer {
  if (Array.isArray(value))
    return anyOf(
      value.map((element) => () => loosely(element, path, condition, place, memberOf(schema, 'items'))),
    );
  const [first, ...rest] = path;
  if (first !== undefined) {
    if (typeof value !== 'object' || value === null) return false;
    const names = first === '*' ? Object.keys(value) : [first];
    return anyOf(
      names.map((name) => () => {
        const property = memberOf(memberOf(schema, 'properties'), name);
        const own = ownOf(value, name);
        const used = own.length > 0 ? own[0] : memberOf(property, 'default');
        return used === undefined ? false : loosely(used, rest, condition, place, property);
      }),
    );
  }
  if (typeof value === 'object' && value !== null)
    return anyOf(
      Object.entries(value).flatMap(([name, member]) => [
        () => loosely(name, [], condition, place, undefined),
        () => loosely(member, [], condition, place, undefined),
      ]),
    );
  const texts = spellingsOf(value, condition, place);
  if (texts === UNREADABLE) return UNREADABLE;
  if (texts?.some((text) => fits(text, condition, place, true))) return true;
  if (typeof value !== 'string' || !isMeantAsPath(condition)) return false;
  const asPath = { ...condition, pattern: `./${condition.pattern.replace(/\/$/, '')}` };
  return loosely(value, [], asPath, place, undefined);
}

/** A glob of text with "/" inside, or with "." at its beginning. */
function isMeantAsPath(condition: Positive): boolean {
  const { operator, pattern } = condition;
  const isLike = pattern.startsWith('.') || pattern.includes('/');
  return operator === '=' && isLike && kindOf(condition) === 'text';
}

/** Whether a spelling of a value as a path has the segments ".", ".." or "" (not at its beginning or end). */
function hasDots(value: string): boolean {
  const texts = writtenOf(value, 'path', 'https');
  return (
    texts === UNREADABLE ||
    texts.some((text) => {
      const segments = text.split('/');
      return segments.includes('.') || segments.includes('..') || text.includes('//');
    })
  );
}

function anyOf(answers: readonly (() => Answer)[]): Answer {
  const all = answers.map((answer) => answer());
  return all.includes(true) ? true : all.includes(UNREADABLE) ? UNREADABLE : false;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? ownOf(value, name)[0] : undefined;
}

function kindOf({ operator, pattern }: Positive): 'text' | 'path' | 'url' {
  if (operator === '~') return 'text';
  const isPath =
    ['/', '~/', './', '../', '${PROJECT_DIR}', 'file://'].some((start) => pattern.startsWith(start)) ||
    ['~', '.', '..'].includes(pattern);
  if (isPath) return 'path';
  return /^[a-z*]+:\/\//.test(pattern) ? 'url' : 'text';
}

/** Undefined: a value that is neither a path nor a URL. */
function spellingsOf(
  value: unknown,
  condition: Positive,
  place: ReferencePlace,
): readonly string[] | undefined | typeof UNREADABLE {
  const kind = kindOf(condition);
  if (typeof value !== 'string') return kind === 'text' ? [JSON.stringify(value)] : undefined;
  const scheme = /^[a-z]+(?=:)/.exec(condition.pattern)?.[0] ?? 'https';
  const all = writtenOf(value, kind, scheme);
  if (all === UNREADABLE || kind !== 'path') return all;
  const paths = all
    .filter((text) => !text.toLowerCase().startsWith('file:'))
    .flatMap((text) => pathsOf(text, place));
  return paths.includes(undefined) ? UNREADABLE : paths.flatMap((path) => path ?? []);
}

/** All spellings of a string, before paths are resolved. */
function writtenOf(
  value: string,
  kind: 'text' | 'path' | 'url',
  scheme: string,
): readonly string[] | typeof UNREADABLE {
  let all = [value];
  for (let before = 0; before !== all.length; ) {
    before = all.length;
    all = [...new Set([...all, ...all.flatMap((text) => others(text, kind, scheme))])];
    if (all.length > 32) return UNREADABLE;
  }
  return all.some((text) => text.includes('\u0000')) ? UNREADABLE : all;
}

function others(text: string, kind: 'text' | 'path' | 'url', scheme: string): string[] {
  const same = [
    text.normalize('NFC'),
    text.normalize('NFKC'),
    [...text].filter((character) => !/\p{Default_Ignorable_Code_Point}/u.test(character)).join(''),
    text.trim(),
  ];
  if (kind === 'text') return same;
  same.push(decoded(text));
  if (kind === 'path') {
    same.push(text.split('\\').join('/'));
    if (text.toLowerCase().startsWith('file:')) {
      let path = text.slice(5);
      if (path.startsWith('//')) path = path.slice(2).replace(/^[^/\\]*/, '');
      same.push(path, path.split(/[?#]/)[0] ?? '');
    }
    return same;
  }
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    const added = `${scheme}://${text.replace(/^[\\/]*/, '')}`;
    if (URL.canParse(added)) same.push(added);
  }
  const slashes = text.indexOf('://');
  const authority = slashes === -1 ? '' : (text.slice(slashes + 3).split(/[/?#]/)[0] ?? '');
  const isScheme = !/[:/?#]/.test(text.slice(0, Math.max(0, slashes)));
  if (isScheme && authority.includes('@') && authority.slice(0, authority.lastIndexOf('@')).includes('\\'))
    same.push(text.slice(0, slashes + 3) + text.slice(slashes + 3 + authority.lastIndexOf('@') + 1));
  if (!URL.canParse(text)) return same;
  const [plain, nameless, bare, dotless] = [new URL(text), new URL(text), new URL(text), new URL(text)];
  Object.assign(nameless, { username: '', password: '' });
  Object.assign(bare, { search: '', hash: '' });
  if (dotless.hostname.endsWith('.')) dotless.hostname = dotless.hostname.slice(0, -1);
  return [...same, plain.href, nameless.href, bare.href, dotless.href];
}

function decoded(text: string): string {
  return text
    .split(/((?:%[0-9a-f][0-9a-f])+)/i)
    .map((part) => {
      try {
        return part.startsWith('%')
          ? new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
              Buffer.from(part.replaceAll('%', ''), 'hex'),
            )
          : part;
      } catch {
        return part;
      }
    })
    .join('');
}

function pathsOf(text: string, { projectDir, folders }: ReferencePlace): (string | undefined)[] {
  const written = [text];
  if (text.startsWith('~')) {
    const end = text.indexOf('/') === -1 ? text.length : text.indexOf('/');
    const name = text.slice(1, end);
    const home = name === '' ? homedir() : posix.join(posix.dirname(homedir()), name);
    written.push(home + text.slice(end));
  }
  return written.flatMap((path) => {
    const absolute = path.startsWith('/')
      ? [path]
      : [projectDir, ...folders].map((folder) => `${folder}/${path}`);
    return absolute.flatMap((each) => [posix.resolve(each), real(each, 40)]);
  });
}

/** As the system resolves a path, from its end. */
function real(path: string, links: number): string | undefined {
  const trimmed = path.replace(/\/+$/, '');
  if (trimmed === '') return '/';
  const last = trimmed.slice(trimmed.lastIndexOf('/') + 1);
  const parent = real(trimmed.slice(0, trimmed.lastIndexOf('/') + 1), links);
  if (parent === undefined) return undefined;
  if (last === '.') return parent;
  if (last === '..') return posix.dirname(parent);
  const here = posix.join(parent, last);
  try {
    return realpathSync(here);
  } catch (error) {
    if ((error as { code?: string }).code === 'ELOOP') return undefined;
  }
  try {
    if (!lstatSync(here).isSymbolicLink()) return here;
  } catch {
    return here;
  }
  if (links === 0) return undefined;
  const target = readlinkSync(here);
  return real(target.startsWith('/') ? target : `${parent}/${target}`, links - 1);
}

function fits(text: string, condition: Positive, place: ReferencePlace, ignoreCase: boolean): boolean {
  const kind = kindOf(condition);
  const { operator, pattern } = condition;
  if (operator === '~') {
    const source = pattern.split('${PROJECT_DIR}').join(place.projectDir.replaceAll('.', '[.]'));
    return new RegExp(source, ignoreCase ? 'sui' : 'su').test(text);
  }
  if (kind !== 'path') {
    const glob = pattern.split('${PROJECT_DIR}').join(place.projectDir);
    return globFits([...glob], [...text], kind === 'url', ignoreCase);
  }
  return pathPatterns(pattern, place.projectDir).some((glob) =>
    globFits([...glob], [...text], true, ignoreCase),
  );
}

/** The pattern as an absolute path, by name and with the links of its fixed part. Tests have no special characters in folders. */
function pathPatterns(pattern: string, projectDir: string): string[] {
  const located = pattern
    .replace(/^file:\/\//, '')
    .replace(/^~/, homedir())
    .replace('${PROJECT_DIR}', projectDir)
    .replace(/^(?=\.)/, `${projectDir}/`);
  const parts = located.split('/');
  const glob = parts.findIndex((part) => /[*?[{]/.test(part));
  const fixed = posix.resolve(parts.slice(0, glob === -1 ? parts.length : glob).join('/') || '/');
  const rest = glob === -1 ? [] : parts.slice(glob).filter((part) => part !== '' && part !== '.');
  const isOwn = fixed === projectDir || fixed.startsWith(`${projectDir}/`);
  const bases = isOwn ? [fixed] : [fixed, real(fixed, 40) ?? fixed];
  return bases.map((base) => (rest.length === 0 ? base : `${base === '/' ? '' : base}/${rest.join('/')}`));
}

/** Matches a glob by trying everything. */
function globFits(
  glob: readonly string[],
  text: readonly string[],
  isParted: boolean,
  ignoreCase: boolean,
): boolean {
  const same = (a: string, b: string): boolean =>
    ignoreCase
      ? new RegExp(
          `^${a.replace(/[^\p{L}\p{N}\s]/u, (c) => (c === '-' ? '-' : /[\^$\\.*+?()[\]{}|/]/.test(c) ? `\\${c}` : c))}$`,
          'iu',
        ).test(b)
      : a === b;
  const [first, second, third, fourth] = glob;
  if (first === undefined) return text.length === 0;
  if (first === '{') {
    const { choices, after } = bracesOf(glob);
    return choices.some((choice) => globFits([...choice, ...after], text, isParted, ignoreCase));
  }
  if (isParted && first === '/' && second === '*' && third === '*') {
    if (fourth === undefined) return text.length === 0 || text[0] === '/';
    if (fourth === '/') {
      if (text[0] !== '/') return false;
      const starts = text.flatMap((character, at) => (character === '/' ? [at + 1] : []));
      return starts.some((at) => globFits(glob.slice(4), text.slice(at), isParted, ignoreCase));
    }
  }
  if (first === '*') {
    const isDouble = second === '*';
    let rest = 1;
    while (glob[rest] === '*') rest += 1;
    for (let taken = 0; taken <= text.length; taken += 1) {
      if (globFits(glob.slice(rest), text.slice(taken), isParted, ignoreCase)) return true;
      if (isParted && !isDouble && text[taken] === '/') return false;
    }
    return false;
  }
  const [next, ...others_] = text;
  if (next === undefined) return false;
  if (first === '?')
    return !(isParted && next === '/') && globFits(glob.slice(1), others_, isParted, ignoreCase);
  if (first === '\\')
    return (
      second !== undefined && same(second, next) && globFits(glob.slice(2), others_, isParted, ignoreCase)
    );
  if (first === '[') {
    const end = glob.indexOf(']', second === '!' || second === '^' ? 3 : 2);
    const isNot = second === '!' || second === '^';
    const members = glob.slice(isNot ? 2 : 1, end).join('');
    const isIn = new RegExp(`^[${isNot ? '^' : ''}${members}]$`, ignoreCase ? 'sui' : 'su').test(next);
    return (
      isIn && !(isParted && next === '/') && globFits(glob.slice(end + 1), others_, isParted, ignoreCase)
    );
  }
  return same(first, next) && globFits(glob.slice(1), others_, isParted, ignoreCase);
}

function bracesOf(glob: readonly string[]): { choices: string[][]; after: readonly string[] } {
  const choices: string[][] = [[]];
  let depth = 0;
  for (const [at, character] of glob.entries()) {
    if (character === '{') depth += 1;
    if (character === '}') depth -= 1;
    if (depth === 0) return { choices, after: glob.slice(at + 1) };
    if (depth === 1 && character === '{' && at === 0) continue;
    if (depth === 1 && character === ',') choices.push([]);
    else choices.at(-1)?.push(character);
  }
  return { choices, after: [] };
}
