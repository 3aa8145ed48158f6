/**
 * One call through a gateway to the same stdio echo server, by a bare HTTP client: ours with policy, audit and events
 * on, the hand-written limit, and others from npm (installed into .cache/ on first use), interleaved.
 * After `npm run build`: node bench/gateway.mjs [rounds] [--no-peers]
 */

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { concurrent, describeMachine, interleave, sequential, table } from './rounds.mjs';

const ROUNDS = Number(process.argv[2]) || 7;
const SEQUENTIAL = 500;
const CONCURRENT = 5_000;
const IN_FLIGHT = 64;
const START_MS = 30_000;
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const server = path('./echo-server.mjs');
const cache = path('../.cache/gateway-peers');
const home = mkdtempSync(join(tmpdir(), 'plugboard-bench-'));
const TOKEN = 'a-token-for-the-bench';

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** A gateway as a process of its own; `url` is known, or printed by it. */
async function start(name, args, known, env = {}) {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...env },
  });
  let printed = '';
  let url = known;
  child.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  for (let waited = 0; url === undefined && waited < START_MS; waited += 50) {
    await sleep(50);
    url = /(http:\/\/[\d.:]+\/mcp)/.exec(printed)?.[1];
  }
  return { name, child, url };
}

/** A session of a legacy client, and one call in it. */
async function connect({ name, child, url }, { tool = 'echo', headers = {}, modern = false } = {}) {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: IN_FLIGHT, pipelining: 1 });
  const base = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  };
  let session = {};
  const post = async (body) => {
    const sent = {
      path: pathname,
      method: 'POST',
      headers: { ...base, ...session },
      body: JSON.stringify(body),
    };
    const answer = await pool.request(sent);
    return { answer, text: await answer.body.text() };
  };
  if (!modern) {
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    };
    for (let waited = 0; ; waited += 100) {
      try {
        const { answer } = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
        if (answer.statusCode !== 200) throw new Error(`${name}: HTTP ${answer.statusCode}`);
        const id = answer.headers['mcp-session-id'];
        session = {
          'mcp-protocol-version': '2025-06-18',
          ...(id === undefined ? {} : { 'mcp-session-id': id }),
        };
        break;
      } catch (error) {
        if (waited > START_MS) throw error;
        await sleep(100);
      }
    }
    await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  } else {
    session = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': tool };
  }
  const META = 'io.modelcontextprotocol/';
  const _meta = { [`${META}protocolVersion`]: '2026-07-28', [`${META}clientCapabilities`]: {} };
  return {
    name,
    child,
    async call(n) {
      const params = { name: tool, arguments: { message: `m${n}` }, ...(modern ? { _meta } : {}) };
      const { text } = await post({ jsonrpc: '2.0', id: n + 1, method: 'tools/call', params });
      const at = text.startsWith('{') ? 0 : text.lastIndexOf('data: ') + 6;
      const { result } = JSON.parse(text.slice(at));
      if (result.content[0].text !== `m${n}`) throw new Error(`${name} answered ${text}`);
    },
    close: () => pool.destroy(),
  };
}

function residentMb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
}

/** From /proc, in ticks of 10 ms: over thousands of calls that is exact enough. */
function cpuUs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

async function ours() {
  const args = [path('../dist/cli/main.js'), 'serve', '--http', '0', '--token', TOKEN, '--server'];
  return start('plugboard serve', [...args, `echo=${process.execPath} ${server}`], undefined, {
    PLUGBOARD_HOME: home,
  });
}

async function peers() {
  if (!existsSync(join(cache, 'node_modules', 'mcp-proxy'))) {
    mkdirSync(cache, { recursive: true });
    const packages = ['mcp-proxy', 'supergateway'];
    execFileSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', cache, ...packages]);
  }
  const bin = (name) => {
    const folder = join(cache, 'node_modules', name);
    const { bin: bins } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return join(folder, typeof bins === 'string' ? bins : bins[name]);
  };
  const [one, two] = [await freePort(), await freePort()];
  const stdio = `${process.execPath} ${server}`;
  return [
    await start(
      'mcp-proxy',
      [bin('mcp-proxy'), '--port', String(one), '--server', 'stream', '--', process.execPath, server],
      `http://127.0.0.1:${one}/mcp`,
    ),
    await start(
      'supergateway --stateful',
      [
        bin('supergateway'),
        '--stdio',
        stdio,
        '--outputTransport',
        'streamableHttp',
        '--stateful',
        '--port',
        String(two),
      ],
      `http://127.0.0.1:${two}/mcp`,
    ),
  ];
}

console.log(describeMachine());
const limit = await start('hand-written pass-through (the limit)', [path('./gateway-limit.mjs'), server]);
const gateway = await ours();
const others = process.argv.includes('--no-peers') ? [] : await peers();
const headers = { authorization: `Bearer ${TOKEN}` };
const tool = 'mcp__echo__echo';
const contenders = [
  await connect(limit),
  await connect(gateway, { tool, headers }),
  await connect({ ...gateway, name: 'plugboard serve, modern era' }, { tool, headers, modern: true }),
  ...(await Promise.all(others.map((other) => connect(other)))),
];
const base = limit.name;
const slow = await interleave(contenders, ROUNDS, ({ call }) => sequential(call, SEQUENTIAL));
table(`one call after another, p50 (${SEQUENTIAL} calls a round, ${ROUNDS} rounds)`, slow, {
  base,
  unit: 'µs',
});
const cpu = new Map(contenders.map(({ name }) => [name, { us: 0, calls: 0 }]));
const fast = await interleave(contenders, ROUNDS, async ({ name, call, child }) => {
  const before = cpuUs(child.pid);
  const rate = await concurrent(call, CONCURRENT, IN_FLIGHT);
  const used = cpu.get(name);
  used.us += cpuUs(child.pid) - before;
  used.calls += CONCURRENT;
  return rate;
});
table(`${IN_FLIGHT} at once (${CONCURRENT} calls a round, ${ROUNDS} rounds)`, fast, {
  base,
  unit: 'calls/s',
});
console.log(`\nCPU of the gateway's process for a call, ${IN_FLIGHT} at once`);
for (const [name, { us, calls }] of cpu) console.log(`  ${name.padEnd(40)} ${(us / calls).toFixed(0)} µs`);
console.log('\nresident memory after the load');
for (const { name, child } of [limit, gateway, ...others]) {
  console.log(`  ${name.padEnd(40)} ${residentMb(child.pid).toFixed(0)} MB`);
}
for (const { close } of contenders) await close();
for (const { child } of [limit, gateway, ...others]) child.kill();
rmSync(home, { recursive: true, force: true });
