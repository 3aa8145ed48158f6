/**
 * Frameworks from npm with a scripted provider, by what an agent needs of them. Writes docs/frameworks.md with `--update`, and fails if the page is
 * not what the run found.
 */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { installFrameworks, versionOf } from '../../scripts/install-frameworks.mjs';
import { nodes } from '../../scripts/install-nodes.mjs';
import { AGENTS } from './agents.mjs';
import { compileFaults, type SentRequest, typeFaults } from './check-types.mjs';
import { SCENARIOS } from './scenarios.mjs';
import { typedTools } from './typed-tools.mjs';

const RUN = fileURLToPath(new URL('./run.mjs', import.meta.url));
const ROW_TIMEOUT_MS = 120_000;
const TIMEOUT_MS = 1_200_000;
/** Requests of these are made of an adapter's own output; the others are made by a framework. */
const WRITTEN_BY_ADAPTERS = new Set([
  'OpenAI Responses',
  'OpenAI Chat',
  'Anthropic',
  'Gemini, automatic calling',
  'Gemini, own loop',
]);

interface Row {
  readonly outcomes: Readonly<Record<string, string>>;
  readonly requests: readonly unknown[];
  readonly warnings: readonly string[];
}

async function run(name: string): Promise<Row> {
  const node = nodes.get(AGENTS[name]?.node ?? 20) ?? process.execPath;
  const options = { timeout: ROW_TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await promisify(execFile)(node, [RUN, name], options);
  return JSON.parse(stdout) as Row;
}

beforeAll(async () => {
  expect(await installFrameworks()).toBe(0);
}, TIMEOUT_MS);

it('every framework does everything, as docs/frameworks.md shows', { timeout: TIMEOUT_MS }, async () => {
  const rows: [string, Row][] = [];
  for (const name of Object.keys(AGENTS)) rows.push([name, await run(name)]);
  const failures = rows.flatMap(([name, { outcomes, warnings }]) => [
    ...Object.entries(outcomes).flatMap(([scenario, outcome]) =>
      outcome.startsWith('no') ? [`${name}, ${scenario}: ${outcome}`] : [],
    ),
    ...warnings.map((warning) => `${name}: ${warning}`),
  ]);
  expect(failures).toEqual([]);
  const sent = rows.flatMap(([name, { requests }]): SentRequest[] => {
    const api = AGENTS[name]?.api;
    return api === undefined || !WRITTEN_BY_ADAPTERS.has(name) ? [] : requests.map((body) => ({ api, body }));
  });
  expect(typeFaults(sent)).toEqual([]);
  await expect(page(rows)).toMatchFileSnapshot('../../docs/frameworks.md');
});

it.each([5, 6, 7])('typed tools have exact types in AI SDK %i', (version) => {
  expect(compileFaults(typedTools(version))).toEqual([]);
});

function page(rows: readonly [string, Row][]): string {
  const scenarios = Object.keys(SCENARIOS);
  const table = [
    ['framework', 'packages', ...scenarios],
    ...rows.map(([name, { outcomes }]) => [
      name,
      (AGENTS[name]?.packages ?? []).map((each) => `${published(each)} ${versionOf(each)}`).join(', '),
      ...scenarios.map((scenario) => outcomes[scenario] ?? ''),
    ]),
  ];
  return `${HEAD}\n${markdown(table)}\n`;
}

/** Packages whose versions are next to each other have other names here. */
function published(name: string): string {
  return name.replace(/^ai-\d$/, 'ai').replace(/^openai-for-ai-\d$/, '@ai-sdk/openai');
}

function markdown(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_cell, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0))) ?? [];
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  const [head = [], ...rest] = rows;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rest.map(line)].join('\n');
}

const HEAD = `# Frameworks

Written by \`npm run test:long\` (test/frameworks/matrix.long.ts): real packages from npm with [adapters](adapters.md), a scripted provider over HTTP, and a
server of the [kit](kit.md) as a process. The provider refuses what the real one would refuse: calls without an answer, unknown references, empty text,
media types that it does not take, media in messages that take text only. Requests that consist of an adapter's own output are also compiled
against the types that providers publish in \`openai\`, \`@anthropic-ai/sdk\` and \`@google/genai\`. No framework may print a warning.

| column       | the agent                                                                                                      |
| ------------ | -------------------------------------------------------------------------------------------------------------- |
| plain        | calls a tool of the server                                                                                     |
| own tools    | has a tool of its author next to those of the host, in the framework's usual way, and calls both in one turn   |
| search       | finds a tool with \`tool_search\` and calls it, next to its own tool                                             |
| approval     | is allowed a call once, and then denied it                                                                     |
| form         | calls a tool that asks the person by a form                                                                    |
| image        | gets a PNG, which the model is shown or has as a file, and an SVG, which is a file; the conversation continues |
| error        | gets a tool's failure, marked as one; the conversation continues                                               |
| cancel       | is stopped while a tool runs, and the call at the server ends                                                  |
| two sessions | runs twice at once over one host, and each asks its own person                                                 |
`;
