/** docs/effort.md, from what a run has seen. */

interface AgentRow {
  readonly title: string;
  readonly lines: number;
  readonly fails: readonly string[];
  readonly definitionChars: number;
}

interface ServerRow {
  readonly title: string;
  readonly lines: number;
  readonly era: 'legacy' | 'modern';
}

export interface Effort {
  readonly agents: readonly AgentRow[];
  readonly servers: readonly ServerRow[];
  readonly situations: readonly { readonly name: string; readonly title: string }[];
  /** How many tools the server of the last row has. */
  readonly tools: number;
}

export function effortPage({ agents, servers, situations, tools }: Effort): string {
  const head = ['', ...agents.map(({ title }) => title)];
  const rows = [
    ['lines', ...agents.map(({ lines }) => String(lines))],
    ...situations.map(({ name, title }) => [
      title,
      ...agents.map(({ fails }) => (fails.includes(name) ? 'no' : 'yes')),
    ]),
    [
      `tool definitions in the first request, ${tools} tools`,
      ...agents.map(({ definitionChars }) => kilobytes(definitionChars)),
    ],
  ];
  return `# Effort

<!-- Written by the test: npx vitest run --config vitest.long.config.ts test/effort --update -->

The same agent and the same server, written with Plugboard and with the alternatives on npm. The programs are in
[test/effort/programs](../test/effort/programs); a test runs each of them in each situation, with a scripted model, and fails when a cell of
these tables is no longer true.

## An agent

It connects the servers of a configuration, runs one task with a model, asks its user before a call and answers the forms of
servers. What a library cannot do is left out of its program; what takes a few lines by hand is in it and in its number of lines (not
counting empty ones).

${table(head, rows)}

Plugboard's rows are the defaults of \`createHost()\`: a failed server is reported and the others are used, a server that has crashed
is started again, pictures go to the model in the form that its provider takes, and past a tenth of the model's window the
tools are found with a search. Not in the table, because no alternative has them: consent for servers of a project, pinned definitions, limits of results,
logins of remote servers kept in the system's keyring, and one set of processes for several agents.

## A server

Two tools (structured output with progress, and a form), a resource template and a prompt, both with completion. A client that uses all
of them gets the same from each. In the newer era the SDK runs a handler from its start again when the answer to its form has come;
the kit's handler goes on after its question.

${table(
  ['', ...servers.map(({ title }) => title)],
  [
    ['lines', ...servers.map(({ lines }) => String(lines))],
    [
      'newest protocol version',
      ...servers.map(({ era }) => (era === 'modern' ? '2026-07-28' : '2025-11-25')),
    ],
  ],
)}
`;
}

function kilobytes(chars: number): string {
  return `${(chars / 1_000).toFixed(1)} kB`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, column) =>
    Math.max(cell.length, 3, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
