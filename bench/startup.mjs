/**
 * What it costs to start the command, as ratios to `node -e 0` taken in one interleaved run.
 *
 *   node bench/startup.mjs [repetitions] [file of the command]
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { record } from './records.mjs';
import { roundsOf } from './rounds.mjs';

const SERVERS = 20;

const root = fileURLToPath(new URL('..', import.meta.url));
const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const repetitions = roundsOf(process.argv[2], 15);
const command = process.argv[3] ? resolve(process.argv[3]) : join(root, bin.plugboard);

const work = mkdtempSync(join(tmpdir(), 'plugboard-startup-'));
const home = join(work, 'home');
const project = join(work, 'project');
mkdirSync(home);
mkdirSync(join(project, '.git'), { recursive: true });
const mcpServers = Object.fromEntries(
  Array.from({ length: SERVERS }, (_, at) => [
    `server-${at}`,
    at % 2 === 0
      ? { command: 'npx', args: ['-y', `some-server-${at}`], env: { TOKEN: 'abc' } }
      : { type: 'http', url: `https://example.com/${at}/mcp`, headers: { 'X-Key': `\${KEY_${at}}` } },
  ]),
);
writeFileSync(join(home, 'config.json'), JSON.stringify({ mcpServers }, null, 2));

// Reading extra certificates costs several milliseconds of every start and has nothing to do with us.
const { NODE_EXTRA_CA_CERTS: _certificates, ...inherited } = process.env;
const env = { ...inherited, PLUGBOARD_HOME: home, CI: '1' };

const cases = [
  { name: 'node -e 0', args: ['-e', '0'] },
  { name: 'plugboard --version', args: [command, '--version'], goal: 1.4 },
  {
    name: `plugboard list --no-connect (${SERVERS} servers)`,
    args: [command, 'list', '--no-connect'],
    goal: 1.6,
  },
  { name: 'plugboard get', args: [command, 'get', 'server-7'], goal: 1.6 },
  { name: 'completing a command', args: [command, '__complete', '--', 'li'], goal: 1.5 },
  { name: 'completing a server', args: [command, '__complete', '--', 'get', 'server-1'], goal: 1.5 },
  { name: 'plugboard --help', args: [command, '--help'] },
];

const times = cases.map(() => []);
try {
  // The first round warms the file cache and is thrown away.
  for (let round = -1; round < repetitions; round++) {
    for (const [at, { name, args }] of cases.entries()) {
      const began = performance.now();
      const { status, stderr } = spawnSync(process.execPath, args, { env, cwd: project });
      const took = performance.now() - began;
      if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`);
      if (round >= 0) times[at].push(took);
    }
  }
} finally {
  rmSync(work, { recursive: true });
}

const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
const rows = cases.map(({ name, goal }, at) => {
  const sorted = times[at].toSorted((a, b) => a - b);
  return { name, goal, p25: quantile(sorted, 0.25), p50: quantile(sorted, 0.5), p75: quantile(sorted, 0.75) };
});
const base = rows[0].p50;

console.log(`node ${process.version}, ${repetitions} repetitions, interleaved, ${command}\n`);
console.log('| command | median ms | p25–p75 ms | × node -e 0 | goal |');
console.log('|---|--:|--:|--:|--:|');
for (const { name, goal, p25, p50, p75 } of rows) {
  const cells = [
    name,
    p50.toFixed(1),
    `${p25.toFixed(1)}–${p75.toFixed(1)}`,
    (p50 / base).toFixed(2),
    goal === undefined ? '' : `≤ ${goal}`,
  ];
  console.log(`| ${cells.join(' | ')} |`);
  const spread = `${p25.toFixed(1)}–${p75.toFixed(1)}`;
  record({
    measure: 'one-shot commands',
    name,
    value: p50,
    unit: 'ms',
    spread,
    ratio: p50 / base,
    base: rows[0].name,
    goal: goal === undefined ? undefined : ['most', goal],
  });
}
