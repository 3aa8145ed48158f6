import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { DIFFERENCES } from './differences.ts';

const PAGE = fileURLToPath(new URL('../../docs/faithful.md', import.meta.url));

const INTRODUCTION = `# What is different through the gateway

A client has through the gateway what it would have with a server of its own: every field of tools, resources, prompts, results and content
blocks, known or not, \`_meta\` in both directions, progress, log messages, questions, changes, cancellation, error codes and data. 200 generated
servers are used by the clients of SDK v1 (1.32) and v2 (2.4, legacy and modern), directly and through \`plugboard serve\` over stdio and HTTP,
and everything that the clients receive is compared ([differential.long.ts](../test/faithful/differential.long.ts)). This table has the
differences that are deliberate; the comparison undoes exactly these, and this page is written from the code that does so
([differences.ts](../test/faithful/differences.ts)).
`;

it('docs/faithful.md has every deliberate difference and its reason', async () => {
  const rows = Object.values(DIFFERENCES).map(({ what, why }) => [what, why]);
  const lines = [['difference', 'reason'], ...rows];
  const widths = [0, 1].map((at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = lines;
  const rule = widths.map((width) => '-'.repeat(width));
  const table = [row(head), row(rule), ...body.map(row)].join('\n');
  await expect(`${INTRODUCTION}\n${table}\n`).toMatchFileSnapshot(PAGE);
});
