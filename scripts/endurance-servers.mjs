/** Servers that endurance runs do harm to: each says what can be done to it, which processes it had, and how it heals. */

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startAuthServer } from '../test/fixtures/auth-server.mjs';
import { startHttpProxy } from '../test/fixtures/http-proxy.mjs';
import { root } from './run.mjs';

const fixture = (name) => join(root, 'test', 'fixtures', name);
const era = (n) => (n % 2 === 0 ? 'legacy' : 'modern');

/** A program; `living` of its newest processes are alive at a time. */
export function stdioServer(n, { folder, name = `stdio${n}`, living = 1 }) {
  const witness = join(folder, name);
  const pids = () =>
    existsSync(witness)
      ? [...readFileSync(witness, 'utf8').matchAll(/^start (\d+)$/gm)].map(([, pid]) => Number(pid))
      : [];
  const signal = (what, to = pids().slice(-living)) => {
    for (const pid of to) {
      try {
        process.kill(pid, what);
      } catch {
        // It is gone already.
      }
    }
  };
  return {
    name,
    entry: {
      command: process.execPath,
      args: [fixture('connection-server.mjs'), JSON.stringify({ era: era(n), witness })],
    },
    pids,
    acts: {
      kill: () => signal('SIGKILL'),
      end: () => signal('SIGTERM'),
      stop: () => signal('SIGSTOP'),
      continue: () => signal('SIGCONT'),
      'change list': () => signal('SIGUSR2'),
    },
    heal: () => signal('SIGCONT', pids()),
    close: () => undefined,
  };
}

/** A program behind a proxy: it can die, lose its sessions, and its line can be cut or freeze. */
export async function httpServer(n, { name = `http${n}` } = {}) {
  const pids = [];
  let child;
  let port = 0;
  const start = async () => {
    const mine = spawn(process.execPath, [fixture(n % 2 === 0 ? 'echo-http.mjs' : 'modern-http.mjs')], {
      env: { ...process.env, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child = mine;
    pids.push(mine.pid);
    const line = await Promise.race([
      new Promise((resolve) => mine.stdout.once('data', (text) => resolve(String(text)))),
      new Promise((resolve) => mine.once('exit', () => resolve(''))),
    ]);
    if (line !== '') port = Number(new URL(line.trim()).port);
  };
  await start();
  const proxy = await startHttpProxy('127.0.0.1', port);
  const isDead = () => child.exitCode !== null || child.signalCode !== null;
  return {
    name,
    entry: { url: `${proxy.origin}/mcp` },
    pids: () => pids,
    acts: {
      kill: () => void child.kill('SIGKILL'),
      restart: () => (isDead() ? start() : undefined),
      cut: () => proxy.cut(),
      freeze: () => proxy.freeze(),
      thaw: () => proxy.thaw(),
      // The legacy one only: the modern era has no sessions to lose.
      ...(n % 2 === 0 ? { 'lose sessions': () => void child.kill('SIGUSR2') } : {}),
    },
    heal: async () => {
      proxy.thaw();
      if (isDead()) await start();
    },
    close: async () => {
      await proxy.close();
      const gone = new Promise((resolve) => child.once('exit', resolve));
      if (!isDead() && child.kill('SIGKILL')) await gone;
    },
  };
}

/** One that wants a token, which is good for `seconds`: nothing else has to be done to it. */
export async function guardedServer({ name = 'guarded', seconds = 5 } = {}) {
  const clients = { machine: { secret: 'machine-secret', redirectUris: [] } };
  const server = await startAuthServer({ clients, expiresIn: seconds });
  const oauth = { clientId: 'machine', clientSecret: 'machine-secret', grant: 'client_credentials' };
  return {
    name,
    entry: { url: server.url, oauth },
    pids: () => [],
    acts: {},
    heal: () => undefined,
    grants: () => server.grants().length,
    close: () => server.close(),
  };
}

/** Waits until nothing is left of what should not be there; what then still is comes back. */
export async function leftOf(condition, settleMs) {
  for (const end = Date.now() + settleMs; ; await pause(50)) {
    const left = condition();
    if (left.length === 0 || Date.now() > end) return left;
  }
}
