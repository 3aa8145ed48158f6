import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { DIFFERENCES, type Difference, OTHERS } from './differences.ts';

const PAGE = fileURLToPath(new URL('../../docs/faithful.md', import.meta.url));

const INTRODUCTION = `# What is different through the gateway

A client has through the gateway what it would have with a server of its own: every field of tools, resources, prompts, results and content
blocks, known or not, \`_meta\` in both directions, progress, log messages, questions, changes, cancellation, error codes and data. 200 generated
servers are used by the clients of SDK v1 (1.32) and v2 (2.4, legacy and modern), directly and through \`plugboard serve\` over stdio and HTTP,
and everything that the clients receive is compared ([differential.long.ts](../test/faithful/differential.long.ts)). These tables have the
differences that are deliberate; the comparison undoes exactly those of the first, and this page is written from the code that does so
([differences.ts](../test/faithful/differences.ts)).
`;

const OTHERS_TITLE = `## Limits, repairs and what has no single owner

The generated servers do not show these.
`;

function tableOf(differences: readonly Difference[]): string {
  const lines = [['difference', 'reason'], ...differences.map(({ what, why }) => [what, why])];
  const widths = [0, 1].map((at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = lines;
  const rule = widths.map((width) => '-'.repeat(width));
  return [row(head), row(rule), ...body.map(row)].join('\n');
}

it('docs/faithful.md has every deliberate difference and its reason', async () => {
  const page = [INTRODUCTION, tableOf(Object.values(DIFFERENCES)), '', OTHERS_TITLE, tableOf(OTHERS), ''];
  await expect(page.join('\n')).toMatchFileSnapshot(PAGE);
});
