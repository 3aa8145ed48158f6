/** docs/surfaces.md: what each surface did, as the run that tested it saw it. */

import { table } from '../../scripts/docs/table.mjs';

const HEAD = `# What each surface does about it

One hostile project, one server with each fault, and one poisoned catalog, taken through every command, the library, the gateway, the daemon, the
management API, the page and \`chat\`, each in its real process. This page is written by that run, and the run fails when the page is not
current: [test/surfaces](../test/surfaces/surfaces.test.ts) (\`npx vitest run test/surfaces --update\` writes it).

In every cell: nothing of the project was started or contacted, good neighbours answered, each call had one outcome, and neither
terminal, page nor model received an escape sequence, a hidden character or active content. Codes and statuses are those of
[servers-in-trouble.md](servers-in-trouble.md#errors).

- **command**: \`call\`, \`read\` and \`prompt\` in a process of their own and through the daemon, with the same outcome.
- **gateway**: \`serve\` on stdio with servers of its own and attached to the daemon, and over HTTP, for clients of both eras, with the same outcome.
- **page**: the state that a person reads in a real browser.
`;

export type Row = readonly string[];

export function pageOf(situations: readonly Row[], commands: readonly Row[]): string {
  return [
    HEAD,
    '## By situation\n',
    table([
      ['what is wrong', 'command', 'library', 'gateway', 'API', 'page', '`chat`'],
      ...filled(situations),
    ]),
    '\n## By command\n\nTyped without a terminal. A dash: the command has nothing to do with servers that run.\n',
    table([
      ['command', 'in the hostile project', 'with the faulty servers', 'with the poisoned catalog'],
      ...filled(commands),
    ]),
    '',
  ].join('\n');
}

/** A cell that says nothing is a dash. */
function filled(rows: readonly Row[]): Row[] {
  return rows.map((row) => row.map((cell) => (cell === '' ? '–' : cell)));
}
