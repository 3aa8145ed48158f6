/** The requirements of the specification, as `requirements/<revision>/<page>.txt` has them: one row each. */

import { readdirSync, readFileSync } from 'node:fs';

export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
export type Revision = (typeof REVISIONS)[number];

const FOLDER = new URL('requirements/', import.meta.url);
const LEVELS = ['MUST', 'MUST NOT', 'SHOULD', 'SHOULD NOT', 'REQUIRED', 'RECOMMENDED'];
const ROLES = ['client', 'server', 'both'];
const MAX_WORDS = 24;

/** What becomes of a requirement here. */
export type Status =
  /** Files of the repository that keep it. */
  | { readonly kind: 'kept'; readonly files: readonly string[] }
  /** It does not bind Plugboard, or is a deliberate difference. */
  | { readonly kind: 'not ours'; readonly reason: string }
  /** It is not met, or nothing shows that it is. */
  | { readonly kind: 'open'; readonly reason: string }
  /** Another row of the same revision says the same. */
  | { readonly kind: 'see'; readonly id: string };

export interface Requirement {
  readonly id: string;
  /** Position of its key word on the page, counted from 1. */
  readonly at: number;
  readonly role: string;
  readonly level: string;
  readonly text: string;
  readonly status: Status;
}

export interface Page {
  readonly revision: Revision;
  /** Path below the revision's folder of the specification. */
  readonly path: string;
  /** How often the page has a key word. */
  readonly keyWords: number;
  /** Positions of key words that require nothing, each with the reason. */
  readonly leftOut: ReadonlyMap<number, string>;
  readonly rows: readonly Requirement[];
}

export function readPages(revision: Revision): Page[] {
  const folder = new URL(`${revision}/`, FOLDER);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.txt'))
    .map((file) =>
      parsePage(revision, file.slice(0, -'.txt'.length), readFileSync(new URL(file, folder), 'utf8')),
    )
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

function parsePage(revision: Revision, name: string, text: string): Page {
  const lines = text.split('\n').filter((line) => line !== '');
  const head = lines.filter((line) => /^(page|key words|left out): /.test(line));
  const valuesOf = (key: string): string[] =>
    head.filter((line) => line.startsWith(`${key}: `)).map((line) => line.slice(key.length + 2));
  const prefix = `${revision.slice(2, 4)}-${name}-`;
  return {
    revision,
    path: valuesOf('page')[0] ?? '',
    keyWords: Number(valuesOf('key words')[0]),
    leftOut: new Map(valuesOf('left out').flatMap(parseLeftOut)),
    rows: lines.filter((line) => !head.includes(line)).map((line) => parseRow(prefix, line)),
  };
}

/** `1-9 they define the key words` */
function parseLeftOut(value: string): [number, string][] {
  const [, first, last = first, reason = ''] = /^(\d+)(?:-(\d+))? (.+)$/.exec(value) ?? [];
  const from = Number(first);
  return Array.from({ length: Number(last) - from + 1 }, (_, at) => [from + at, reason]);
}

function parseRow(prefix: string, line: string): Requirement {
  const [id = '', role = '', level = '', text = '', where = '', ...rest] = line.split(' | ');
  const number = id.startsWith(prefix) ? /^(\d+)[a-z]?$/.exec(id.slice(prefix.length))?.[1] : undefined;
  const isWrong =
    number === undefined ||
    rest.length > 0 ||
    where === '' ||
    !ROLES.includes(role) ||
    !LEVELS.includes(level) ||
    text.split(' ').length > MAX_WORDS;
  if (isWrong) throw new Error(`Not a row of ${prefix}*: ${line}`);
  return { id, at: Number(number), role, level, text, status: parseStatus(where) };
}

function parseStatus(where: string): Status {
  const [, kind, value = ''] = /^(not ours:|open:|see) (.*)$/.exec(where) ?? [];
  switch (kind) {
    case 'not ours:':
      return { kind: 'not ours', reason: value };
    case 'open:':
      return { kind: 'open', reason: value };
    case 'see':
      return { kind: 'see', id: value };
    default:
      return { kind: 'kept', files: where.split(', ') };
  }
}
