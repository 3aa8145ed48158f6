import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { processRow, startedWithPrefix } from '../../src/lib/process-table.ts';
import { createReaper, OWNER_VARIABLE } from '../../src/transport/reaper.ts';
import { until } from '../world/until.ts';
import { fixture, onFixture } from './stdio-recorder.ts';

const KILLS = 100;
const AT_ONCE = 5;
/** Moments after the host's first step: half of them among the spawns, half while the servers come up. */
const SPAWNS_MS = 20;
const COMING_UP_MS = 400;

/** Every process that a host of this token has started, by either trace: its environment or its command line. */
function survivors(token: string, nap: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter(
      (pid) => startedWithPrefix(Number(pid), `TEST_TOKEN=${token}`) === '' || commandLine(pid).includes(nap),
    )
    .filter((pid) => processRow(Number(pid))?.zombie === false)
    .map((pid) => `${pid} ${commandLine(pid)}`);
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

function isLasting(process: string): boolean {
  return !process.endsWith(' sleep 0.3 ');
}

interface Host {
  readonly child: ChildProcess;
  readonly token: string;
  readonly nap: string;
}

function startHost(servers: readonly string[][]): Host {
  const token = randomUUID();
  // A sleep of a unique length: it identifies the process without its environment.
  const nap = `999.${Math.floor(Math.random() * 1e12)}`;
  const lines = servers.map((line) => JSON.stringify(line.map((word) => word.replaceAll('NAP', nap))));
  const child = spawn(process.execPath, [fixture('stdio-host.mjs'), ...lines], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TEST_TOKEN: token },
  });
  return { child, token, nap };
}

async function begun({ child }: Host): Promise<void> {
  const [what] = await Promise.race([once(child, 'exit'), once(child.stdout ?? child, 'data')]);
  if (!Buffer.isBuffer(what)) throw new Error('The host did not start: build dist/ first.');
}

const SERVERS = [
  [process.execPath, fixture('stdio-echo.mjs')],
  ['sh', '-c', 'sleep NAP & env -i sleep NAP; echo never'],
  ['sh', '-c', 'setsid sleep NAP & sh -c "setsid sh -c \'sleep NAP; echo never\' & wait"; wait'],
  ['sh', '-c', 'trap "" TERM HUP; setsid sleep NAP & while :; do sleep 0.3; done'],
];

describe('nothing outlives the host (CON-2)', () => {
  it('F4: killed with SIGKILL when all of its servers run, stubborn ones and strays included', async () => {
    const { child, token, nap } = startHost([
      ...SERVERS,
      [process.execPath, fixture('stdio-stubborn.mjs'), 'setsid'],
      // Neither group nor mark identify this one; its parent does, while it lives.
      ['sh', '-c', 'trap "" TERM HUP; env -i setsid sleep NAP & while :; do sleep 0.3; done'],
    ]);
    // The host, then 1 + 3 + 5 + 2 + 2 + 2 of its servers, not counting short naps.
    await until('all servers', () => survivors(token, nap).filter(isLasting).length === 1 + 15);
    child.kill('SIGKILL');
    await once(child, 'exit');
    await until('the end of all', () => survivors(token, nap).length === 0);
    expect(survivors(token, nap)).toEqual([]);
  });

  it('F4: killed with SIGKILL a hundred times at random moments of its start', async () => {
    const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000);
    console.log(`F4: TEST_SEED=${seed}`);
    const random = generator(seed);
    const hosts: Host[] = [];
    let killedRunning = 0;
    for (let round = 0; round < KILLS / AT_ONCE; round += 1) {
      const moments = Array.from(
        { length: AT_ONCE },
        (_, index) => random() * (index % 2 === 0 ? SPAWNS_MS : COMING_UP_MS),
      );
      const batch = moments.map(async (ms) => {
        const host = startHost(SERVERS);
        hosts.push(host);
        await begun(host);
        await new Promise((resolve) => setTimeout(resolve, ms));
        if (survivors(host.token, host.nap).length > 1) killedRunning += 1;
        host.child.kill('SIGKILL');
        await once(host.child, 'exit');
      });
      await Promise.all(batch);
    }
    await until('the end of all', () => hosts.every(({ token, nap }) => survivors(token, nap).length === 0));
    expect(hosts.flatMap(({ token, nap }) => survivors(token, nap))).toEqual([]);
    // The test would show nothing if the hosts had been killed before they started anything.
    expect(killedRunning).toBeGreaterThan(KILLS / 4);
  });

  it('F6: the same when its terminal hangs up or it is interrupted', async () => {
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
      const { child, token, nap } = startHost(SERVERS);
      await until('all servers', () => survivors(token, nap).length >= 1 + 8);
      child.kill(signal);
      await once(child, 'exit');
      await until('the end of all', () => survivors(token, nap).length === 0);
    }
  });
});

describe('the helper', () => {
  const helpers = (): string[] =>
    readdirSync('/proc').filter(
      (pid) =>
        processRow(Number(pid))?.parent === process.pid && commandLine(pid).includes('plugboard-reaper'),
    );

  it('is one for all servers of a host, starts with the first and is gone after close', async () => {
    expect(helpers()).toEqual([]);
    const reaper = createReaper({ env: process.env });
    expect(helpers()).toEqual([]);
    const pairs = [1, 2, 3].map(() => onFixture(reaper, ['stdio-echo.mjs']));
    for (const { transport, recorder } of pairs) await transport.open(recorder);
    expect(helpers()).toHaveLength(1);
    for (const { transport } of pairs) await transport.close();
    await reaper.close();
    await reaper.close();
    expect(helpers()).toEqual([]);
  });

  it('is small and carries no mark itself', async () => {
    const reaper = createReaper({ env: { ...process.env, [OWNER_VARIABLE]: 'of a host around us' } });
    reaper.mark();
    const [pid = ''] = helpers();
    await until('its start', () => readFileSync(`/proc/${pid}/environ`, 'latin1').startsWith('PATH='));
    expect(readFileSync(`/proc/${pid}/environ`, 'latin1')).toBe(`PATH=${process.env['PATH']}\0`);
    const kib = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
    expect(kib).toBeLessThan(4096);
    await reaper.close();
  });

  it('is started again when it is killed, and still has the servers', async () => {
    const reaper = createReaper({ env: process.env });
    const sleeper = spawn('sleep', ['999'], { detached: true, stdio: 'ignore' });
    const ended = once(sleeper, 'exit');
    reaper.mark();
    reaper.add(sleeper.pid ?? 0);
    const [first = ''] = helpers();
    process.kill(Number(first), 'SIGKILL');
    await until('another helper', () => helpers().some((pid) => pid !== first));
    await reaper.close(); // with a server still registered: it is ended
    expect(await ended).toEqual([null, 'SIGTERM']);
  });

  it('is replaced when it is killed while the host closes, so that the servers are ended', async () => {
    const reaper = createReaper({ env: process.env });
    const sleeper = spawn('sleep', ['999'], { detached: true, stdio: 'ignore' });
    const ended = once(sleeper, 'exit');
    reaper.mark();
    reaper.add(sleeper.pid ?? 0);
    const [first = ''] = helpers();
    process.kill(Number(first), 'SIGKILL');
    await reaper.close();
    expect(await ended).toEqual([null, 'SIGTERM']);
    expect(helpers()).toEqual([]);
  });

  it('forgets servers that are gone', async () => {
    const reaper = createReaper({ env: process.env });
    const sleepers = [1, 2].map(() => spawn('sleep', ['999'], { detached: true, stdio: 'ignore' }));
    const exits = sleepers.map((sleeper) => once(sleeper, 'exit'));
    reaper.mark();
    for (const sleeper of sleepers) reaper.add(sleeper.pid ?? 0);
    reaper.remove(sleepers[0]?.pid ?? 0);
    await reaper.close();
    expect(await exits[1]).toEqual([null, 'SIGTERM']);
    sleepers[0]?.kill('SIGINT');
    expect(await exits[0]).toEqual([null, 'SIGINT']);
  });
});

/** A small seeded generator (mulberry32), so that a failure can be repeated. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
