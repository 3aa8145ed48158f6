/** Replicas of the gateway as processes, with a Redis of their own, ended after each test. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const COMMAND = at('../../dist/bin/plugboard.cjs');
const SERVER = at('../fixtures/cluster-server.mjs');
export const TOKEN = 'a-token-for-all-replicas-of-a-test';
export const BEARER = { authorization: `Bearer ${TOKEN}` };
export const KEY = 'a-key-of-the-cluster-with-32-bytes-or-more';

export interface Replica {
  readonly url: string;
  readonly process: ChildProcess;
  readonly home: string;
  /** Everything that it printed to stderr so far. */
  notes(): string;
}

export interface World {
  readonly folder: string;
  /** The file that the servers write their calls to. */
  readonly calls: string;
  /** The server `work`, as `--server` takes it. */
  readonly server: string;
  /** Replicas that are started later use it. */
  redisUrl: string;
  redis: ChildProcess;
  startRedis(): Promise<void>;
  start(options?: ReplicaOptions): Promise<Replica>;
  /** Starts any program, which is ended after the test. */
  program(command: string, args: readonly string[]): ChildProcess;
}

export interface ReplicaOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default: a free one. */
  readonly port?: number;
  readonly config?: object;
  /** Arguments after those of every replica; default: the server `work`. */
  readonly args?: readonly string[];
  /** Default: a new home. */
  readonly home?: string;
  /** The build of Plugboard; default: this one. */
  readonly command?: string;
  /** A program that runs the replica, such as `ip netns exec`. */
  readonly under?: readonly string[];
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Ends a process and waits for it. */
export async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

/** Waits until a condition holds. */
export async function until(holds: () => Promise<boolean> | boolean, what: string): Promise<void> {
  for (let turn = 0; turn < 600; turn += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${what} did not happen`);
}

/** Returns a function that creates a world for one test. */
export function worlds(): (config?: string) => Promise<World> {
  const opened: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'plugboard-cluster-'));
    opened.push(async () => rmSync(folder, { recursive: true, force: true }));
    const redisPort = await freePort();
    const calls = join(folder, 'calls');
    let homes = 0;
    const program: World['program'] = (command, args) => {
      const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
      child.stdout?.resume();
      child.stderr?.resume();
      opened.push(() => end(child));
      return child;
    };
    const world: World = {
      folder,
      calls,
      server: `work=${process.execPath} ${SERVER} ${calls}`,
      redisUrl: `redis://127.0.0.1:${redisPort}`,
      redis: undefined as unknown as ChildProcess,
      program,
      async startRedis() {
        const options = ['--port', String(redisPort), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
        const child = spawn('redis-server', options, { stdio: ['ignore', 'pipe', 'ignore'] });
        opened.push(() => end(child));
        let printed = '';
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          printed += text;
        });
        while (!printed.includes('Ready to accept connections')) await once(child.stdout, 'data');
        world.redis = child;
      },
      async start(options = {}) {
        homes += 1;
        const { env = {}, host = '127.0.0.1', port = 0, config = {}, under = [] } = options;
        const { home = join(folder, `home-${homes}`), command = COMMAND } = options;
        mkdirSync(home, { recursive: true });
        if (!existsSync(join(home, 'config.json')))
          writeFileSync(join(home, 'config.json'), JSON.stringify(config));
        const [program = '', ...args] = [
          ...under,
          process.execPath,
          command,
          'serve',
          '--http',
          `${host}:${port}`,
          '--cluster',
          world.redisUrl,
          ...(options.args ?? ['--server', world.server]),
        ];
        const child = spawn(program, args, {
          cwd: folder,
          env: {
            ...process.env,
            PLUGBOARD_HOME: home,
            PLUGBOARD_CREDENTIALS: 'file',
            PLUGBOARD_TOKEN: TOKEN,
            PLUGBOARD_CLUSTER_KEY: KEY,
            ...env,
          },
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        opened.push(() => end(child));
        let printed = '';
        let notes = '';
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          notes += text;
        });
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          printed += text;
        });
        while (!printed.endsWith('Ctrl-C to stop.\n')) {
          const [code] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
          if (typeof code === 'number') throw new Error(notes);
        }
        const url = /at (http:\S+)/.exec(printed)?.[1] ?? '';
        return { url, process: child, home, notes: () => notes };
      },
    };
    await world.startRedis();
    return world;
  };
}
