/**
 * An echo server of the kit over stdio, beside the cheapest server there can be and one on the plain SDK v1:
 * p50 of a call, calls a second at 64 at once, and the time from its start to its first answer.
 *
 * node bench/kit.mjs [rounds]; SDK v1 comes from `node scripts/install-real-clients.mjs`.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { concurrent, interleave, sequential, table } from './rounds.mjs';

const ROUNDS = Number(process.argv[2] ?? 7);
const SEQUENTIAL = 2_000;
const CONCURRENT = 20_000;
const IN_FLIGHT = 64;

const contenders = [
  { name: 'bare', file: 'echo-server.mjs' },
  { name: 'kit', file: 'kit-server.mjs' },
  { name: 'SDK v1', file: 'kit-sdk-v1.mjs' },
];

/** The least that a client has to do, the same for all three. */
function start({ file }) {
  const program = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map();
  let rest = '';
  let batch = '';
  let id = 0;
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      const answer = JSON.parse(line);
      waiting.get(answer.id)(answer);
      waiting.delete(answer.id);
    }
  });
  const send = (message) => {
    if (batch === '') {
      process.nextTick(() => {
        child.stdin.write(batch);
        batch = '';
      });
    }
    batch += `${JSON.stringify(message)}\n`;
  };
  const request = (method, params) =>
    new Promise((resolve) => {
      id += 1;
      waiting.set(id, resolve);
      send({ jsonrpc: '2.0', id, method, params });
    });
  return {
    request,
    initialize: () =>
      request('initialize', {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'bench', version: '1' },
      }),
    ready: () => send({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    close: async () => {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}

const running = new Map();
for (const contender of contenders) {
  const server = start(contender);
  await server.initialize();
  server.ready();
  running.set(contender.name, server);
}
const call = (name) => {
  const { request } = running.get(name);
  return async (n) => {
    const { result } = await request('tools/call', { name: 'echo', arguments: { message: `hello ${n}` } });
    if (result.content[0].text !== `hello ${n}`)
      throw new Error(`${name} answered ${JSON.stringify(result)}`);
  };
};

const inARow = await interleave(contenders, ROUNDS, ({ name }) => sequential(call(name), SEQUENTIAL));
table('one call after another, p50', inARow, { base: 'bare', unit: 'µs' });
const atOnce = await interleave(contenders, ROUNDS, ({ name }) =>
  concurrent(call(name), CONCURRENT, IN_FLIGHT),
);
table(`${IN_FLIGHT} at once`, atOnce, { base: 'SDK v1', unit: 'calls/s' });
for (const server of running.values()) await server.close();

const starts = await interleave(contenders, ROUNDS * 3, async (contender) => {
  const from = performance.now();
  const server = start(contender);
  await server.initialize();
  const took = performance.now() - from;
  await server.close();
  return took;
});
table('from its start to the answer to initialize', starts, { base: 'bare', unit: 'ms', digits: 1 });
