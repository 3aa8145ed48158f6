/** `plugboard profile` and `plugboard audit`, and the flag `--profile` of other commands. */

import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../world/until.ts';
import { FIXTURES, Place } from './command.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(async () => {
  await place.run(['daemon', 'stop']);
  place.remove();
});

const SERVER = { command: process.execPath, args: [join(FIXTURES, 'cli-server.mjs')] };
const PROFILES = {
  reader: { servers: ['one'], tools: ['*__args', '*__media'], rules: { deny: ['one__media'] } },
  narrower: { extends: 'reader', tools: ['one__args'], budgets: [{ calls: 5, per: 'minute' }] },
};

function configure(more: object = {}): void {
  place.write(place.userFile, {
    mcpServers: { one: SERVER, two: SERVER },
    profiles: PROFILES,
    ...more,
  });
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
const call = {
  jsonrpc: '2.0',
  id: 3,
  method: 'tools/call',
  params: { name: 'one__args', arguments: { text: 'a secret' } },
};

/** The names of the tools that a client of `serve` with these flags has. */
async function served(flags: readonly string[], ...more: readonly object[]): Promise<unknown> {
  const input = [initialize, list, ...more].map((message) => `${JSON.stringify(message)}\n`).join('');
  const { stdout } = await place.run(['serve', ...flags], { input });
  const messages = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id?: number; result?: { tools?: { name: string }[] } });
  return messages.find(({ id }) => id === 2)?.result?.tools?.map(({ name }) => name);
}

describe('profile', () => {
  it('SRV-8: list shows profiles, their clients, and why one cannot be used', async () => {
    configure({
      profiles: { ...PROFILES, odd: { extends: 'none' } },
      clients: { me: { local: true, profile: 'reader' } },
    });
    await place.run(['token', 'add', 'laptop', '--profile', 'reader']);
    const { status, value } = await place.json(['profile', 'list']);
    const text = await place.run(['profile', 'list']);
    expect({ status, value }).toMatchObject({
      status: 0,
      value: {
        profiles: [
          { name: 'reader', servers: ['one'], tools: ['*__args', '*__media'], clients: ['laptop', 'me'] },
          { name: 'narrower', extends: 'reader', tools: ['one__args'], clients: [] },
          { name: 'odd', clients: [], problem: 'There is no profile called "none"' },
        ],
        problems: [{ line: expect.any(Number), column: expect.any(Number) }],
      },
    });
    expect([text.stdout, text.stderr]).toEqual([
      expect.stringContaining('clients: laptop, me'),
      expect.stringMatching(/config\.json:\d+:\d+: There is no profile called "none"/),
    ]);
  });

  it('SRV-8: show has the servers and tools that a profile has now', async () => {
    configure();
    const { value } = await place.json(['profile', 'show', 'narrower']);
    expect(value).toEqual({
      name: 'narrower',
      address: '/mcp/narrower',
      chain: ['narrower', 'reader'],
      servers: ['one'],
      whole: [],
      tools: ['mcp__one__args'],
      rules: { allow: [], ask: [], deny: ['one__media'], readOnly: [] },
      approvals: 'client',
      budgets: [{ calls: 5, per: 'minute' }],
      clients: [],
      use: [],
    });
  });

  it('SRV-8: show has the use of budgets that other processes counted', async () => {
    configure({
      profiles: {
        few: {
          servers: ['one'],
          budgets: [
            { calls: 3, per: 'day' },
            { calls: 2, per: 'minute' },
          ],
        },
      },
      clients: { me: { local: true, profile: 'few' } },
    });
    await served(['--own'], call);
    const { value } = await place.json(['profile', 'show', 'few']);
    const { stdout } = await place.run(['profile', 'show', 'few']);
    expect(value).toMatchObject({
      use: [
        {
          client: 'me',
          budgets: [{ calls: 3, per: 'day', used: 1, remaining: 2, resetsInSeconds: expect.any(Number) }],
        },
      ],
    });
    expect(stdout).toMatch(/^budget {7}2 calls per minute$/m);
    expect(stdout).toMatch(/^used {9}me: 1 of 3 calls per day, resets in \d+ (h|min|s)/m);
  });

  it('SRV-8: try shows what a call would lead to, and makes none', async () => {
    configure();
    const tried = async (...args: readonly string[]): Promise<unknown> =>
      (await place.json(['profile', 'try', ...args])).value;
    expect([
      await tried('reader', 'one__args', 'count=2'),
      await tried('reader', 'one__media'),
      await tried('reader', 'two__args'),
      await tried('reader', 'one__args', 'count:="x"'),
      await tried('reader', 'one.args', 'count=2'),
      await tried('reader', 'one/media'),
      await tried('reader', 'mcp__one__media'),
      await tried('reader', 'two.args'),
      await tried('reader', 'one', 'media'),
    ]).toMatchObject([
      {
        profile: 'reader',
        visible: true,
        decision: 'allow',
        reason: 'the agent asks its own user (approvals: client)',
      },
      { visible: true, decision: 'deny', rule: 'one__media' },
      { tool: 'two__args', visible: false },
      { visible: true, problems: [expect.stringContaining('count')] },
      { tool: 'mcp__one__args', visible: true, decision: 'allow' },
      { tool: 'mcp__one__media', visible: true, decision: 'deny' },
      { tool: 'mcp__one__media', visible: true, decision: 'deny' },
      { tool: 'two.args', visible: false },
      { tool: 'mcp__one__media', visible: true, decision: 'deny' },
    ]);
    expect((await place.run(['audit'])).stdout).toBe('');
    expect((await place.run(['profile', 'try', 'reader', 'one__args', 'count:="x"'])).stdout).toMatch(
      /^one__args would be rejected: its arguments are invalid\.\n {2}.*count/,
    );
    expect((await place.run(['profile', 'try', 'reader', 'two__args'])).stdout).toBe(
      'two__args is not visible: a call would be answered as if there were no such tool.\n',
    );
  });

  it('SRV-8: show notes tools that the extended profile does not have', async () => {
    configure({
      profiles: {
        base: { tools: ['one__args'] },
        more: { extends: 'base', tools: ['one__args', 'one__media'] },
      },
    });
    const { stdout, stderr } = await place.run(['profile', 'show', 'more']);
    expect(stdout).toContain('tools        mcp__one__args\n');
    expect(stderr).toBe(
      'note: more does not have mcp__one__media: base, which it extends, does not have them.\n',
    );
  });

  it('SRV-8: try notes a tool that no server has, and a rule with an argument that the tool does not have', async () => {
    configure({
      profiles: { cased: { rules: { deny: ['one__args(Count=2)', '*(COUNT=3)', '*(path=x)'] } } },
    });
    const [typo, cased] = [
      await place.run(['profile', 'try', 'cased', 'one__agrs']),
      await place.run(['profile', 'try', 'cased', 'one__args', 'count=2']),
    ];
    expect(typo.stderr).toBe('note: no server has a tool called "one__agrs".\n');
    expect(cased.stderr.split('\n').filter((line) => line.startsWith('note:'))).toEqual([
      'note: args has no argument "Count", which the rule "one__args(Count=2)" names. Names of arguments are compared exactly. Did you mean "count"?',
      'note: args has no argument "COUNT", which the rule "*(COUNT=3)" names. Names of arguments are compared exactly. Did you mean "count"?',
    ]);
  });

  it('SRV-8: list and show mark the clients that are refused, and list has the reasons', async () => {
    const hash = 'a'.repeat(64);
    configure({
      clients: {
        fine: { token: 'b'.repeat(64), profile: 'reader' },
        twin: { token: hash, profile: 'reader' },
        other: { token: hash, profile: 'reader' },
        lost: { token: 'c'.repeat(64), profile: 'nowhere' },
        two: { profile: 'narrower' },
      },
    });
    await place.run(['token', 'add', 'late', '--profile', 'reader', '--expires', '90s']);
    await place.run(['token', 'add', 'two', '--profile', 'reader']);
    const tokens = join(place.home, 'tokens.json');
    const past = readFileSync(tokens, 'utf8').replace(
      /"expires": "[^"]*"/,
      '"expires": "2020-01-01T00:00:00Z"',
    );
    place.write(tokens, past);
    const { value } = await place.json(['profile', 'list']);
    const [listed, shown] = [
      await place.run(['profile', 'list']),
      await place.run(['profile', 'show', 'reader']),
    ];
    expect(value).toMatchObject({
      refused: [
        { client: 'late', reason: 'its token has expired' },
        { client: 'two', reason: 'its profile is "reader" in tokens.json and "narrower" in config.json' },
        { client: 'twin', reason: '"other" has the same token' },
        { client: 'other', reason: '"twin" has the same token' },
        { client: 'lost', reason: 'There is no profile called "nowhere"' },
      ],
    });
    const marked = 'late (refused), two (refused), fine, twin (refused), other (refused)';
    expect(listed.stdout).toContain(`clients: ${marked}\n`);
    expect(listed.stdout).toMatch(/^Refused clients:\n {2}late +its token has expired$/m);
    expect(shown.stdout).toContain(`clients      ${marked}\n`);
  });

  it('SRV-8: an unknown profile is refused by every command, with the nearest name', async () => {
    configure();
    const commands = [
      ['profile', 'show', 'raeder'],
      ['token', 'add', 'x', '--profile', 'raeder'],
      ['serve', '--profile', 'raeder'],
      ['export', '--to', 'codex', '--profile', 'raeder', '--dry-run'],
    ];
    const ended = await Promise.all(commands.map((args) => place.run(args)));
    expect(ended.map(({ stderr }) => stderr)).toEqual(
      commands.map(() => expect.stringMatching(/no profile called "raeder"[\s\S]*"reader"/)),
    );
    expect(ended.every(({ status }) => status !== 0)).toBe(true);
  });
});

describe('a config.json that cannot be read', () => {
  it.each([
    ['broken', '{\n  "profiles": {,}\n}', '<home>/config.json:2:16: The file is not valid JSON'],
    ['empty', '', '<home>/config.json:1:1: The file is empty'],
  ])(
    'CFG-3: is reported by serve with its place if it is %s, over stdio and with --profile',
    async (_state, text, place_) => {
      place.write(place.userFile, text);
      const input = [initialize, list].map((message) => `${JSON.stringify(message)}\n`).join('');
      const [own, relayed, profiled] = await Promise.all(
        [['--own'], [], ['--profile', 'reader']].map((flags) => place.run(['serve', ...flags], { input })),
      );
      expect([own?.status, own?.stderr]).toEqual([0, expect.stringContaining(place_)]);
      expect([relayed?.status, relayed?.stderr]).toEqual([0, expect.stringContaining(place_)]);
      expect([profiled?.status, profiled?.stderr]).toEqual([2, expect.stringContaining(place_)]);
      expect(profiled?.stderr).not.toContain('There is no profile');
    },
  );
});

it.each([
  ['an own process', ['--own']],
  ['the daemon', []],
])('SRV-8: serve --profile serves only the profile over stdio, from %s', async (_where, own) => {
  configure();
  expect([await served([...own, '--profile', 'reader']), await served(own)]).toMatchObject([
    ['one__args', 'one__media'],
    { length: 8 },
  ]);
});

it.each([
  ['an own process', ['--own']],
  ['the daemon', []],
])('SRV-8: budgets count calls and refuse the next one, in %s', async (_where, flags) => {
  configure({
    profiles: { few: { servers: ['one'], budgets: [{ calls: 1, per: 'day' }] } },
    clients: { me: { local: true, profile: 'few' } },
  });
  const input = [initialize, call, { ...call, id: 4 }]
    .map((message) => `${JSON.stringify(message)}\n`)
    .join('');
  const { stdout } = await place.run(['serve', ...flags], { input });
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id?: number; result?: { isError?: boolean }; error?: object });
  const outcomes = [3, 4].map((id) => answers.find((answer) => answer.id === id));
  expect(outcomes.filter((each) => each?.result !== undefined && each.result.isError !== true)).toHaveLength(
    1,
  );
  expect(outcomes.find((each) => each?.error !== undefined)?.error).toMatchObject({
    code: -32029,
    data: { code: 'RATE_LIMITED' },
  });
});

it('SRV-8: token list shows profiles, and those that cannot be used', async () => {
  configure();
  const added = await place.json(['token', 'add', 'laptop', '--profile', 'reader', '--expires', '30d']);
  expect(added.value).toEqual({
    name: 'laptop',
    token: expect.stringMatching(/^plug_/),
    profile: 'reader',
    expires: expect.any(String),
  });
  await place.run(['token', 'add', 'all']);
  const before = await place.run(['token', 'list']);
  configure({ profiles: {} });
  const after = await place.run(['token', 'list']);
  expect([before.stdout, after.stdout]).toEqual([
    expect.stringMatching(/laptop +profile reader +created[\s\S]*all +everything/),
    expect.stringContaining('profile reader (cannot be used, so it is refused)'),
  ]);
});

it('SRV-8: export --profile writes an entry for the profile, and does not move servers out', async () => {
  configure();
  const { value } = await place.json(['export', '--to', 'cursor', '--profile', 'reader', '--dry-run'], {
    env: { HOME: place.dir },
  });
  const { status } = await place.run(['export', '--to', 'cursor', '--profile', 'reader', '--move']);
  expect([value, status]).toMatchObject([
    { entry: { args: expect.arrayContaining(['serve', '--stdio', '--profile', 'reader']) } },
    2,
  ]);
});

describe('audit', () => {
  const lines = async (...args: readonly string[]): Promise<unknown> =>
    ((await place.json(['audit', ...args])).value as { lines: { client?: string }[] }).lines;

  it('CAL-6: prints calls with their client and profile, filtered by time, client and server', async () => {
    configure();
    await served(['--own', '--profile', 'reader'], call);
    await place.run(['call', 'two', 'args']);
    const all = await lines();
    expect(all).toMatchObject([
      { client: 'local', profile: 'reader', server: 'one', tool: 'args', outcome: 'ok' },
      { server: 'two', tool: 'args', outcome: 'ok' },
    ]);
    expect(JSON.stringify(all)).not.toContain('a secret');
    expect([
      await lines('--client', 'local'),
      await lines('--server', 't*'),
      await lines('--since', '1h'),
      await lines('--since', '2099-01-01'),
      await lines('-n', '1'),
    ]).toMatchObject([{ length: 1 }, { length: 1 }, { length: 2 }, [], [{ server: 'two' }]]);
    expect((await place.run(['audit', '--client', 'local'])).stdout).toMatch(
      /local \(reader\) +ok +one args/,
    );
  });

  it('CAL-6: follows the log, and rejects a wrong time', async () => {
    configure();
    await served(['--own'], call);
    const { child, ended } = place.start(['--json', 'audit', '-f', '--server', 'one']);
    let printed = '';
    child.stdout?.on('data', (text: Buffer) => {
      printed += text.toString();
    });
    const count = (): number => printed.split('\n').filter((line) => line !== '').length;
    await until('the first line is printed', () => count() === 1);
    const file = join(place.home, 'audit.jsonl');
    const [line = ''] = readFileSync(file, 'utf8').split('\n');
    appendFileSync(file, `${line.replace('"one"', '"two"')}\n${line}\n`);
    await until('the new line of the server is printed', () => count() === 2);
    child.kill('SIGINT');
    await ended;
    expect((await place.run(['audit', '--since', 'yesterday'])).status).toBe(2);
  });
});
