import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAuditFile } from '../../src/call/audit-file.ts';
import { type AuditedCall, createAuditLine, shapeText } from '../../src/call/audit-line.ts';
import { createGate, fakeClock, scriptedServer } from '../../src/testing/index.ts';
import { failure } from '../world/failure.ts';
import { scratch, scriptedHost } from '../world/scripted-host.ts';

const asIs = (line: string): string => line;

describe('CAL-6: the audit log', () => {
  it('has the rule that decided, as call.end does', async () => {
    const dir = scratch();
    mkdirSync(join(dir, 'home'));
    const permissions = {
      deny: ['s__act(x=deny)'],
      ask: ['s__act(x=ask)'],
      allow: ['mcp__s__act(x=allow)'],
      readOnly: ['s__act(x=read)'],
    };
    writeFileSync(join(dir, 'home', 'config.json'), JSON.stringify({ permissions }));
    const world = await scriptedHost({ dir, server: scriptedServer({ tools: { act: () => 'done' } }) });
    for (const x of ['deny', 'ask', 'allow', 'read', 'other'])
      await world.host.call('mcp__s__act', { x }).catch(() => {});
    const ended = world.events('call.end').map(({ rule }) => rule);
    const lines = await world.audit();
    const rules = ['s__act(x=deny)', 's__act(x=ask)', 'mcp__s__act(x=allow)', 's__act(x=read)', undefined];
    expect(ended).toEqual(rules);
    expect(lines.map(({ rule }) => rule)).toEqual(rules);
    expect(lines.map(({ decision }) => decision)).toEqual([
      'the rule "s__act(x=deny)" denies it',
      'asked: allow',
      'the rule "mcp__s__act(x=allow)" allows it',
      'the rule "s__act(x=read)" marks it as read-only',
      'asked: allow',
    ]);
  });

  // Protocol: 25-cancellation-7, 25-overview-10e, 25-tools-18e, 26-cancellation-15, 26-overview-10e, 26-tools-36f
  it('has a line for every call: shapes, decision and outcome, and no value', async () => {
    const secret = 'hunter2-in-the-clear';
    const server = scriptedServer({
      tools: {
        send: (args) => `sent ${JSON.stringify(args)}`,
        fail: () => {
          throw new Error(secret);
        },
      },
    });
    const world = await scriptedHost({
      server,
      approve: ({ tool }) => (tool === 'send' ? 'allow-session' : 'deny'),
    });
    await world.host.call('mcp__s__send', {
      to: secret,
      list: [secret],
      deep: { n: 1, ok: true, nil: null },
    });
    await world.host.call('mcp__s__send');
    await failure(world.host.call('mcp__s__fail', { password: secret }));
    const { home } = world;
    const lines = await world.audit();
    const common = { time: '2026-01-01T00:00:00.000Z', session: 'host', server: 's', ms: 0 };
    expect(lines).toEqual([
      {
        ...common,
        tool: 'send',
        arguments: {
          to: `string(${secret.length})`,
          list: 'array(1)',
          deep: { n: 'number', ok: 'boolean', nil: 'null' },
        },
        decision: 'asked: allow-session',
        outcome: 'ok',
        bytes: expect.any(Number),
      },
      {
        ...common,
        tool: 'send',
        arguments: {},
        decision: 'allowed for this session',
        outcome: 'ok',
        bytes: 7,
      },
      {
        ...common,
        tool: 'fail',
        arguments: { password: `string(${secret.length})` },
        decision: 'asked: deny',
        outcome: 'denied',
        code: 'DENIED',
      },
    ]);
    expect(readFileSync(join(home, 'audit.jsonl'), 'utf8')).not.toContain(secret);
    expect(statSync(join(home, 'audit.jsonl')).mode & 0o777).toBe(0o600);
  });

  it("a call over a change of the system's time keeps its duration, and is not timed out by it", async () => {
    const [begun, go] = [createGate(), createGate()];
    const server = scriptedServer({
      tools: {
        slow: async () => {
          begun.open();
          await go.opened;
          return 'done';
        },
      },
    });
    const world = await scriptedHost({ server });
    const call = world.host.call('mcp__s__slow', {}, { ref: 'mine' });
    await begun.opened;
    world.clock.jump(86_400_000);
    await world.clock.advance(1_500);
    go.open();
    expect(await call).toMatchObject({ isError: false });
    expect(world.events('call.begin')).toMatchObject([{ tool: 'slow', ref: 'mine' }]);
    expect(world.events('call.end')).toMatchObject([{ outcome: 'ok', ms: 1_500 }]);
    expect(await world.audit()).toMatchObject([{ time: '2026-01-01T00:00:00.000Z', ms: 1_500 }]);
  });

  it('arguments and results are events of their own for who shows calls, and stay out of the audit', async () => {
    const world = await scriptedHost();
    const seen: unknown[] = [];
    for (const name of ['call.begin', 'call.arguments', 'call.result', 'call.end'] as const)
      world.host.on(name, (event) => void seen.push([name, event]));
    const result = await world.host.call('mcp__s__echo', { a: 1 });
    await world.host.call('mcp__s__nothing').catch(() => {});
    expect(seen).toEqual([
      ['call.begin', { id: 'c1', server: 's', tool: 'echo', session: 'host' }],
      ['call.arguments', { id: 'c1', arguments: { a: 1 } }],
      ['call.result', { id: 'c1', result }],
      ['call.end', { id: 'c1', outcome: 'ok', ms: 0 }],
    ]);
    expect(await world.audit()).toMatchObject([{ arguments: { a: 'number' } }]);
  });

  it('a shape is bounded, however wide and deep the arguments are', () => {
    const shapeOf = (value: unknown): unknown => JSON.parse(shapeText(value));
    const wide = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`k${at}`, at]));
    expect(Object.entries(shapeOf(wide) as object).slice(19)).toEqual([
      ['k19', 'number'],
      ['…', '10 more'],
    ]);
    expect(shapeOf({ a: { b: { c: { d: { e: 1 } } } } })).toEqual({ a: { b: { c: 'object(1)' } } });
    expect(shapeOf({ ['k'.repeat(1_000)]: 1 })).toEqual({ ['k'.repeat(64)]: 'number' });
    expect(shapeText(JSON.parse('{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":"number"}}');
    expect([{}, [], 'a', null, undefined, 1n, () => 1].map((value) => shapeText(value))).toEqual([
      '{}',
      ...['array(0)', 'string(1)', 'null', 'undefined', 'bigint', 'function'].map((each) => `"${each}"`),
    ]);
  });

  it('a line is what JSON.stringify would write, whatever names contain, at any time', () => {
    const { shapeOf, lineOf } = createAuditLine();
    const text = fc.string({ unit: 'binary', maxLength: 20 });
    const call = fc.record({
      at: fc.integer({ min: 0, max: 4_102_444_800_000 }),
      session: text,
      server: text,
      tool: text,
      arguments: fc.dictionary(text, fc.oneof(fc.string(), fc.integer(), fc.constant(null))),
      decision: text,
      outcome: fc.constantFrom('ok', 'denied'),
      ms: fc.nat(),
      code: fc.constantFrom(undefined, 'DENIED'),
      bytes: fc.option(fc.nat(), { nil: undefined }),
    });
    fc.assert(
      fc.property(call, (given) => {
        const { at, arguments: args, ...rest } = given as AuditedCall & { arguments: unknown };
        const shape = JSON.parse(shapeText(args));
        const line = lineOf({ at, ...rest }, shapeOf(args));
        const { time, arguments: written, ...others } = JSON.parse(line);
        expect({ time, written, others }).toEqual({
          time: new Date(at).toISOString(),
          written: shape,
          others: JSON.parse(JSON.stringify(rest)),
        });
        expect(line).not.toContain('\n');
      }),
    );
  });

  it('is rotated when it has grown, and keeps five old ones', async () => {
    const dir = scratch();
    const file = join(dir, 'audit.jsonl');
    const log = createAuditFile(
      {
        file,
        lockDir: join(dir, 'locks'),
        clock: fakeClock(),
        failed: expect.fail,
      },
      asIs,
    );
    for (let round = 0; round < 8; round += 1) {
      writeFileSync(file, `${'x'.repeat(10 * 1024 * 1024)}\n`);
      log.add(`{"round":${round}}`);
      await log.flush();
    }
    expect(
      readdirSync(dir)
        .filter((name) => name.startsWith('audit'))
        .sort(),
    ).toEqual([1, 2, 3, 4, 5].map((kept) => `audit.jsonl.${kept}`));
    expect(readFileSync(`${file}.1`, 'utf8').endsWith('{"round":7}\n')).toBe(true);
    expect(readFileSync(`${file}.5`, 'utf8').endsWith('{"round":3}\n')).toBe(true);
  });

  it('is written behind the calls, in one piece', async () => {
    const dir = scratch();
    const file = join(dir, 'audit.jsonl');
    const clock = fakeClock();
    const log = createAuditFile({ file, lockDir: join(dir, 'locks'), clock, failed: expect.fail }, asIs);
    log.add('{"a":1}');
    log.add('{"a":2}');
    expect(clock.pending).toBe(1);
    await clock.advance(250);
    await log.flush();
    expect(readFileSync(file, 'utf8')).toBe('{"a":1}\n{"a":2}\n');
  });

  it('a flush of nothing, and lines that come during a write, lose nothing', async () => {
    const dir = scratch();
    const file = join(dir, 'new', 'audit.jsonl');
    const log = createAuditFile(
      {
        file,
        lockDir: join(dir, 'locks'),
        clock: fakeClock(),
        failed: expect.fail,
      },
      asIs,
    );
    await log.flush();
    log.add('{"a":1}');
    const first = log.flush();
    log.add('{"a":2}');
    await first;
    await log.flush();
    log.add('{"a":3}');
    await log.flush();
    expect(readFileSync(file, 'utf8')).toBe('{"a":1}\n{"a":2}\n{"a":3}\n');
  });

  it('reports once that it cannot be written, and calls go on', async () => {
    const dir = scratch();
    mkdirSync(join(dir, 'home', 'audit.jsonl'), { recursive: true });
    const world = await scriptedHost({ dir });
    for (let count = 0; count < 3; count += 1) {
      await world.host.call('mcp__s__echo');
      await world.clock.advance(250);
    }
    await world.host.close();
    const said = world.events('log').filter(({ message }) => message.includes('audit.jsonl'));
    expect(said).toEqual([{ level: 'error', message: expect.stringContaining('cannot be written: EISDIR') }]);
  });

  it('two processes write whole lines into the same file, over a rotation too', async () => {
    const dir = scratch();
    const program = fileURLToPath(new URL('../fixtures/call-audit.mjs', import.meta.url));
    const lines = 400;
    const ends = await Promise.all(
      ['a', 'b'].map(async (who) => {
        const child = spawn(process.execPath, [program, dir, who, String(lines)], {
          stdio: ['ignore', 'ignore', 'inherit'],
        });
        return (await once(child, 'exit'))[0];
      }),
    );
    expect(ends).toEqual([0, 0]);
    const written = readdirSync(dir)
      .filter((name) => name.startsWith('audit.jsonl'))
      .flatMap((name) => readFileSync(join(dir, name), 'utf8').trimEnd().split('\n'))
      .map((line) => JSON.parse(line) as { who: string; at: number });
    for (const who of ['a', 'b']) {
      expect(
        written
          .filter((line) => line.who === who)
          .map(({ at }) => at)
          .sort((x, y) => x - y),
      ).toEqual(Array.from({ length: lines }, (_, at) => at));
    }
  });
});
