import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isRunning } from '../world/processes.ts';
import { until } from '../world/until.ts';
import { COMMAND, FIXTURES, Place } from './command.ts';

const POLL_MS = 20;
const MORE_THAN_A_PIPE = 1_000_000;

let place: Place;
let witness: string;
beforeEach(() => {
  place = new Place();
  witness = join(place.dir, 'witness');
  place.write(place.userFile, {
    mcpServers: {
      stubborn: { command: process.execPath, args: [join(FIXTURES, 'cli-stubborn.mjs'), witness] },
      wrapped: {
        command: 'sh',
        args: ['-c', `${process.execPath} ${join(FIXTURES, 'cli-stubborn.mjs')} ${witness}; true`],
      },
    },
  });
});
afterEach(() => place.remove());

/** The server and its child, once the call has reached them. */
async function called(): Promise<number[]> {
  await until('the call', () => existsSync(witness) && readFileSync(witness, 'utf8').includes(' '));
  return readFileSync(witness, 'utf8').split(' ').map(Number);
}

describe('a signal', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'F5: %s cancels, ends every server and exits with 130',
    async (signal) => {
      const { child, ended } = place.start(['call', 'stubborn', 'wait', '--json']);
      const pids = await called();
      child.kill(signal);
      const { status, stdout, stderr } = await ended;
      expect({ status, stderr, value: JSON.parse(stdout) }).toEqual({
        status: 130,
        stderr: '',
        value: { error: { code: 'CANCELLED', message: `Interrupted by ${signal}` } },
      });
      expect(pids.filter(isRunning)).toEqual([]);
    },
  );

  it.each([['list'], ['tools'], ['search', 'x'], ['test', 'mute']])(
    'F5: SIGINT while %s waits for a server gives one document, the error',
    async (...args) => {
      place.write(place.userFile, {
        mcpServers: {
          mute: { command: process.execPath, args: [join(FIXTURES, 'cli-stubborn.mjs'), witness, 'mute'] },
        },
      });
      const { child, ended } = place.start([...args, '--json']);
      const pids = await called();
      child.kill('SIGINT');
      const { status, stdout } = await ended;
      expect({ status, value: JSON.parse(stdout) }).toEqual({
        status: 130,
        value: { error: { code: 'CANCELLED', message: 'Interrupted by SIGINT' } },
      });
      expect(pids.filter(isRunning)).toEqual([]);
    },
  );

  it('F6: a second one ends at once, and nothing survives all the same', async () => {
    const { child, ended } = place.start(['call', 'wrapped', 'wait']);
    const pids = await called();
    child.kill('SIGINT');
    child.kill('SIGINT');
    await pause(POLL_MS);
    child.kill('SIGINT');
    expect((await ended).status).toBe(130);
    await until('the end of every server', () => !pids.some(isRunning));
  });

  it.each([0, 40, 80, 120, 200, 300])('F5: SIGINT %i ms into the start leaves nothing behind', async (ms) => {
    const { child, ended } = place.start(['list']);
    await pause(ms);
    child.kill('SIGINT');
    const { status, stdout } = await ended;
    // On a quick machine the list may be whole by then, and only the servers' end is under way.
    const isWhole = /^\d+ (connected|failed)/m.test(stdout);
    expect(status).toBe(isWhole ? 0 : 130);
    await until('the end of every server', () => survivors(witness).length === 0);
  });
});

/** Processes that have the file of this test in their command line. */
function survivors(mark: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || !isRunning(Number(pid))) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });
}

it('F5: SIGINT while call reads its arguments from stdin', async () => {
  const child = spawn(process.execPath, [COMMAND, 'call', 'stubborn', 'wait', '-'], {
    cwd: place.project,
    env: { ...process.env, PLUGBOARD_HOME: place.home },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
  // More than a pipe holds: when all of it is gone, the command is reading.
  await new Promise((resolve) => child.stdin.write('{'.repeat(MORE_THAN_A_PIPE), resolve));
  child.kill('SIGINT');
  expect(await exited).toBe(130);
});

describe('a reader that disconnects', () => {
  it('ends the command quietly', async () => {
    place.write(place.userFile, {
      mcpServers: { echo: { command: process.execPath, args: [join(FIXTURES, 'echo.mjs')] } },
    });
    const pipeline = spawn(
      'sh',
      ['-c', `"$0" "$1" tools --json; echo "status $?" >&2`, process.execPath, COMMAND],
      {
        cwd: place.project,
        env: { ...process.env, PLUGBOARD_HOME: place.home },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    pipeline.stdout.destroy();
    let stderr = '';
    pipeline.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    await new Promise((resolve) => pipeline.once('close', resolve));
    expect(stderr).toBe('status 0\n');
  });
});
