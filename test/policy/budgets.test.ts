import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { createHost, type Host, type PlugboardError } from '../../src/index.ts';
import { fakeClock, scriptedServer } from '../../src/testing/index.ts';
import { failure } from '../world/failure.ts';
import { scratch as configScratch } from '../world/scratch.ts';
import { scratch, scriptedHost } from '../world/scripted-host.ts';

/** A folder whose configuration has these settings. */
function configured(settings: object): string {
  const dir = scratch();
  mkdirSync(join(dir, 'home'));
  writeFileSync(join(dir, 'home', 'config.json'), JSON.stringify(settings));
  return dir;
}

const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: PlugboardError) => error.code,
  );

describe('POL-9: budgets', () => {
  it('refuse the call after the last one, with the time until the next period', async () => {
    const dir = configured({ budgets: [{ calls: 2, per: 'minute' }] });
    const { host, clock, audit, events } = await scriptedHost({ dir });
    await clock.advance(60_000 - (clock.now() % 60_000) + 12_300);
    await host.call('mcp__s__echo');
    await host.call('mcp__s__echo');
    const error = await failure(host.call('mcp__s__echo'));
    expect({ ...error.toJSON(), status: error.detail }).toEqual({
      code: 'RATE_LIMITED',
      message: 'mcp__s__echo was refused: the budget of 2 calls per minute is used up',
      server: 's',
      hint: 'Try again in 48 s.',
      retryAfterSeconds: 48,
      status: { retryAfterSeconds: 48 },
    });
    expect(events('call.end').at(-1)).toMatchObject({ outcome: 'denied', code: 'RATE_LIMITED' });
    expect(host.budgets()).toEqual([{ calls: 2, per: 'minute', used: 2, remaining: 0, resetsInSeconds: 48 }]);
    await clock.advance(48_000);
    expect(await outcomeOf(host.call('mcp__s__echo'))).toBe('ok');
    expect((await audit()).map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'denied', 'ok']);
  });

  it('are exact for 64 parallel calls of several sessions of one principal', async () => {
    const { host, server } = await scriptedHost();
    const budgets = { principal: 'ada', budgets: [{ calls: 40, per: 'hour' }] } as const;
    const sessions = Array.from({ length: 8 }, () => host.session({ budgets, approvals: 'client' }));
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, (_, at) => outcomeOf((sessions[at % 8] ?? host).call('mcp__s__echo'))),
    );
    expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(40);
    expect(outcomes.filter((outcome) => outcome === 'RATE_LIMITED')).toHaveLength(24);
    expect(
      server.received.filter((message) => 'method' in message && message.method === 'tools/call'),
    ).toHaveLength(40);
    const other = host.session({ budgets: { ...budgets, principal: 'bob' }, approvals: 'client' });
    expect(await outcomeOf(other.call('mcp__s__echo'))).toBe('ok');
    expect([sessions[0]?.budgets()[0]?.used, other.budgets()[0]?.used, host.budgets()]).toEqual([40, 1, []]);
    await host.close();
  });

  it('cost nothing for a call that is refused by another budget, by a rule, or by its schema', async () => {
    const dir = configured({
      budgets: [{ calls: 10, per: 'day' }],
      permissions: { deny: ['s__never'] },
    });
    const inputSchema = { type: 'object', required: ['x'] };
    const server = scriptedServer({
      tools: { echo: () => '', never: () => '', strict: { inputSchema, run: () => '' } },
    });
    const { host } = await scriptedHost({ dir, server });
    const session = host.session({
      approvals: 'client',
      budgets: { principal: 'p', budgets: [{ calls: 1, per: 'day' }] },
    });
    const codes: string[] = [];
    for (const name of ['never', 'strict', 'echo', 'echo', 'echo'])
      codes.push(await outcomeOf(session.call(`mcp__s__${name}`)));
    expect(codes).toEqual(['DENIED', 'INVALID_ARGUMENTS', 'ok', 'RATE_LIMITED', 'RATE_LIMITED']);
    expect(host.budgets()[0]?.used).toBe(1);
    await host.close();
  });

  it('apply to servers and tools by glob, and to tokens of results', async () => {
    const dir = configured({
      budgets: [
        { calls: 1, per: 'day', tool: 'wri*' },
        { calls: 2, per: 'day', tool: 's__read' },
        { calls: 0.5, per: 'day' },
        { resultTokens: 100, per: 'day', server: 's', tool: 'large' },
        { calls: 1, per: 'day', server: 'other' },
      ],
    });
    const server = scriptedServer({
      tools: { write: () => '', read: () => '', large: () => 'x'.repeat(360), free: () => '' },
    });
    const { host } = await scriptedHost({ dir, server });
    const outcomes = async (tool: string): Promise<string[]> => [
      await outcomeOf(host.call(`mcp__s__${tool}`)),
      await outcomeOf(host.call(`mcp__s__${tool}`)),
      await outcomeOf(host.call(`mcp__s__${tool}`)),
    ];
    const codes = {
      write: await outcomes('write'),
      read: await outcomes('read'),
      large: await outcomes('large'),
      free: await outcomes('free'),
    };
    expect(codes).toEqual({
      write: ['ok', 'RATE_LIMITED', 'RATE_LIMITED'],
      read: ['ok', 'ok', 'RATE_LIMITED'],
      // 90 tokens each: the second call is made with 10 tokens left.
      large: ['ok', 'ok', 'RATE_LIMITED'],
      free: ['ok', 'ok', 'ok'],
    });
    await host.close();
  });

  it('of a day survive a restart, and are written in batches without the name of the principal', async () => {
    const dir = scratch();
    const clock = fakeClock();
    const open = async (): Promise<Host> => {
      const { host } = await scriptedHost({ dir, clock });
      return host;
    };
    const budgets = {
      principal: 'SECRET-TOKEN',
      budgets: [
        { calls: 3, per: 'day' },
        { calls: 100, per: 'minute' },
      ],
    } as const;
    const first = await open();
    const session = first.session({ budgets, approvals: 'client' });
    await session.call('mcp__s__echo');
    await session.call('mcp__s__echo');
    await first.close();
    const text = readFileSync(join(dir, 'home', 'budgets.json'), 'utf8');
    expect(text).not.toContain('SECRET-TOKEN');
    expect(Object.values(JSON.parse(text))).toEqual([
      { window: expect.any(Number), used: 2, endsAt: expect.any(Number) },
    ]);
    const second = await open();
    const again = second.session({ budgets, approvals: 'client' });
    const codes = [await outcomeOf(again.call('mcp__s__echo')), await outcomeOf(again.call('mcp__s__echo'))];
    expect(codes).toEqual(['ok', 'RATE_LIMITED']);
    await clock.advance(86_400_000);
    expect(await outcomeOf(again.call('mcp__s__echo'))).toBe('ok');
    await second.close();
  });

  it('of a day add up what two processes count at the same time', async () => {
    const dir = scratch();
    const clock = fakeClock();
    const budgets = { principal: 'p', budgets: [{ calls: 10, per: 'day' }] } as const;
    const [a, b] = await Promise.all([scriptedHost({ dir, clock }), scriptedHost({ dir, clock })]);
    const [one, two] = [a.host, b.host].map((host) => host.session({ budgets, approvals: 'client' }));
    for (let count = 0; count < 3; count += 1) await one?.call('mcp__s__echo');
    for (let count = 0; count < 4; count += 1) await two?.call('mcp__s__echo');
    await a.host.close();
    await b.host.close();
    const [stored] = Object.values(JSON.parse(readFileSync(join(dir, 'home', 'budgets.json'), 'utf8')));
    expect(stored).toMatchObject({ used: 7 });
  });

  it('are not renewed by a clock that is set back', async () => {
    let offset = 0;
    const clock = fakeClock();
    const { host } = await scriptedHost({
      clock: { now: () => clock.now() + offset, after: (ms, fn) => clock.after(ms, fn) },
    });
    const session = host.session({
      approvals: 'client',
      budgets: { principal: 'p', budgets: [{ calls: 1, per: 'hour' }] },
    });
    await session.call('mcp__s__echo');
    offset = -7_200_000;
    const error = await failure(session.call('mcp__s__echo'));
    expect(error.detail.retryAfterSeconds).toBeGreaterThan(7_200);
    await host.close();
  });

  it('count reads of resources and prompts as calls of their methods', async () => {
    const dir = configured({ budgets: [{ calls: 1, per: 'day', tool: 'resources/read' }] });
    const server = scriptedServer({ capabilities: { resources: {} } }).on('resources/read', ({ params }) => ({
      contents: [{ uri: params['uri'], text: 'text' }],
    }));
    const { host } = await scriptedHost({ dir, server });
    const codes = [await outcomeOf(host.read('s', 'x://a')), await outcomeOf(host.read('s', 'x://a'))];
    expect(codes).toEqual(['ok', 'RATE_LIMITED']);
    await host.close();
  });

  it('that are invalid are reported with line and column, and the others are used', async () => {
    const { root, home, write } = configScratch();
    write(
      home.config,
      `{ "budgets": [
  { "calls": 1, "per": "day" },
  { "calls": 1, "resultTokens": 1, "per": "day" },
  { "calls": 1, "per": "week" },
  { "calls": 1 },
  7
] }`,
    );
    const { problems, settings } = await loadConfig({ cwd: root, home });
    expect(settings.budgets).toEqual([{ calls: 1, per: 'day' }]);
    expect(problems.map(({ line, message }) => `${line} ${message}`)).toEqual([
      '3 "budgets[1]" must have "per", and either "calls" or "resultTokens"',
      '4 "budgets[2].per" must be "second", "minute", "hour" or "day"',
      '5 "budgets[3]" must have "per", and either "calls" or "resultTokens"',
      '6 "budgets[4]" must be an object, not a number',
    ]);
  });

  it('of a session that are misspelt are an error', async () => {
    const { host } = await scriptedHost();
    const budgets = { principal: 'p', budgets: [{ calls: 1, per: 'week' }] };
    expect(() => host.session({ budgets } as never)).toThrow(/budgets/);
    await host.close();
  });
});

describe('CAL-7: maxConcurrentCalls', () => {
  it.each<[string, object, object]>([
    ['of the entry', { maxConcurrentCalls: 2 }, {}],
    ['of the defaults', {}, { defaults: { maxConcurrentCalls: 2 } }],
  ])('%s limits parallel calls, also of read-only tools', async (_where, entry, settings) => {
    const dir = configured(settings);
    let running = 0;
    let most = 0;
    const run = async (): Promise<string> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((done) => setImmediate(done));
      running -= 1;
      return '';
    };
    const server = scriptedServer({ tools: { read: { annotations: { readOnlyHint: true }, run } } });
    const host = await createHost({
      home: join(dir, 'home'),
      cwd: dir,
      env: {},
      watch: false,
      servers: { s: { command: 'scripted', trusted: true, ...entry } },
      replaceTransport: () => server.transport(),
    });
    await host.ready();
    await Promise.all(Array.from({ length: 10 }, () => host.call('mcp__s__read')));
    await host.close();
    expect(most).toBe(2);
  });
});
