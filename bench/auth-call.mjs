/**
 * What a stored login costs on a call: our HTTP transport with a configured header beside the same with a valid
 * stored token, interleaved in one run against one bare server. `node bench/auth-call.mjs [rounds]`
 */

import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { HomeTraces } from '../dist/auth/home-traces.js';
import { Logins } from '../dist/auth/logins.js';
import { createServerAuth } from '../dist/auth/server-auth.js';
import { canonicalUrl } from '../dist/auth/stored-login.js';
import { homeAt } from '../dist/config/home.js';
import { systemClock as clock } from '../dist/lib/clock.js';
import { openSecrets } from '../dist/secrets/store.js';
import { createHttpTransport } from '../dist/transport/http-transport.js';
import { record } from './records.mjs';
import { roundsOf } from './rounds.mjs';

const CALLS_A_ROUND = 300;
const WARM_UP_CALLS = 500;
/** The most that a stored token may cost, as a share of a configured header. */
const MAX_RATIO = 1.1;

if (process.argv[2] === '--serve') serve();
else await measure(roundsOf(process.argv[2], 20));

function serve() {
  let requests = 0;
  const server = createServer((req, res) => {
    requests += 1;
    const chunks = [];
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', () => {
      const { id } = JSON.parse(Buffer.concat(chunks).toString());
      const result = { authorized: req.headers.authorization !== undefined, requests };
      const body = JSON.stringify({ jsonrpc: '2.0', id, result });
      res
        .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
        .end(body);
    });
  }).listen(0, '127.0.0.1', () => process.send(server.address().port));
  process.on('disconnect', () => process.exit());
}

async function measure(rounds) {
  const child = fork(fileURLToPath(import.meta.url), ['--serve']);
  const port = await new Promise((resolve) => child.once('message', resolve));
  const url = `http://127.0.0.1:${port}/mcp`;
  const home = homeAt(await mkdtemp(join(tmpdir(), 'plugboard-bench-')));
  const env = { PLUGBOARD_CREDENTIALS: 'file' };
  const logins = new Logins({
    traces: new HomeTraces(home, clock),
    clock,
    secrets: openSecrets({ home, env }),
  });
  const now = clock.now();
  await logins.locked(url, (held) =>
    held.write(
      {
        version: 1,
        url: canonicalUrl(url),
        issuer: url,
        endpoints: { token: url },
        client: { id: 'bench', from: 'configured' },
        tokens: {
          access: 'x'.repeat(40),
          type: 'Bearer',
          refresh: 'y',
          obtainedAt: now,
          expiresAt: now + 3_600_000,
        },
      },
      'login',
    ),
  );
  const make = async (entry) => {
    const auth = createServerAuth({ server: 'bench', entry, env, logins, clock });
    return { auth, times: [], ...(await caller(url, auth)) };
  };
  const header = await make({ url, headers: { Authorization: `Bearer ${'x'.repeat(40)}` } });
  const stored = await make({ url });
  const bare = { times: [], ...bareCaller(url) };
  for (const { call } of [header, stored, bare]) for (let i = 0; i < WARM_UP_CALLS; i++) await call();
  const before = (await stored.call()).requests;
  for (let round = 0; round < rounds; round++) {
    // Whoever goes first changes with each round, so that neither has the warmer machine.
    for (const { call, times } of round % 2 === 0 ? [header, stored, bare] : [bare, stored, header]) {
      for (let i = 0; i < CALLS_A_ROUND; i++) {
        const start = performance.now();
        const { authorized } = await call();
        times.push(performance.now() - start);
        if (!authorized) throw new Error('A call went out without its token.');
      }
    }
  }
  const after = (await stored.call()).requests;
  const ratio = p50(stored.times) / p50(header.times);
  const extra = after - before - 1 - 3 * rounds * CALLS_A_ROUND;
  console.log(`configured header p50 ${p50(header.times).toFixed(4)} ms`);
  console.log(`stored token      p50 ${p50(stored.times).toFixed(4)} ms`);
  const base = 'configured header';
  const figure = { measure: 'a call with a login', unit: 'ms', base };
  const least = { name: 'bare undici (limit)', value: p50(bare.times) };
  record({ ...figure, ...least, ratio: least.value / p50(header.times) });
  record({ ...figure, name: base, value: p50(header.times), ratio: 1 });
  record({ ...figure, name: 'stored login', value: p50(stored.times), ratio, goal: ['most', MAX_RATIO] });
  console.log(`ratio ${ratio.toFixed(3)} (at most ${MAX_RATIO}), extra requests ${extra}`);
  for (const { transport, auth } of [header, stored]) {
    await transport.close();
    auth.close();
  }
  await bare.close();
  logins.close();
  child.disconnect();
  await rm(home.dir, { recursive: true, force: true });
  if (ratio > MAX_RATIO || extra !== 0) process.exitCode = 1;
}

/** The least that such a call costs: one request with its header. */
function bareCaller(url) {
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin, { connections: 1 });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${'x'.repeat(40)}` };
  let id = 0;
  const call = async () => {
    id += 1;
    const params = { name: 'echo', arguments: {} };
    const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
    const answer = await pool.request({ method: 'POST', path, headers, body });
    return (await answer.body.json()).result;
  };
  return { call, close: () => pool.destroy() };
}

async function caller(url, credentials) {
  const waiting = new Map();
  const transport = createHttpTransport({ url: new URL(url), credentials, clock });
  await transport.open({
    message: (message) => waiting.get(message.id)?.(message.result),
    lost: (_, error) => {
      throw error;
    },
    closed: () => {},
    notice: () => {},
  });
  let id = 0;
  const call = async () => {
    id += 1;
    const mine = id;
    const answer = new Promise((resolve) => waiting.set(mine, resolve));
    await transport.send({
      jsonrpc: '2.0',
      id: mine,
      method: 'tools/call',
      params: { name: 'echo', arguments: {} },
    });
    const result = await answer;
    waiting.delete(mine);
    return result;
  };
  return { transport, call };
}

function p50(times) {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)];
}
