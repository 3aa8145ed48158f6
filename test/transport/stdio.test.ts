import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { PlugboardError } from '../../src/errors.ts';
import type { JsonRpcMessage } from '../../src/lib/json-rpc.ts';
import type { Transport } from '../../src/transport/contract.ts';
import { createReaper } from '../../src/transport/reaper.ts';
import { until } from '../world/until.ts';
import { fixture, onFixture, type Recorder } from './stdio-recorder.ts';

const reaper = createReaper({ env: process.env });
const opened: Transport[] = [];

async function open(
  args: readonly string[],
  more: Parameters<typeof onFixture>[2] = {},
): Promise<{ transport: Transport; recorder: Recorder }> {
  const pair = onFixture(reaper, args, more);
  opened.push(pair.transport);
  await pair.transport.open(pair.recorder);
  return pair;
}

const request = (id: number, method: string, params: Record<string, unknown> = {}): JsonRpcMessage => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

const result = (id: number, value: unknown): JsonRpcMessage => ({ jsonrpc: '2.0', id, result: value });

afterEach(async () => {
  await Promise.all(opened.splice(0).map((transport) => transport.close()));
});
afterAll(() => reaper.close());

describe('a stdio transport (CON-1)', () => {
  // Protocol: 25-transports-2, 25-transports-6, 26-stdio-4
  it('carries frames both ways, in order, and closes without an error', async () => {
    const { transport, recorder } = await open(['stdio-echo.mjs']);
    for (const id of [1, 2, 3]) await transport.send(request(id, 'echo', { id }));
    await recorder.answer(3);
    await transport.close();
    await transport.close();
    expect(recorder.all).toEqual([
      { kind: 'message', message: result(1, { id: 1 }) },
      { kind: 'message', message: result(2, { id: 2 }) },
      { kind: 'message', message: result(3, { id: 3 }) },
      { kind: 'closed', error: undefined },
    ]);
  });

  it('starts the program in the folder and with the environment it was given, and nothing else', async () => {
    const env = { PATH: process.env['PATH'] ?? '', ONLY: 'this' };
    const { transport, recorder } = await open(['stdio-echo.mjs'], { cwd: '/', env });
    await transport.send(request(1, 'env'));
    await transport.send(request(2, 'cwd'));
    const seen = (await recorder.answer(1)) as Record<string, string>;
    expect({ ...seen, PLUGBOARD_OWNER: 'some mark' }).toEqual({ ...env, PLUGBOARD_OWNER: 'some mark' });
    expect(await recorder.answer(2)).toBe('/');
  });

  it('never runs a shell: arguments arrive as they are', async () => {
    const text = '$(touch x); `id` && echo "a b" \\ *';
    const { recorder } = await open(['stdio-exit.mjs', '1', text]);
    expect((await recorder.next('closed')).error?.detail).toEqual({ exitCode: 1, stderr: text });
  });

  it('F13: a byte order mark, CRLF and blank lines do not disturb', async () => {
    const { recorder } = await open(['stdio-raw.mjs', 'bom']);
    await recorder.answer(2);
    expect(recorder.all.map((one) => one.kind === 'message' && one.message)).toEqual([
      result(1, 'first'),
      result(2, 'second'),
    ]);
  });

  // Protocol: 25-transports-1, 26-transports-1
  it('F13: characters split across writes arrive whole', async () => {
    const { recorder } = await open(['stdio-raw.mjs', 'split']);
    expect(await recorder.answer(1)).toBe('grüße 🌍 你好');
  });

  it('F14: invalid UTF-8 is replaced, and the next frame is read', async () => {
    const { recorder } = await open(['stdio-raw.mjs', 'invalid']);
    expect(await recorder.answer(2)).toBe('fine');
    expect(await recorder.answer(1)).toMatch(/^\ufffd+\(\ufffd+$/);
  });

  it('F10: log lines on stdout are skipped with one warning that quotes the first, cleaned', async () => {
    const { recorder } = await open(['stdio-raw.mjs', 'noise']);
    await recorder.answer(2);
    expect(recorder.messages()).toEqual([result(1, 'a'), result(2, 'b')]);
    expect(recorder.warnings()).toEqual([
      'The server writes to stdout what is not JSON-RPC; such lines are skipped: Listening on 3000',
    ]);
  });

  it('F59: a batch of an older protocol is unpacked', async () => {
    const { recorder } = await open(['stdio-raw.mjs', 'batch']);
    await recorder.answer(2);
    expect(recorder.messages()).toEqual([result(1, 'a'), result(2, 'b')]);
  });

  it('an answer that is not valid JSON is lost at once, by its id', async () => {
    const { recorder } = await open(['stdio-raw.mjs', 'broken']);
    await recorder.answer(2);
    expect(recorder.of('lost').map(({ id, error }) => [id, error.code])).toEqual([[1, 'PROTOCOL_ERROR']]);
  });

  it('F15: JSON nested 200,000 deep loses that answer with a typed error, and the server lives', async () => {
    const { recorder } = await open(['stdio-raw.mjs', 'deep']);
    await recorder.answer(2);
    expect(recorder.of('lost').map(({ id, error }) => [id, error.code])).toEqual([[1, 'PROTOCOL_ERROR']]);
    expect(recorder.of('closed')).toEqual([]);
  });

  it('F28: in a flood of notifications every frame arrives and timers still run', async () => {
    const { recorder } = await open(['stdio-raw.mjs', 'flood', '100000']);
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
    }, 1);
    await recorder.answer(1);
    clearInterval(timer);
    expect(recorder.messages()).toHaveLength(100_001);
    expect(ticks).toBeGreaterThan(3);
  });

  it('F23: a server that was stopped and continued answers requests sent in between', async () => {
    const { transport, recorder } = await open(['stdio-echo.mjs']);
    await transport.send(request(1, 'echo'));
    await recorder.answer(1);
    const pid = transport.pid ?? 0;
    process.kill(pid, 'SIGSTOP');
    await transport.send(request(2, 'echo', { during: 'sleep' }));
    process.kill(pid, 'SIGCONT');
    expect(await recorder.answer(2)).toEqual({ during: 'sleep' });
  });
});

describe('stderr', () => {
  it('F8: a megabyte is drained; a bounded tail is kept', async () => {
    const { transport, recorder } = await open(['stdio-raw.mjs', 'stderr', String(1024 * 1024)]);
    expect(await recorder.answer(1)).toBe('alive');
    process.kill(transport.pid ?? 0, 'SIGKILL');
    const { error } = await recorder.next('closed');
    const lines = error?.detail.stderr?.split('\n') ?? [];
    expect(lines).toEqual([...Array(39).fill('noise '.repeat(20).trim()), 'last line']);
  });

  // Protocol: 25-transports-4, 26-stdio-2
  it('F8: lines reach the log as debug notices, but not all of a flood', async () => {
    const { recorder } = await open(['stdio-raw.mjs', 'stderr', String(1024 * 1024)]);
    await recorder.answer(1);
    const logged = recorder.of('notice').map((one) => one.notice);
    expect(logged).toEqual([
      ...Array(100).fill({ level: 'debug', message: 'noise '.repeat(20).trim() }),
      { level: 'debug', message: 'More lines on stderr are not logged for now.' },
    ]);
  });

  it('F9: without a newline it is capped, and escape codes are gone', async () => {
    const { transport, recorder } = await open([
      'stdio-raw.mjs',
      'stderr-no-newline',
      String(4 * 1024 * 1024),
    ]);
    expect(await recorder.answer(1)).toBe('alive');
    process.kill(transport.pid ?? 0, 'SIGKILL');
    const { error } = await recorder.next('closed');
    expect(error?.detail.stderr).toMatch(/^y{1000,1024}…$/);
  });

  it('A6: known secrets are taken out before a line is kept or logged', async () => {
    const redact = (text: string): string => text.replaceAll('s3cret', '***');
    const { recorder } = await open(['stdio-exit.mjs', '1', 'Error: token s3cret refused'], { redact });
    const { error } = await recorder.next('closed');
    expect(error?.message).toBe('The server exited with code 1 before it answered: Error: token *** refused');
    expect(JSON.stringify(recorder.all)).not.toContain('s3cret');
  });
});

describe('the end of a server', () => {
  it('delivers what it wrote before it exited, then reports the exit code', async () => {
    const { recorder } = await open(['stdio-raw.mjs', 'answer-and-exit']);
    const { error } = await recorder.next('closed');
    expect(recorder.messages()).toEqual([result(1, 'x'.repeat(300_000)), result(2, 'last words')]);
    expect([error?.code, error?.message, error?.detail]).toEqual([
      'CONNECTION_LOST',
      'The server exited with code 7',
      { exitCode: 7 },
    ]);
  });

  it('delivers a last frame without its newline', async () => {
    const { recorder } = await open(['stdio-raw.mjs', 'no-newline']);
    await recorder.next('closed');
    expect(recorder.messages()).toEqual([result(1, 'last words')]);
  });

  it('names the signal that ended it', async () => {
    const { transport, recorder } = await open(['stdio-echo.mjs']);
    await transport.send(request(1, 'echo'));
    await recorder.answer(1);
    process.kill(transport.pid ?? 0, 'SIGSEGV');
    const { error } = await recorder.next('closed');
    expect([error?.code, error?.message, error?.detail]).toEqual([
      'CONNECTION_LOST',
      'The server was ended by SIGSEGV',
      { exitSignal: 'SIGSEGV' },
    ]);
  });

  it('refuses to send afterwards with a typed error that states that nothing was sent', async () => {
    const { transport, recorder } = await open(['stdio-exit.mjs', '3']);
    await recorder.next('closed');
    await expect(transport.send(request(1, 'echo'))).rejects.toMatchObject({
      code: 'CONNECTION_LOST',
      detail: { notSent: true },
    });
    expect(recorder.of('closed')).toHaveLength(1);
  });

  it('a server that closes its input and lives on is ended, typed', async () => {
    const { transport, recorder } = await open(['stdio-raw.mjs', 'close-input']);
    await recorder.answer(1);
    // Only the second write fails on a pipe without a reader.
    await transport.send(request(2, 'echo'));
    await until('a refused send', () =>
      transport.send(request(3, 'echo')).then(
        () => false,
        () => true,
      ),
    );
    const { error } = await recorder.next('closed');
    expect([error?.code, error?.message]).toEqual([
      'CONNECTION_LOST',
      'The server closed its input but goes on running',
    ]);
  });

  it('a server that closes its output and lives on is ended, typed', async () => {
    const { recorder } = await open(['stdio-raw.mjs', 'close-output']);
    const { error } = await recorder.next('closed');
    expect([error?.code, error?.message]).toEqual([
      'CONNECTION_LOST',
      'The server closed its output but goes on running',
    ]);
  });
});

describe('F22: a server that stops reading', () => {
  it('fills a bounded queue, then sends are refused and known not to be sent; an aborted one leaves the queue', async () => {
    const { transport, recorder } = await open(['stdio-deaf.mjs'], { maxQueuedBytes: 4 * 1024 * 1024 });
    await recorder.next('message');
    const big = request(1, 'echo', { text: 'x'.repeat(1024 * 1024) });
    await transport.send(big); // passes alone: the pipe was empty
    await until('a full pipe', async () => {
      const stuck = new AbortController();
      const sending = transport.send(request(9, 'echo'), { signal: stuck.signal }).then(
        () => true,
        (error: PlugboardError) => error.code,
      );
      setImmediate(() => stuck.abort());
      return (await sending) === 'CANCELLED';
    });
    const waiting = [transport.send(big), transport.send(big)];
    for (const send of waiting) send.catch(() => undefined);
    await expect(transport.send(big)).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
      detail: { notSent: true },
    });
    await transport.close();
    const outcomes = await Promise.allSettled(waiting);
    expect(outcomes.map((one) => one.status === 'rejected' && [one.reason.code, one.reason.detail])).toEqual([
      ['CONNECTION_LOST', { notSent: true }],
      ['CONNECTION_LOST', { notSent: true }],
    ]);
  });

  it('goes on in order when it reads again', async () => {
    const { transport, recorder } = await open(['stdio-echo.mjs']);
    await transport.send(request(0, 'echo'));
    await recorder.answer(0);
    process.kill(transport.pid ?? 0, 'SIGSTOP');
    const ids = Array.from({ length: 40 }, (_, index) => index + 1);
    const sends = ids.map((id) => transport.send(request(id, 'echo', { pad: 'x'.repeat(100_000) })));
    process.kill(transport.pid ?? 0, 'SIGCONT');
    await Promise.all(sends);
    await recorder.answer(40);
    expect(recorder.messages().map((message) => 'id' in message && message.id)).toEqual([0, ...ids]);
  });
});

describe('limits on what a server sends', () => {
  it('a line over the limit loses the answer whose id is at its beginning', async () => {
    const { recorder } = await open(['stdio-raw.mjs', 'long-id-first', '200000'], { maxLineBytes: 100_000 });
    expect(await recorder.answer(2)).toBe('fine');
    expect(recorder.of('lost').map(({ id, error }) => [id, error.code])).toEqual([['one', 'LIMIT_EXCEEDED']]);
  });

  it('F11: one line of 200 MB fails that call only, and memory stays bounded', async () => {
    const report = await memoryOf('long-id-last', 200 * 1024 * 1024, 64 * 1024 * 1024);
    expect(report.heard).toEqual([{ lost: 1, code: 'LIMIT_EXCEEDED' }, { id: 2 }, { closed: 'by us' }]);
    expect(report.grewMiB).toBeLessThan(200);
  });

  it('F12: endless bytes without newline fail the connection, and memory stays bounded', async () => {
    const report = await memoryOf('endless', 0, 8 * 1024 * 1024);
    expect(report.heard).toEqual([{ closed: 'LIMIT_EXCEEDED' }]);
    expect(report.grewMiB).toBeLessThan(100);
  });
});

async function memoryOf(
  mode: string,
  amount: number,
  cap: number,
): Promise<{ heard: unknown[]; grewMiB: number }> {
  const args = [fixture('stdio-memory.mjs'), mode, String(amount), String(cap)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  await once(child, 'close');
  return JSON.parse(text);
}
