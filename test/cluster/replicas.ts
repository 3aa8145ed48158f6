/** Replicas of the gateway as processes, with a Redis of their own, ended after each test. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
}

export interface World {
  readonly folder: string;
  /** The file that the servers write their calls to. */
  readonly calls: string;
  readonly redisUrl: string;
  redis: ChildProcess;
  startRedis(): Promise<void>;
  /** Starts one replica; `port` 0 selects a free one. */
  start(env?: Record<string, string>, port?: number, config?: object): Promise<Replica>;
  /** Starts any program, which is ended after the test. */
  program(command: string, args: readonly string[]): ChildProcess;
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
      async start(env = {}, port = 0, config = {}) {
        homes += 1;
        const home = join(folder, `home-${homes}`);
        mkdirSync(home);
        writeFileSync(join(home, 'config.json'), JSON.stringify(config));
        const args = [
          COMMAND,
          'serve',
          '--http',
          `${env['TEST_HOST'] ?? '127.0.0.1'}:${port}`,
          '--cluster',
          world.redisUrl,
        ];
        const child = spawn(
          process.execPath,
          [...args, '--server', `work=${process.execPath} ${SERVER} ${calls}`],
          {
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
          },
        );
        opened.push(() => end(child));
        let printed = '';
        let failed = '';
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          failed += text;
        });
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          printed += text;
        });
        while (!printed.endsWith('Ctrl-C to stop.\n')) {
          const [code] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
          if (typeof code === 'number') throw new Error(failed);
        }
        return { url: /at (http:\S+)/.exec(printed)?.[1] ?? '', process: child };
      },
    };
    await world.startRedis();
    return world;
  };
}
