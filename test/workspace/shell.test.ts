import { existsSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isRunning } from '../world/processes.ts';
import { until } from '../world/until.ts';
import { Program } from './program.ts';
import { Tree } from './tree.ts';

let tree: Tree;
let program: Program;

beforeEach(async () => {
  tree = new Tree({ 'sub/a.txt': 'a' });
  program = await Program.start(tree.root, ['--shell']);
});
afterEach(async () => {
  await program.close();
  tree.remove();
});

/** Starts a command that would run for ever, and gives the process id of its child. */
async function endless(signal?: AbortSignal): Promise<{ pid: number; answer: Promise<unknown> }> {
  const command = 'sleep 100000 & echo $! > pid.tmp; mv pid.tmp pid; wait';
  const answer = program.call('shell', { command }, signal === undefined ? {} : { signal });
  answer.catch(() => {});
  await until('the program runs', () => existsSync(tree.at('pid')));
  return { pid: Number(tree.read('pid')), answer };
}

it('SRV-3: shell runs a command line, and returns output and exit code', async () => {
  expect([
    await program.call('shell', { command: 'cat a.txt; echo; echo oh >&2', cwd: 'sub' }),
    await program.call('shell', { command: 'exit 3' }),
    (await program.call('shell', { command: 'pwd', cwd: '..' })).isError,
    (await program.call('shell', { command: 'read line; echo "[$line]"' })).data,
  ]).toEqual([
    {
      text: 'a\nstderr:\noh\n[exit code 0]',
      data: { exit_code: 0, timed_out: false, stdout: 'a', stderr: 'oh' },
      isError: false,
    },
    {
      text: '[exit code 3]',
      data: { exit_code: 3, timed_out: false, stdout: '', stderr: '' },
      isError: true,
    },
    true,
    { exit_code: 0, timed_out: false, stdout: '[]', stderr: '' },
  ]);
});

it('SRV-3: output is bounded, and time too', async () => {
  const { data } = await program.call('shell', { command: 'head -c 200000 /dev/zero | tr "\\0" x' });
  const late = await program.call('shell', { command: 'sleep 100000', timeout_ms: 50 });
  expect([(data as { stdout: string }).stdout, late.text, late.isError]).toEqual([
    `${'x'.repeat(50_000)}\n[150000 more bytes are left out; send the output to a file and read that.]`,
    '[ended after 50 ms]',
    true,
  ]);
});

it('SRV-3: background processes of a command end with it', async () => {
  const { data } = await program.call('shell', { command: 'sleep 100000 & echo $!' });
  const pid = Number((data as { stdout: string }).stdout);
  await until('the program has ended', () => !isRunning(pid));
  expect(pid).toBeGreaterThan(0);
});

it('SRV-3: cancelling a call ends everything that it has started', async () => {
  const cancelling = new AbortController();
  const { pid, answer } = await endless(cancelling.signal);
  cancelling.abort();
  await expect(answer).rejects.toThrow();
  await until('the program has ended', () => !isRunning(pid));
  expect(await program.say('read', { path: 'sub/a.txt' })).toBe('a');
});

it('SRV-3: no process is left after a client disconnects', async () => {
  const { pid } = await endless();
  await program.close();
  await until('the program has ended', () => !isRunning(pid));
  expect(isRunning(program.pid)).toBe(false);
});

it('SRV-3: without --shell there is no such tool', async () => {
  const plain = await Program.start(tree.root);
  await expect(plain.call('shell', { command: 'touch ran' })).rejects.toThrow('There is no tool "shell"');
  await plain.close();
  expect(existsSync(tree.at('ran'))).toBe(false);
});
