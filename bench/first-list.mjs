/**
 * From the start of `serve --stdio` to its first `tools/list`, with one good server of known tools and next to it one
 * that never answers: at first contact, and when it has hung before. Interleaved, each in a home of its own.
 * After `npm run build`: node bench/first-list.mjs [rounds]
 */

import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { record } from './records.mjs';
import { describeMachine, interleave, median, quantile, roundsOf, table } from './rounds.mjs';

const ROUNDS = roundsOf(process.argv[2], 15);
const WAIT_MS = 1_500;
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const { NODE_EXTRA_CA_CERTS: _certificates, ...clean } = process.env;
const root = mkdtempSync(join(tmpdir(), 'pb-first-'));
const good = { command: process.execPath, args: [path('./sdk-server.mjs')] };
const hangs = {
  command: process.execPath,
  args: ['-e', 'process.stdin.on("end", () => process.exit()).resume()'],
};

// A cached list belongs to the folder that its server was started in.
const project = join(root, 'project');
mkdirSync(join(project, '.git'), { recursive: true });

function home(name, mcpServers) {
  const folder = join(root, name);
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'config.json'),
    JSON.stringify({ mcpServers, toolSearch: false, workspace: false }),
  );
  return folder;
}

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
};
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

function plugboard(folder, ...words) {
  const child = spawn(process.execPath, [path('../dist/bin/plugboard.cjs'), ...words], {
    cwd: project,
    env: { ...clean, PLUGBOARD_HOME: folder },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return { child, exited: new Promise((resolve) => child.once('exit', resolve)) };
}

/** Milliseconds from the start of the process to its list; everything has ended when it returns. */
async function firstList(folder) {
  const from = performance.now();
  const { child, exited } = plugboard(folder, 'serve', '--stdio');
  child.stdin.write(`${JSON.stringify(initialize)}\n${JSON.stringify(list)}\n`);
  let text = '';
  for await (const chunk of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (/"id":1\b.*\}\n/.test(text)) break;
  }
  const ms = performance.now() - from;
  const line = text.split('\n').find((each) => /"id":1\b/.test(each));
  const names = JSON.parse(line).result.tools.map(({ name }) => name);
  if (names.length !== 1) throw new Error(`listed: ${names.join(', ')}`);
  child.stdin.end();
  await exited;
  // The next session starts a daemon too, as the first one of a day does.
  await run(folder, 'daemon', 'stop');
  return ms;
}

async function run(folder, ...words) {
  const { child, exited } = plugboard(folder, ...words);
  child.stdout.resume();
  await exited;
}

console.log(describeMachine());
const alone = home('alone', { good });
const known = home('known', { good, hangs });
// Waits for this one server until its tools are known.
await run(alone, 'tools', 'good');
await run(known, 'tools', 'good');
await firstList(known);

let copies = 0;
/** A new home with these servers, which knows what another one has learnt. */
function copyOf(from, mcpServers) {
  copies += 1;
  const folder = home(`copy${copies}`, mcpServers);
  cpSync(join(from, 'cache'), join(folder, 'cache'), { recursive: true });
  return folder;
}

const contenders = [
  { name: 'good server alone', folder: () => copyOf(alone, { good }) },
  { name: 'next to one that hung before', folder: () => copyOf(known, { good, hangs }) },
  { name: 'next to one that hangs, first contact', folder: () => copyOf(alone, { good, hangs }) },
];
const results = await interleave(contenders, ROUNDS, ({ folder }) => firstList(folder()));
const base = contenders[0].name;
table(`serve --stdio, start to the first tools/list (${ROUNDS} rounds)`, results, {
  base,
  unit: 'ms',
  goals: { [contenders[1].name]: ['most', 1.2] },
});
const [without, , contact] = [...results.values()];
const over = contact.map((ms, at) => ms - without[at]);
console.log(
  `  first contact costs ${median(over).toFixed(0)} ms [${quantile(over, 0.1).toFixed(0)}–${quantile(over, 0.9).toFixed(0)}], the configured wait is ${WAIT_MS} ms`,
);
record({
  measure: 'first contact with a server that hangs, beyond the time without it',
  name: 'plugboard serve, stdio',
  value: median(over),
  unit: 'ms',
  spread: `${quantile(over, 0.1).toFixed(0)}–${quantile(over, 0.9).toFixed(0)}`,
});
rmSync(root, { recursive: true, force: true });
