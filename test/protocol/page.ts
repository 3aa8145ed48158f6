/** docs/protocol.md: one table for each page of the specification, with the files and tests of every requirement. */

import type { Citation } from './citations.ts';
import type { Page, Requirement, Status } from './requirements.ts';

const HEAD = `# What the specification requires, and what shows it

Every MUST and SHOULD of the Model Context Protocol, revisions 2025-11-25 and 2026-07-28, for clients and for servers: one row each, in our
own words, with the files that keep it and the tests that show it. Plugboard is both: a client of the servers behind it, and a server
through its gateway and its kit.

This page is generated from [test/protocol](../test/protocol/README.md) and from the ids that tests cite
(\`npx vitest run test/protocol/protocol.test.ts --update\`). The run fails if a row has neither a test nor a reason, if a file is gone, or if a
key word of a page has no row. The number in an id is the position of its key word on the page of the specification.

- **for**: whom it binds. **both** is everyone who sends or receives messages.
- **kept in**: source files. Rows that are *not ours* or still *open* have a reason instead.
- **shown by**: tests; a name in \`code\` is a scenario of the official conformance suite.
`;

interface Shown {
  readonly row: Requirement;
  /** Of the row itself, or of the one that says the same. */
  readonly status: Exclude<Status, { kind: 'see' }>;
  readonly citations: readonly Citation[];
}

export function shownRows(pages: readonly Page[], citations: readonly Citation[]): Shown[] {
  const byId = groupBy(citations, ({ id }) => id);
  const rows = new Map(pages.flatMap((page) => page.rows.map((row) => [row.id, row] as const)));
  return [...rows.values()].map((row) => {
    const named = row.status.kind === 'see' ? (rows.get(row.status.id) ?? row) : row;
    const { status } = named;
    if (status.kind === 'see') throw new Error(`${row.id} names a row that names another one, or none`);
    const all = new Set([row.id, named.id].flatMap((id) => byId.get(id) ?? []));
    return { row, status, citations: [...all] };
  });
}

export function pageOf(pages: readonly Page[], citations: readonly Citation[]): string {
  const shown = new Map(shownRows(pages, citations).map((each) => [each.row.id, each]));
  const of = (page: Page): Shown[] => page.rows.flatMap(({ id }) => shown.get(id) ?? []);
  const links = new Set<string>();
  const tables = pages.map((page) => tableOf(page, of(page), links));
  const definitions = [...links].toSorted().map((path) => `[${labelOf(path)}]: ../${path}`);
  const revisions = [...groupBy(pages, ({ revision }) => revision)];
  const counts = revisions.map(([revision, own]) => totals(revision, own.flatMap(of)));
  const head = ['| revision | rows | shown by a test | not ours | open |', '| --- | --- | --- | --- | --- |'];
  return [HEAD, ...head, ...counts, '', ...tables, definitions.join('\n'), ''].join('\n');
}

function totals(revision: string, rows: readonly Shown[]): string {
  const count = (fits: (row: Shown) => boolean): number => rows.filter(fits).length;
  const isShown = ({ citations }: Shown): boolean => citations.length > 0;
  return `| ${[
    revision,
    rows.length,
    count(isShown),
    count((row) => row.status.kind === 'not ours' && !isShown(row)),
    count((row) => row.status.kind === 'open' && !isShown(row)),
  ].join(' | ')} |`;
}

function tableOf(page: Page, shown: readonly Shown[], links: Set<string>): string {
  const rows = shown.map(({ row, status, citations }) => {
    const kept =
      status.kind === 'kept'
        ? status.files.map((file) => link(file, links)).join(', ')
        : `*${status.kind}*: ${status.reason}`;
    const see = row.status.kind === 'see' ? ` (as ${row.status.id})` : '';
    return `| ${[row.id, row.role, row.level, `${row.text}${see}`, kept, evidence(citations, links)].join(' | ')} |`;
  });
  const url = `https://modelcontextprotocol.io/specification/${page.revision}/${page.path.replace(/\/?index$/, '')}`;
  return [
    `## ${page.revision}: ${page.path}\n`,
    `[The page](${url}). ${countOf(page)}\n`,
    '| id | for | level | requirement | kept in | shown by |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

function countOf({ keyWords, leftOut }: Page): string {
  const reasons = [...groupBy([...leftOut], ([, reason]) => reason)].map(
    ([reason, all]) => `${all.length} of them require nothing: ${reason}.`,
  );
  return [`Key words on it: ${keyWords}.`, ...reasons].join(' ');
}

function evidence(citations: readonly Citation[], links: Set<string>): string {
  if (citations.length === 0) return '–';
  const files = new Set(citations.filter(({ scenario }) => scenario === undefined).map(({ file }) => file));
  const scenarios = new Set(
    citations.flatMap(({ scenario }) => (scenario === undefined ? [] : [`\`${scenario}\``])),
  );
  return [...[...files].map((file) => link(file, links)), ...scenarios].join(', ');
}

function link(path: string, links: Set<string>): string {
  links.add(path);
  return `[${labelOf(path)}]`;
}

function labelOf(path: string): string {
  return path
    .replace(/^(src|test)\//, '')
    .replace(/\.(test\.|long\.)?ts$/, (end) => (end === '.ts' ? '.ts' : ' (test)'));
}

function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value]);
  return groups;
}
