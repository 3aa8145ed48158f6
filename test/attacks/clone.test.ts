/**
 * A fresh clone of a hostile project: every command that exists, with and without a terminal, starts nothing
 * of it and opens no socket (A10). The kernel is the witness: `strace` sees every program and every connection.
 */

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rows } from '../../src/cli/command-table.ts';
import { joinArgv } from '../../src/lib/argv.ts';
import { COMMAND, Place } from '../cli/command.ts';
import { type Hostile, hostileProject } from '../surfaces/hostile.ts';
import { TYPED } from '../surfaces/typed.ts';
import { FIXTURE, naiveOpen } from './naive.ts';

/** A command that serves goes on until it is ended. */
const LONGEST_RUN_S = 8;
const RUNS_AT_ONCE = 3;
/** In the command line of every program that may run: all of them are below one folder. */
/** Ends at once and changes nothing. */
const EDITOR = 'true';
const OURS: readonly string[] = [
  '"timeout"',
  // The shell that ends servers when their host is killed, and how it looks for them.
  '"plugboard-reaper"',
  '"PLUGBOARD_OWNER=',
  '"sleep", "0.1"',
  // The person's own editor, for `edit`.
  `["${EDITOR}", `,
  fileURLToPath(new URL('../../dist/', import.meta.url)),
];

let hostile: Hostile;
beforeAll(async () => {
  hostile = await hostileProject();
});
afterAll(() => hostile.close());

interface Seen {
  readonly started: readonly string[];
  readonly contacted: readonly string[];
}

/** Runs one command under `strace`; on a terminal every question is answered with a no. */
async function watch(args: readonly string[], terminal: boolean, log: string): Promise<Seen> {
  const run = ['timeout', '-s', 'TERM', '-k', '5', String(LONGEST_RUN_S), process.execPath, COMMAND, ...args];
  const traced = [
    'strace',
    '-f',
    '--seccomp-bpf',
    '-qq',
    '-e',
    'trace=execve,connect',
    '-s',
    '256',
    '-o',
    log,
    ...run,
  ];
  const { NO_COLOR: _, CI: __, NODE_EXTRA_CA_CERTS: ___, ...inherited } = process.env;
  const [program = '', ...words] = terminal ? ['script', '-qec', joinArgv(traced), '/dev/null'] : traced;
  const child = spawn(program, words, {
    cwd: hostile.place.project,
    // A home for each: what one command adds is none of the next one's business.
    env: {
      ...inherited,
      TERM: 'xterm',
      VISUAL: EDITOR,
      PLUGBOARD_HOME: `${log}-home`,
      // `strace` follows the daemon, too, and waits for its end.
      PLUGBOARD_DAEMON_IDLE_MS: '200',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.on('error', () => {});
  if (terminal) {
    let screen = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      screen += text;
      if (!/machine\?|(?:Call|Import|Write|Take|Connect|Open|Log in) .*\?/.test(screen)) return;
      screen = '';
      child.stdin.write('n');
    });
  } else {
    child.stdout.resume();
    child.stdin.end();
  }
  await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const lines = readFileSync(log, 'utf8').split('\n');
  const calls = (name: string): string[] => lines.filter((line) => line.includes(` ${name}(`));
  return {
    started: calls('execve').filter((line) => !OURS.some((part) => line.includes(part))),
    contacted: calls('connect').filter((line) => /AF_INET/.test(line)),
  };
}

it('a naive client runs and contacts what it finds there', async () => {
  const canary = new Place();
  const mark = join(canary.dir, 'trace');
  canary.write(canary.projectFile, {
    mcpServers: { evil: { command: process.execPath, args: [FIXTURE('attack-canary.mjs'), mark] } },
  });
  for (const server of await naiveOpen(canary.project)) await server.close();
  expect(existsSync(mark)).toBe(true);
  canary.remove();
});

describe.each([
  ['without a terminal', false],
  ['on a terminal, where every question is answered with a no', true],
])('%s', (_how, terminal) => {
  it('A10: no command starts anything or opens a socket', async () => {
    const runs = rows.flatMap(({ name }) => (TYPED[name]?.hostile ?? []).map((args) => [name, ...args]));
    const found: { run: string; seen: Seen }[] = [];
    const waiting = [...runs.entries()];
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [at, args] = next;
        const seen = await watch(args, terminal, join(hostile.place.dir, `strace-${terminal}-${at}`));
        if (seen.started.length + seen.contacted.length > 0) found.push({ run: args.join(' '), seen });
      }
    };
    await Promise.all(Array.from({ length: RUNS_AT_ONCE }, work));
    expect(found).toEqual([]);
    expect(hostile.witness()).toEqual({ ran: [], contacted: 0 });
  });
});
