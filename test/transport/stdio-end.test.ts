import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { PlugboardError } from '../../src/errors.ts';
import { processIds, processRow } from '../../src/lib/process-table.ts';
import { createReaper } from '../../src/transport/reaper.ts';
import { childEnvironment } from '../../src/transport/server-environment.ts';
import { createStdioTransport } from '../../src/transport/stdio-transport.ts';
import { until } from '../world/until.ts';
import { fixture, onFixture, Recorder } from './stdio-recorder.ts';

const reaper = createReaper({ env: process.env });
afterAll(() => reaper.close());

/** Dead: gone, or a zombie that only its reaper has yet to see. */
function isDead(pid: number): boolean {
  return processRow(pid)?.zombie ?? true;
}

async function pidsOf(recorder: Recorder): Promise<number[]> {
  const { message } = await recorder.next('message');
  return 'params' in message ? (message.params?.['pids'] as number[]) : [];
}

describe('closing a server', () => {
  // Protocol: 25-lifecycle-15, 26-stdio-12
  it('F1: one that ignores the end of its input and SIGTERM is gone when close resolves', async () => {
    const { transport, recorder } = onFixture(reaper, ['stdio-stubborn.mjs']);
    await transport.open(recorder);
    const pids = await pidsOf(recorder);
    await transport.close();
    expect(pids.map(isDead)).toEqual([true]);
    expect(recorder.of('closed')).toEqual([{ kind: 'closed', error: undefined }]);
  });

  it('F2: behind sh -c the whole group dies', async () => {
    const recorder = new Recorder();
    const transport = createStdioTransport({
      command: 'sh',
      // Not the last command, so that the shell stays between us and the server.
      args: ['-c', '"$0" "$1" group; echo never', process.execPath, fixture('stdio-stubborn.mjs')],
      env: { PATH: process.env['PATH'] ?? '' },
      reaper,
    });
    await transport.open(recorder);
    const pids = await pidsOf(recorder);
    const shell = transport.pid ?? 0;
    await transport.close();
    expect(pids).toHaveLength(2);
    expect([shell, ...pids].map(isDead)).toEqual([true, true, true]);
  });

  it('F2: behind npx the whole group dies', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'plugboard-npx-'));
    const bin = join(dir, 'node_modules', '.bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(dir, 'package.json'), '{ "name": "somebody", "private": true }');
    writeFileSync(
      join(bin, 'stubborn'),
      `#!/bin/sh\n"${process.execPath}" "${fixture('stdio-stubborn.mjs')}"\n`,
    );
    chmodSync(join(bin, 'stubborn'), 0o755);
    const recorder = new Recorder();
    const env = childEnvironment({}, process.env);
    const transport = createStdioTransport({
      command: 'npx',
      args: ['--no', 'stubborn'],
      env,
      cwd: dir,
      reaper,
    });
    await transport.open(recorder);
    const pids = await pidsOf(recorder);
    const npx = transport.pid ?? 0;
    await transport.close();
    rmSync(dir, { recursive: true });
    expect(pids).not.toEqual([npx]);
    expect([npx, ...pids].map(isDead)).toEqual([true, true]);
  });

  it('F3: grandchildren in sessions of their own are found and ended, with an empty environment too', async () => {
    const { transport, recorder } = onFixture(reaper, ['stdio-stubborn.mjs', 'group', 'setsid', 'bare']);
    await transport.open(recorder);
    const pids = await pidsOf(recorder);
    await transport.close();
    expect(pids.map(isDead)).toEqual([true, true, true, true]);
  });

  it('F3: processes that a crashed server left behind are ended automatically', async () => {
    const { transport, recorder } = onFixture(reaper, ['stdio-stubborn.mjs', 'group', 'setsid']);
    await transport.open(recorder);
    const pids = await pidsOf(recorder);
    process.kill(transport.pid ?? 0, 'SIGKILL');
    expect((await recorder.next('closed')).error?.code).toBe('CONNECTION_LOST');
    await until('the end of all', () => pids.every(isDead));
    await transport.close();
  });

  // Protocol: 25-lifecycle-15, 26-stdio-12
  it('a well-behaved server ends by itself and is never signalled', async () => {
    const { transport, recorder } = onFixture(reaper, ['stdio-polite.mjs']);
    await transport.open(recorder);
    await recorder.next('message');
    await transport.close();
    expect(recorder.of('notice').map((one) => one.notice.message)).toEqual(['input ended']);
  });

  it('a stopped server is ended too', async () => {
    const { transport, recorder } = onFixture(reaper, ['stdio-echo.mjs']);
    await transport.open(recorder);
    const pid = transport.pid ?? 0;
    process.kill(pid, 'SIGSTOP');
    await transport.close();
    expect(isDead(pid)).toBe(true);
  });

  it('a start that is cancelled leaves nothing behind and emits nothing', async () => {
    const { transport, recorder } = onFixture(reaper, ['stdio-stubborn.mjs']);
    const reason = new PlugboardError('TIMEOUT', 'Too late.');
    const giveUp = new AbortController();
    const opening = transport.open(recorder, giveUp.signal);
    giveUp.abort(reason);
    await expect(opening).rejects.toBe(reason);
    expect(isDead(transport.pid ?? 0)).toBe(true);
    expect(recorder.all).toEqual([]);
  });

  it('a close in the middle of the start leaves nothing behind', async () => {
    const { transport, recorder } = onFixture(reaper, ['stdio-stubborn.mjs']);
    const opening = transport.open(recorder);
    const closing = transport.close();
    await expect(opening).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    await closing;
    expect(isDead(transport.pid ?? 0)).toBe(true);
  });

  it('an aborted signal starts nothing', async () => {
    const { transport, recorder } = onFixture(reaper, ['stdio-echo.mjs']);
    await expect(transport.open(recorder, AbortSignal.abort())).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(transport.pid).toBe(undefined);
  });

  it('F7: a hundred crashes leave no zombie and no open descriptor', async () => {
    const before = process.getActiveResourcesInfo().length;
    for (let round = 0; round < 10; round += 1) {
      const crashes = Array.from({ length: 10 }, async () => {
        const recorder = new Recorder();
        const env = { PATH: process.env['PATH'] ?? '' };
        const transport = createStdioTransport({ command: 'sh', args: ['-c', 'exit 9'], env, reaper });
        await transport.open(recorder);
        const { error } = await recorder.next('closed');
        await transport.close();
        return error?.detail.exitCode;
      });
      expect(await Promise.all(crashes)).toEqual(Array(10).fill(9));
    }
    const zombies = processIds().filter((pid) => {
      const row = processRow(pid);
      return row?.parent === process.pid && row.zombie;
    });
    expect(zombies).toEqual([]);
    expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before + 1);
  });
});
