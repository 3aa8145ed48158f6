/** What servers and tools cost a model, and what saves most. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { loadTokenCounter } from '../../src/catalog/token-counter.ts';
import { estimateDefinition } from '../../src/catalog/tokens.ts';
import type { Host, HostOptions } from '../../src/index.ts';
import { createTestHost, scriptedServer } from '../../src/testing/index.ts';
import { scratch } from '../world/scripted-host.ts';

const hosts: Host[] = [];
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});

const described = (text: string): object => ({
  description: `Does it. ${text}`,
  inputSchema: {
    type: 'object',
    properties: { path: { type: 'string', description: text } },
    required: ['path'],
  },
  run: () => 'x'.repeat(400),
});
const LONG = 'A description of some length that explains how it works. '.repeat(8);
const DAY_MS = 24 * 60 * 60 * 1000;

/** A host with three servers, and an audit log that is older than the period. */
async function world(lines: readonly object[], options: HostOptions = {}): Promise<Host> {
  const home = join(scratch(), 'home');
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'audit.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const server = (tools: object): { inProcess: ReturnType<typeof scriptedServer> } => ({
    inProcess: scriptedServer({ tools: tools as never }),
  });
  const host = await createTestHost({
    home,
    servers: {
      used: server({ one: described(LONG), two: described(LONG), three: described('Short.') }),
      idle: server({ never: described(LONG + LONG.slice(0, 300)) }),
    },
    toolSearch: false,
    ...options,
  });
  hosts.push(host);
  await host.ready();
  return host;
}

const call = (server: string, tool: string, daysAgo: number, bytes = 4_000): object => ({
  time: new Date(Date.now() - daysAgo * DAY_MS).toISOString(),
  server,
  tool,
  outcome: 'ok',
  bytes,
});
const log = [
  call('idle', 'never', 40),
  call('used', 'one', 3),
  call('used', 'one', 2),
  call('used', 'three', 1),
];

describe('CAT-13: cost', () => {
  it('counts definitions in each form, results and calls, and names unused servers', async () => {
    const report = await (await world(log)).cost();
    const [used, idle] = report.servers;
    expect(report.servers.map(({ server, calls, unused }) => [server, calls, unused])).toEqual([
      ['used', 3, false],
      ['idle', 0, true],
    ]);
    expect([used?.resultTokens, idle?.resultTokens, report.search]).toEqual([3_000, 0, false]);
    const { full = 0, compact = 0, deferred = 0 } = used?.definitions ?? {};
    expect([compact < full / 2, deferred < compact, report.given]).toEqual([
      true,
      true,
      report.definitions.full,
    ]);
    expect(used?.tools.map(({ tool, calls }) => [tool, calls])).toEqual([
      ['one', 2],
      ['two', 0],
      ['three', 1],
    ]);
  });

  it('names the one command that saves most', async () => {
    const { saving } = await (await world(log)).cost();
    expect(saving).toEqual({
      tokens: expect.any(Number),
      reason: 'idle was not called in 30 days',
      command: ['plugboard', 'disable', 'idle'],
    });
    const called = [...log, call('idle', 'never', 1)];
    const next = await (await world(called)).cost({ days: 7 });
    expect(next.saving).toMatchObject({
      reason: '1 of the 3 tools of used was not called in 7 days',
      command: ['plugboard', 'set', 'used', 'disabledTools=["two"]'],
    });
  });

  it('a log that does not cover the period makes no server unused; one of less than a week gives no advice', async () => {
    const report = await (await world([call('used', 'one', 8), ...log.slice(1)])).cost();
    expect([report.servers.some(({ unused }) => unused), report.saving?.reason]).toEqual([
      false,
      expect.stringMatching(/^idle was not called since \d{4}-\d\d-\d\d$/),
    ]);
    const young = await (await world(log.slice(1))).cost();
    expect([young.since === undefined, young.saving]).toEqual([false, undefined]);
    const empty = await (await world([])).cost();
    expect([empty.since, empty.saving]).toEqual([undefined, undefined]);
  });

  it('with search, a model gets the search tool only', async () => {
    const report = await (await world(log, { toolSearch: true })).cost();
    expect([report.search, report.given < report.definitions.full, report.saving]).toEqual([
      true,
      true,
      undefined,
    ]);
  });
});

it('CAT-13: estimates are within 5 % of the tokenizer for definitions', async () => {
  const count = await loadTokenCounter();
  const schema = {
    type: 'object',
    properties: {
      project_id: { type: 'string', description: 'Project ID or URL-encoded path, such as group/project.' },
      mergeRequestIid: { type: 'integer', minimum: 1, description: 'The internal ID of the merge request.' },
      labels: { type: 'array', items: { type: 'string' }, description: 'Labels to add, at most 100.' },
    },
    required: ['project_id'],
    additionalProperties: false,
  };
  const texts = [
    JSON.stringify(schema),
    'Creates a merge request. Returns the URL, the author and the current state of its pipeline.\n\nUse it after a push.',
    'mcp__gitlab__create_merge_request',
  ];
  const [real, estimate] = [count, estimateDefinition].map((of) =>
    texts.reduce((sum, each) => sum + of(each), 0),
  );
  expect(Math.abs((estimate ?? 0) / (real ?? 1) - 1)).toBeLessThan(0.05);
  expect(count('<|endoftext|>')).toBeGreaterThan(1);
});
