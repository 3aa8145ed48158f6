// Bare JSON ping-pong over pipes against our stdio transport, interleaved, on one echo server each.
// Run after `npx tsc -p tsconfig.build.json`: node bench/stdio-transport.mjs [rounds]
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createReaper } from '../dist/transport/reaper.js';
import { childEnvironment } from '../dist/transport/server-environment.js';
import { createStdioTransport } from '../dist/transport/stdio-transport.js';

const ROUNDS = Number(process.argv[2] ?? 5);
const SEQUENTIAL = 3000;
const CONCURRENT = 60_000;
const IN_FLIGHT = 64;
const server = fileURLToPath(new URL('./stdio-bare-server.mjs', import.meta.url));

/** `send(id)` plus a hook that is called for every answer: the least that any client must do. */
function bare() {
  const child = spawn(process.execPath, [server], { stdio: ['pipe', 'pipe', 'inherit'] });
  const peer = { onAnswer: () => {}, close: () => child.kill() };
  let rest = '';
  let batch = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) peer.onAnswer(JSON.parse(line).id);
  });
  peer.send = (id) => {
    if (batch === '') {
      process.nextTick(() => {
        child.stdin.write(batch);
        batch = '';
      });
    }
    batch += `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'echo', arguments: { n: id } } })}\n`;
  };
  return peer;
}

async function ours() {
  const reaper = createReaper({ env: process.env });
  const env = childEnvironment({}, process.env);
  const transport = createStdioTransport({ command: process.execPath, args: [server], env, reaper });
  const peer = {
    onAnswer: () => {},
    close: async () => {
      await transport.close();
      await reaper.close();
    },
  };
  await transport.open({ message: (m) => peer.onAnswer(m.id), lost() {}, closed() {}, notice() {} });
  peer.send = (id) => {
    transport.send({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'echo', arguments: { n: id } },
    });
  };
  return peer;
}

async function sequential(peer) {
  const times = [];
  for (let id = 0; id < SEQUENTIAL; id += 1) {
    const start = performance.now();
    await new Promise((resolve) => {
      peer.onAnswer = resolve;
      peer.send(id);
    });
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[SEQUENTIAL / 2];
}

async function concurrent(peer) {
  const start = performance.now();
  await new Promise((resolve) => {
    let sent = 0;
    let answered = 0;
    peer.onAnswer = () => {
      answered += 1;
      if (answered === CONCURRENT) resolve();
      else if (sent < CONCURRENT) peer.send(sent++);
    };
    while (sent < IN_FLIGHT) peer.send(sent++);
  });
  return (CONCURRENT / (performance.now() - start)) * 1000;
}

const peers = { bare: bare(), ours: await ours() };
const results = { bare: { p50: [], rate: [] }, ours: { p50: [], rate: [] } };
for (let round = 0; round <= ROUNDS; round += 1) {
  for (const [name, peer] of Object.entries(peers)) {
    const p50 = await sequential(peer);
    const rate = await concurrent(peer);
    if (round === 0) continue; // warm-up
    results[name].p50.push(p50);
    results[name].rate.push(rate);
  }
}
for (const peer of Object.values(peers)) await peer.close();
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
for (const [name, { p50, rate }] of Object.entries(results)) {
  console.log(
    `${name}: p50 ${median(p50).toFixed(3)} ms, ${Math.round(median(rate))} calls/s at ${IN_FLIGHT} in flight`,
  );
}
console.log(
  `ratio: p50 ${(median(results.ours.p50) / median(results.bare.p50)).toFixed(2)}, rate ${(median(results.ours.rate) / median(results.bare.rate)).toFixed(2)}`,
);
