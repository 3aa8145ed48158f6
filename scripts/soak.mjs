/**
 * The gateway and the daemon under load: clients of both eras, over HTTP and over attached stdio, call servers that
 * crash, hang, flood and fork, while servers and the daemon itself are killed. Afterwards every request must have had
 * exactly one answer, its own; nothing may be left running, and memory, descriptors and state files must be in order.
 * After `npm run build`: node scripts/soak.mjs [seconds] [seed]
 */

import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createRandomness } from './randomness.mjs';
import { root } from './run.mjs';
import { HttpClient, StdioClient } from './soak-clients.mjs';

const SECONDS = Number(process.argv[2] ?? 60);
const SEED = Number(process.argv[3] ?? Date.now() % 1_000_000);
const SERVERS = 6;
const HTTP_CLIENTS = 12;
const STDIO_CLIENTS = 6;
/** Longest wait for the last answer, and for orphans to be collected. */
const SETTLE_MS = 30_000;
const WARM_UP_SHARE = 0.3;
const MAX_GROWTH_MB = 40;
const MAX_MORE_DESCRIPTORS = 20;
/** The gateway and the daemon each have a process of a server: the newest are those that live. */
const LIVING = 2;
/** How often the daemon is killed. */
const DAEMON_KILLS = 2;

const COMMAND = join(root, 'dist', 'bin', 'plugboard.cjs');
const folder = mkdtempSync(join(tmpdir(), 'plugboard-soak-'));
const home = join(folder, 'home');
const env = { ...process.env, PLUGBOARD_HOME: home, PLUGBOARD_CREDENTIALS: 'file', PLUGBOARD_DAEMON: '1' };
const violations = [];
const { between, oneOf } = createRandomness(SEED);

console.log(
  `seed ${SEED}, ${SECONDS} s, ${HTTP_CLIENTS} clients over HTTP, ${STDIO_CLIENTS} attached to the daemon`,
);
const servers = Array.from({ length: SERVERS }, (_, n) => server(n));
mkdirSync(home, { recursive: true });
writeFileSync(
  join(home, 'config.json'),
  JSON.stringify({
    workspace: false,
    defaults: { approval: 'approve', toolTimeoutMs: 4_000, startupTimeoutMs: 10_000 },
    mcpServers: Object.fromEntries(servers.map(({ name, entry }) => [name, entry])),
  }),
);
const gateway = await startGateway();
const clients = [
  ...Array.from(
    { length: HTTP_CLIENTS },
    (_, n) => new HttpClient(gateway, n % 2 === 0 ? 'legacy' : 'modern'),
  ),
  ...Array.from({ length: STDIO_CLIENTS }, () => new StdioClient(COMMAND, { env, cwd: folder })),
];
await Promise.all(clients.map((client) => client.open()));

const endsAt = Date.now() + SECONDS * 1_000;
const outcomes = {};
const acts = {};
let calls = 0;
let warm;
const work = Promise.all([
  villain(),
  assassin(),
  pause(SECONDS * 1_000 * WARM_UP_SHARE).then(() => {
    warm = measure();
  }),
  ...clients.map(caller),
]);
const late = pause(SECONDS * 1_000 + SETTLE_MS, 'late', { ref: false });
if ((await Promise.race([work, late])) === 'late') violations.push('requests did not end');
for (const { heal } of servers) heal();

// One quiet round: whoever is there works.
for (const client of clients) {
  const message = `last ${client.name}`;
  const { text } = await client.call(`mcp__${servers[0].name}__echo`, { message }).catch(String);
  if (text !== message) violations.push(`${client.name} does not work at the end: ${text}`);
}
const end = measure();
if (end.mb - warm.mb > MAX_GROWTH_MB)
  violations.push(`the gateway grew by ${(end.mb - warm.mb).toFixed(0)} MB`);
if (end.fds - warm.fds > MAX_MORE_DESCRIPTORS) violations.push(`descriptors ${warm.fds} → ${end.fds}`);
for (const client of clients) violations.push(...client.strays.map((stray) => `${client.name}: ${stray}`));
await Promise.all(clients.map((client) => client.close()));
gateway.child.kill('SIGTERM');
await new Promise((resolve) => gateway.child.once('close', resolve));
spawnSync(process.execPath, [COMMAND, 'daemon', 'stop'], { env, cwd: folder });
const started = servers.flatMap(({ pids }) => pids());
await until('processes left', () => started.filter((pid) => existsSync(`/proc/${pid}`)));
await until('processes left in the home', () => ours());
for (const file of readdirSync(home).filter((name) => name.endsWith('.json'))) {
  try {
    JSON.parse(readFileSync(join(home, file), 'utf8'));
  } catch {
    violations.push(`${file} is not JSON any more`);
  }
}
rmSync(folder, { recursive: true, force: true });

console.log(`acts ${JSON.stringify(acts)}`);
console.log(`${calls} calls: ${JSON.stringify(outcomes)}`);
console.log(
  `gateway ${warm.mb.toFixed(0)} → ${end.mb.toFixed(0)} MB, descriptors ${warm.fds} → ${end.fds}, ${started.length} processes`,
);
for (const violation of new Set(violations)) console.error(`VIOLATED: ${violation}`);
console.log(violations.length === 0 ? 'held' : `${violations.length} violations, seed ${SEED}`);
process.exit(violations.length === 0 ? 0 : 1);

function server(n) {
  const witness = join(folder, `server-${n}`);
  const options = JSON.stringify({ era: n % 2 === 0 ? 'legacy' : 'modern', witness });
  const pids = () =>
    existsSync(witness)
      ? [...readFileSync(witness, 'utf8').matchAll(/^start (\d+)$/gm)].map(([, pid]) => Number(pid))
      : [];
  const signal = (name, to = pids().slice(-LIVING)) => {
    for (const pid of to) {
      try {
        process.kill(pid, name);
      } catch {
        // It is gone already.
      }
    }
  };
  return {
    name: `s${n}`,
    entry: {
      command: process.execPath,
      args: [join(root, 'test', 'fixtures', 'connection-server.mjs'), options],
      trusted: true,
    },
    pids,
    acts: {
      kill: () => signal('SIGKILL'),
      end: () => signal('SIGTERM'),
      stop: () => signal('SIGSTOP'),
      continue: () => signal('SIGCONT'),
    },
    heal: () => signal('SIGCONT', pids()),
  };
}

async function startGateway() {
  const child = spawn(process.execPath, [COMMAND, 'serve', '--http', '0', '--token', 'soak', '--json'], {
    env: { ...env, PLUGBOARD_DAEMON: '0' },
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  for await (const chunk of child.stdout) {
    printed += chunk;
    if (printed.trimEnd().endsWith('}')) break;
  }
  return { child, url: JSON.parse(printed).url, token: 'soak' };
}

async function caller(client) {
  while (Date.now() < endsAt) {
    const { name } = oneOf(servers);
    const kind = between(0, 30);
    const tool = kind === 0 ? 'crash' : kind === 1 ? 'flood' : kind === 2 ? 'wait' : 'echo';
    const message = `${client.name}-${calls++}`;
    let outcome;
    try {
      const { text, isError } = await client.call(`mcp__${name}__${tool}`, { message });
      outcome = isError ? 'tool error' : 'ok';
      if (tool === 'echo' && !isError && text !== message)
        violations.push(`${client.name} got ${text} for ${message}`);
    } catch (error) {
      outcome = error.message;
      await pause(between(20, 100));
    }
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    await pause(between(0, 10));
  }
}

async function villain() {
  while (Date.now() < endsAt) {
    await pause(between(200, 800));
    const victim = oneOf(servers);
    const act = oneOf(Object.keys(victim.acts));
    acts[act] = (acts[act] ?? 0) + 1;
    victim.acts[act]();
  }
}

/** Kills the daemon in the middle; everybody who is attached has to find the next one. */
async function assassin() {
  for (let kill = 0; kill < DAEMON_KILLS; kill += 1) {
    await pause((SECONDS * 1_000) / (DAEMON_KILLS + 1));
    const { stdout } = spawnSync(process.execPath, [COMMAND, 'daemon', 'status', '--json'], {
      env,
      cwd: folder,
    });
    for (const { pid } of JSON.parse(stdout).daemons) {
      acts['kill daemon'] = (acts['kill daemon'] ?? 0) + 1;
      process.kill(pid, 'SIGKILL');
    }
  }
}

function measure() {
  const { pid } = gateway.child;
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    mb: Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024,
    fds: readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** Processes that carry this run's home in their environment. */
function ours() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`PLUGBOARD_HOME=${home}`);
      } catch {
        return false;
      }
    });
}

async function until(what, condition) {
  for (const end = Date.now() + SETTLE_MS; ; await pause(50)) {
    const left = condition();
    if (left.length === 0) return;
    if (Date.now() > end) return void violations.push(`${what}: ${left.join(', ')}`);
  }
}
