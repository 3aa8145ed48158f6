/**
 * CPU that checks of trust cost: this build against another checkout's, interleaved, as ratios of medians.
 *
 *   node bench/trust-cost.mjs <other checkout> [rounds]
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('..', import.meta.url));
const ECHO = join(HERE, 'test/fixtures/folder-teller.mjs');
const SERVERS = 20;
const CALLS = 3_000;
const [other, rounds = '40'] = process.argv.slice(2);
if (other === undefined) throw new Error('name the other checkout, with its build in dist/');

const dir = mkdtempSync(join(tmpdir(), 'plugboard-cost-'));
const project = join(dir, 'project');
mkdirSync(join(project, '.git'), { recursive: true });
/** Writes the CPU of the process when it ends. */
const hook = join(dir, 'hook.cjs');
writeFileSync(
  hook,
  `process.on('exit', () => { const { user, system } = process.cpuUsage(); require('node:fs').writeFileSync(process.env.CPU_FILE, String(user + system)); });`,
);
const calling = join(dir, 'calling.mjs');
writeFileSync(
  calling,
  `const { createHost } = await import(process.argv[2]);
const host = await createHost({ approve: () => 'allow', watch: false, servers: { s: { command: process.execPath, args: [process.argv[3]], approval: 'approve' } } });
await host.ready();
const [tool] = host.tools({ all: true });
const before = process.cpuUsage();
for (let n = 0; n < ${CALLS}; n += 1) await host.call(tool.name, { message: 'hi', text: 'hi' });
const { user, system } = process.cpuUsage(before);
await host.close();
console.log(user + system);`,
);

function homeOf(name) {
  const home = join(dir, name);
  mkdirSync(home);
  const mcpServers = Object.fromEntries(
    Array.from({ length: SERVERS }, (_, at) => [`s${at}`, { command: process.execPath, args: [ECHO] }]),
  );
  writeFileSync(join(home, 'config.json'), JSON.stringify({ mcpServers }));
  return home;
}

function run(checkout, home, args) {
  const file = join(dir, 'cpu');
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const command = join(checkout, 'dist/bin/plugboard.cjs');
  spawnSync(process.execPath, ['-r', hook, command, ...args], {
    cwd: project,
    env: {
      ...env,
      PLUGBOARD_HOME: home,
      PLUGBOARD_DAEMON: '0',
      PLUGBOARD_CREDENTIALS: 'file',
      CPU_FILE: file,
    },
  });
  return Number(readFileSync(file, 'utf8'));
}

function call(checkout, home) {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const args = [calling, join(checkout, 'dist/index.js'), ECHO];
  const { stdout } = spawnSync(process.execPath, args, {
    cwd: project,
    env: { ...env, PLUGBOARD_HOME: home },
  });
  return Number(String(stdout)) / CALLS;
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const builds = [
  { checkout: HERE, home: homeOf('new') },
  { checkout: resolve(other), home: homeOf('old') },
];
for (const { checkout, home } of builds) run(checkout, home, ['list']);
const paths = [
  [
    'list --no-connect, 20 servers',
    ({ checkout, home }) => run(checkout, home, ['list', '--no-connect']),
    Number(rounds),
  ],
  [
    'tools from the cache, 20 servers',
    ({ checkout, home }) => run(checkout, home, ['tools']),
    Number(rounds),
  ],
  ['one call over stdio', ({ checkout, home }) => call(checkout, home), Math.ceil(Number(rounds) / 4)],
];
for (const [what, measure, times] of paths) {
  const [now, before, ratios] = [[], [], []];
  for (let round = 0; round < times; round += 1) {
    const order = round % 2 === 0 ? [0, 1] : [1, 0];
    const got = [];
    for (const at of order) got[at] = measure(builds[at]);
    now.push(got[0]);
    before.push(got[1]);
    ratios.push(got[0] / got[1]);
  }
  const sorted = ratios.toSorted((a, b) => a - b);
  const spread = [sorted[Math.floor(times * 0.1)], sorted[Math.ceil(times * 0.9) - 1]];
  console.log(
    `${what}: ${(median(now) / median(before)).toFixed(3)} × (10–90 %: ${spread.map((each) => each.toFixed(2)).join(' to ')}), ${Math.round(median(now))} against ${Math.round(median(before))} µs of CPU`,
  );
}
rmSync(dir, { recursive: true, force: true });
