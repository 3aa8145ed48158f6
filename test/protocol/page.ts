/** docs/protocol.md: one table for each page of the specification, with the files and tests of every requirement. */

import type { Citation } from './citations.ts';
import type { Page, Requirement } from './requirements.ts';

const HEAD = `# What the specification requires, and what shows it

Every MUST and SHOULD of the Model Context Protocol, revisions 2025-11-25 and 2026-07-28, for clients and for servers: one row each, in our
own words, with the files that keep it and the tests that show it. Plugboard is both: a client of the servers behind it, and a server
through its gateway and its kit.

This page is generated from [test/protocol](../test/protocol/README.md) and from the ids that tests cite
(\`npx vitest run test/protocol/protocol.test.ts --update\`). The run fails if a row has neither a test nor a reason, if a file is gone, or if a
key word of a page has no row. The number in an id is the position of its key word on the page of the specification.

- **for**: whom it binds. **both** is everyone who sends or receives messages.
- **kept in**: source files. Rows that are *not ours* have a reason instead.
- **shown by**: tests; a name in \`code\` is a scenario of the official conformance suite.
`;

interface Shown {
  readonly row: Requirement;
  readonly citations: readonly Citation[];
}

/** Rows by id, with their own citations and those of the row that says the same. */
export function shownRows(
  pages: readonly Page[],
  citations: readonly Citation[],
): ReadonlyMap<string, Shown> {
  const byId = groupBy(citations, ({ id }) => id);
  const rows = new Map(pages.flatMap((page) => page.rows.map((row) => [row.id, row] as const)));
  return new Map(
    [...rows.values()].map((row) => {
      const original = row.sameAs === undefined ? row : (rows.get(row.sameAs) ?? row);
      const shown = [...(byId.get(row.id) ?? []), ...(original === row ? [] : (byId.get(original.id) ?? []))];
      const { files, notOurs } = original;
      return [
        row.id,
        { row: { ...row, files, ...(notOurs === undefined ? {} : { notOurs }) }, citations: shown },
      ];
    }),
  );
}

export function pageOf(pages: readonly Page[], citations: readonly Citation[]): string {
  const shown = shownRows(pages, citations);
  const links = new Set<string>();
  const tables = pages.map((page) => tableOf(page, shown, links));
  const definitions = [...links].toSorted().map((path) => `[${labelOf(path)}]: ../${path}`);
  return [HEAD, totals(pages, shown), ...tables, definitions.join('\n'), ''].join('\n');
}

function totals(pages: readonly Page[], shown: ReadonlyMap<string, Shown>): string {
  const lines = [...groupBy(pages, ({ revision }) => revision)].map(([revision, own]) => {
    const rows = own
      .flatMap((page) => page.rows.map(({ id }) => shown.get(id)))
      .filter((each) => each !== undefined);
    const tested = rows.filter(({ citations }) => citations.length > 0);
    const notOurs = rows.filter(({ row, citations }) => row.notOurs !== undefined && citations.length === 0);
    return `| ${revision} | ${rows.length} | ${tested.length} | ${notOurs.length} |`;
  });
  return ['| revision | rows | shown by a test | not ours |', '| --- | --- | --- | --- |', ...lines, ''].join(
    '\n',
  );
}

function tableOf(page: Page, shown: ReadonlyMap<string, Shown>, links: Set<string>): string {
  const rows = page.rows.map(({ id }) => {
    const { row, citations } = shown.get(id) ?? { row: undefined, citations: [] };
    if (row === undefined) throw new Error(`${id} is no row`);
    const kept =
      row.notOurs === undefined
        ? row.files.map((file) => link(file, links)).join(', ')
        : `*not ours*: ${row.notOurs}`;
    const see = row.sameAs === undefined ? '' : ` (as ${row.sameAs})`;
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
