/**
 * The gateway and the daemon under load: clients of both eras, over HTTP and over attached stdio, call servers that
 * crash, hang, flood, change their lists, lose sessions and expire tokens, while servers and the daemon itself are
 * killed. Afterwards every request must have had exactly one answer, its own; nothing may be left running; heap, timers,
 * descriptors and memory must be within their bounds and every state file whole.
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
import { guardedServer, httpServer, leftOf, stdioServer } from './endurance-servers.mjs';
import { createRandomness } from './randomness.mjs';
import { root } from './run.mjs';
import { HttpClient, StdioClient } from './soak-clients.mjs';

const SECONDS = Number(process.argv[2] ?? 60);
const SEED = Number(process.argv[3] ?? Date.now() % 1_000_000);
const STDIO_SERVERS = 6;
const HTTP_SERVERS = 2;
/** How long a token is good. */
const TOKEN_SECONDS = 4;
const HTTP_CLIENTS = 12;
const STDIO_CLIENTS = 6;
/** Longest wait for the last answer, and for orphans to be collected. */
const SETTLE_MS = 30_000;
/** Longer than the longest pause before a server that failed is tried again, which is 30 s. */
const RECOVER_MS = 75_000;
const WARM_UP_SHARE = 0.3;
const MAX_GROWTH_MB = 40;
const MAX_HEAP_GROWTH_MB = 16;
const MAX_MORE_TIMERS = 20;
const MAX_MORE_DESCRIPTORS = 20;
/** The gateway and the daemon each have a process of a server: the newest are those that live. */
const LIVING = 2;
/** How often the daemon is killed. */
const DAEMON_KILLS = 2;

const COMMAND = join(root, 'dist', 'bin', 'plugboard.cjs');
const folder = mkdtempSync(join(tmpdir(), 'plugboard-soak-'));
const home = join(folder, 'home');
const facts = join(folder, 'facts');
const env = { ...process.env, PLUGBOARD_HOME: home, PLUGBOARD_CREDENTIALS: 'file', PLUGBOARD_DAEMON: '1' };
const violations = [];
const { between, oneOf } = createRandomness(SEED);

console.log(
  `seed ${SEED}, ${SECONDS} s, ${HTTP_CLIENTS} clients over HTTP, ${STDIO_CLIENTS} attached to the daemon`,
);
const servers = [
  ...Array.from({ length: STDIO_SERVERS }, (_, n) => stdioServer(n, { folder, living: LIVING })),
  ...(await Promise.all(Array.from({ length: HTTP_SERVERS }, (_, n) => httpServer(n)))),
  await guardedServer({ seconds: TOKEN_SECONDS }),
];
mkdirSync(home, { recursive: true });
writeFileSync(
  join(home, 'config.json'),
  JSON.stringify({
    workspace: false,
    defaults: { approval: 'approve', toolTimeoutMs: 4_000, startupTimeoutMs: 10_000 },
    mcpServers: Object.fromEntries(servers.map(({ name, entry }) => [name, { ...entry, trusted: true }])),
  }),
);
const gateway = await startGateway();
const clients = [
  ...Array.from(
    { length: HTTP_CLIENTS },
    (_, n) => new HttpClient(gateway, n % 2 === 0 ? 'legacy' : 'modern'),
  ),
  ...Array.from(
    { length: STDIO_CLIENTS },
    (_, n) => new StdioClient(COMMAND, { env, cwd: folder }, n % 2 === 0 ? 'legacy' : 'modern'),
  ),
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
  pause(SECONDS * 1_000 * WARM_UP_SHARE).then(async () => {
    warm = await measure();
  }),
  ...clients.map(caller),
]);
const late = pause(SECONDS * 1_000 + SETTLE_MS, 'late', { ref: false });
if ((await Promise.race([work, late])) === 'late') violations.push('requests did not end');
for (const { heal } of servers) await heal();

// One quiet round: every server works again, for every client, in as many tries as backoff may take.
for (const client of clients) {
  for (const { name } of servers) {
    const message = `last ${client.name} ${name}`;
    const said = await settled(() => client.call(`${name}__echo`, { message, text: message }), message);
    if (said !== message) violations.push(`${client.name} cannot use ${name} at the end: ${said}`);
  }
}
const end = await measure();
bounded('memory in MB', 'mb', MAX_GROWTH_MB);
bounded('heap in MB', 'heapMb', MAX_HEAP_GROWTH_MB);
bounded('descriptors', 'fds', MAX_MORE_DESCRIPTORS);
bounded('timers', 'timers', MAX_MORE_TIMERS);
for (const client of clients) violations.push(...client.strays.map((stray) => `${client.name}: ${stray}`));
await Promise.all(clients.map((client) => client.close()));
gateway.child.kill('SIGTERM');
await new Promise((resolve) => gateway.child.once('close', resolve));
spawnSync(process.execPath, [COMMAND, 'daemon', 'stop'], { env, cwd: folder });
// Each of the two, gateway and daemon, needs one every few seconds while it is called.
const grants = servers.reduce((sum, { grants: count }) => sum + (count?.() ?? 0), 0);
if (grants < SECONDS / TOKEN_SECONDS / 4) violations.push(`only ${grants} tokens: they did not expire`);
for (const { close } of servers) await close();
const started = servers.flatMap(({ pids }) => pids());
await until('processes left', () => started.flatMap(living));
await until('processes left in the home', () => ours());
const files = readdirSync(home, { recursive: true, encoding: 'utf8' });
for (const file of files) violations.push(...faultsIn(file));
rmSync(folder, { recursive: true, force: true });

console.log(`acts ${JSON.stringify(acts)}`);
console.log(`${calls} calls: ${JSON.stringify(outcomes)}`);
console.log(
  `gateway ${['mb', 'heapMb', 'fds', 'timers'].map((what) => `${what} ${warm[what].toFixed(0)} → ${end[what].toFixed(0)}`).join(', ')}`,
);
console.log(`${started.length} processes of servers, ${grants} tokens, ${files.length} state files`);
for (const violation of new Set(violations)) console.error(`VIOLATED: ${violation}`);
console.log(violations.length === 0 ? 'held' : `${violations.length} violations, seed ${SEED}`);
process.exit(violations.length === 0 ? 0 : 1);

async function startGateway() {
  const witness = ['--expose-gc', '--require', join(root, 'scripts', 'soak-witness.cjs')];
  const words = [...witness, COMMAND, 'serve', '--http', '0', '--json'];
  const child = spawn(process.execPath, words, {
    env: { ...env, PLUGBOARD_DAEMON: '0', PLUGBOARD_TOKEN: 'soak', SOAK_WITNESS: facts },
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
    const tool = !/^stdio/.test(name)
      ? 'echo'
      : kind === 0
        ? 'crash'
        : kind === 1
          ? 'flood'
          : kind === 2
            ? 'wait'
            : 'echo';
    const message = `${client.name}-${calls++}`;
    let outcome;
    try {
      const { text, isError } = await client.call(`${name}__${tool}`, { message, text: message });
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
  const victims = servers.filter(({ acts: known }) => Object.keys(known).length > 0);
  while (Date.now() < endsAt) {
    await pause(between(200, 800));
    const victim = oneOf(victims);
    const act = oneOf(Object.keys(victim.acts));
    acts[act] = (acts[act] ?? 0) + 1;
    await victim.acts[act]();
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

async function measure() {
  const { pid } = gateway.child;
  rmSync(facts, { force: true });
  gateway.child.kill('SIGUSR2');
  await until('the gateway told nothing of itself', () => (existsSync(facts) ? [] : ['SIGUSR2']));
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    ...JSON.parse(readFileSync(facts, 'utf8')),
    mb: Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024,
    fds: readdirSync(`/proc/${pid}/fd`).length,
  };
}

function bounded(name, what, most) {
  const more = end[what] - warm[what];
  if (more > most)
    violations.push(`${name}: ${more.toFixed(1)} more than after the warm-up, at most ${most}`);
}

/** What a client is told in the end: servers that were away are tried again until they had time to come back. */
async function settled(call, wanted) {
  for (const late = Date.now() + RECOVER_MS; ; await pause(200)) {
    const said = await call().then(
      ({ text }) => text,
      (error) => error.message,
    );
    if (said === wanted || Date.now() > late) return said;
  }
}

/** State is whole: JSON is JSON, line by line where it is lines, and nothing half written is left. */
function faultsIn(file) {
  if (/\.tmp$/.test(file)) return [`${file} was left behind`];
  // A line of the history has two values, with a tab between them.
  const ends = { '.json': undefined, '.jsonl': /\n/, '.lines': /[\n\t]/ };
  const end = Object.keys(ends).find((each) => file.endsWith(each));
  if (end === undefined) return [];
  const text = readFileSync(join(home, file), 'utf8');
  const parts = ends[end] === undefined ? [text] : text.split(ends[end]).filter((part) => part !== '');
  return parts.flatMap((part) => {
    try {
      JSON.parse(part);
      return [];
    } catch {
      return [`${file} is not JSON any more: ${part.slice(0, 100)}`];
    }
  });
}

/** What a process is, if it is one still. */
function living(pid) {
  try {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const [state] = /^State:.*/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return [`${pid} (${state}) ${words.slice(1).join(' ')}`];
  } catch {
    return [];
  }
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
  const left = await leftOf(condition, SETTLE_MS);
  if (left.length > 0) violations.push(`${what}: ${left.join(', ')}`);
}
