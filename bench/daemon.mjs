/**
 * The daemon: what a command through it costs, what a call of an attached agent costs beside the same server spoken
 * to directly, what ten agents take beside one, and whether fifty agents at once lose or mix up anything.
 *
 *   node bench/daemon.mjs [rounds]
 */

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { record } from './records.mjs';
import { describeMachine, interleave, median, roundsOf, sequential, table } from './rounds.mjs';

const ROUNDS = roundsOf(process.argv[2], 15);
const SERVERS = 10;
const AGENTS = 10;
const CROWD = 50;
const CROWD_CALLS = 10_000;
const CALLS = 500;
const SETTLE_MS = 1_500;
const MB = 1024;

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const COMMAND = path('../dist/bin/plugboard.cjs');
const SERVER = path('./echo-server.mjs');
const LIMIT = path('./daemon-limit.mjs');
/** As most servers are made. */
const SDK_SERVER = path('./sdk-server.mjs');
const { NODE_EXTRA_CA_CERTS: _certificates, PLUGBOARD_DAEMON: _asked, ...inherited } = process.env;

/** A home with so many servers; every process of ours and of theirs can be told by it. */
function world(servers, program = SERVER) {
  const root = mkdtempSync(join(tmpdir(), 'plugboard-bench-daemon-'));
  const home = join(root, 'home');
  const project = join(root, 'project');
  mkdirSync(home);
  mkdirSync(join(project, '.git'), { recursive: true });
  const entry = { command: process.execPath, args: [program, home], lifecycle: 'eager' };
  const mcpServers = Object.fromEntries(Array.from({ length: servers }, (_, at) => [`s${at}`, entry]));
  writeFileSync(join(home, 'config.json'), JSON.stringify({ mcpServers }));
  const env = { ...inherited, PLUGBOARD_HOME: home, CI: '1' };
  const run = (...words) => spawnSync(process.execPath, [COMMAND, ...words], { cwd: project, env });
  return {
    env,
    home,
    project,
    run,
    agent: (...flags) => client([COMMAND, 'serve', ...flags], { cwd: project, env }),
    end() {
      run('daemon', 'stop');
      rmSync(root, { recursive: true, force: true });
    },
  };
}

const META = 'io.modelcontextprotocol/';
const clientInfo = { name: 'bench', version: '1' };
const _meta = {
  [`${META}protocolVersion`]: '2026-07-28',
  [`${META}clientInfo`]: clientInfo,
  [`${META}clientCapabilities`]: {},
};

/** Somebody who speaks lines of JSON to a program, and nothing more; `modern` in the way of 2026-07-28. */
async function client(args, options, modern = false) {
  const child = spawn(process.execPath, args, { ...options, stdio: ['pipe', 'pipe', 'inherit'] });
  const pending = new Map();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result, error } = JSON.parse(line);
    pending.get(id)?.(result ?? error);
    pending.delete(id);
  });
  let next = 1;
  const request = (method, params) =>
    new Promise((resolve) => {
      const id = next++;
      pending.set(id, resolve);
      const sent = modern ? { ...params, _meta } : params;
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: sent })}\n`);
    });
  if (!modern) {
    await request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  }
  await request('tools/list', {});
  return {
    child,
    request,
    async end() {
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.stdin.end();
      await ended;
    },
  };
}

const text = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/** Proportional set size in MB: what processes share is counted once among them. */
const memory = (pids) =>
  pids.reduce(
    (sum, pid) => sum + Number(/^Pss:\s+(\d+)/m.exec(text(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0),
    0,
  ) / MB;

const processes = (wanted) =>
  readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && wanted(text(`/proc/${pid}/cmdline`), pid));

async function commands() {
  const at = world(1);
  at.run('daemon', 'start');
  at.run('call', 's0', 'echo', 'message=hi');
  const contenders = [
    { name: 'node -e 0', args: ['-e', '0'] },
    { name: 'plugboard call, daemon', args: [COMMAND, 'call', 's0', 'echo', 'message=hi'] },
    { name: 'plugboard list, daemon', args: [COMMAND, 'list'] },
  ];
  const results = await interleave(contenders, ROUNDS, ({ args }) => {
    const from = performance.now();
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: at.project, env: at.env });
    if (status !== 0) throw new Error(String(stderr));
    return performance.now() - from;
  });
  table('one command through the daemon', results, {
    base: 'node -e 0',
    unit: 'ms',
    digits: 1,
    goals: { 'plugboard call, daemon': ['most', 2.2], 'plugboard list, daemon': ['most', 2.2] },
  });
  at.end();
}

/** `modern`: the server is of that era too, and so it is spoken to by us. */
async function calls(what, program, modern) {
  const at = world(1, program);
  const options = { cwd: at.project, env: at.env };
  const own = 's0__echo';
  const contenders = [
    { name: 'the server directly', who: await client([program], options), tool: 'echo' },
    {
      name: 'two pipes of bytes (limit)',
      who: await client([LIMIT, 'two', program], options),
      tool: 'echo',
    },
    { name: 'serve, attached to the daemon', who: await at.agent(), tool: own },
    {
      name: 'one pipe of bytes (limit)',
      who: await client([LIMIT, 'one', program], options),
      tool: 'echo',
    },
    { name: 'serve --no-daemon', who: await at.agent('--no-daemon'), tool: own },
  ];
  if (modern) {
    const who = await client([program], options, modern);
    contenders.push({ name: 'the server directly, modern era', who, tool: 'echo' });
  }
  const results = await interleave(contenders, ROUNDS, ({ who, tool: name }) =>
    sequential((n) => who.request('tools/call', { name, arguments: { message: `${n}` } }), CALLS),
  );
  table(`${what}, one call after another, p50`, results, {
    base: 'two pipes of bytes (limit)',
    unit: 'µs',
    goals: { 'serve, attached to the daemon': ['most', 1.25] },
  });
  const [, pipes, attached, pipe, alone] = [...results.values()];
  overLimit(`attached, ${what}`, attached, pipes);
  overLimit(`--no-daemon, ${what}`, alone, pipe);
  await Promise.all(contenders.map(({ who }) => who.end()));
  at.end();
}

/** How many times the least that so many processes can do, round by round. */
function overLimit(what, values, least) {
  const ratio = median(values.map((value, at) => value / least[at]));
  console.log(`  serve, ${what}: ${ratio.toFixed(2)} × the limit`);
  record({ measure: 'serve over pipes of bytes', name: what, value: ratio, unit: '×' });
}

/** What any agent's end written in Node takes at least: nothing but a wait, and nothing but bytes handed on. */
async function limits() {
  const socket = join(mkdtempSync(join(tmpdir(), 'plugboard-bench-limit-')), 'echo.sock');
  const echo = createServer((client) => client.pipe(client)).listen(socket);
  const programs = {
    'bare Node processes': "process.stdin.once('data', (line) => process.stdout.write(line));",
    'byte relays, to an echo': `const s = require('node:net').connect(${JSON.stringify(socket)});
      process.stdin.pipe(s).pipe(process.stdout);`,
  };
  const rows = {};
  for (const [name, program] of Object.entries(programs)) {
    const all = Array.from({ length: AGENTS }, () => spawn(process.execPath, ['-e', program]));
    // One that has answered has started.
    await Promise.all(
      all.map(({ stdin, stdout }) => {
        stdin.write('{"jsonrpc":"2.0"}\n');
        return new Promise((resolve) => stdout.once('data', resolve));
      }),
    );
    await sleep(SETTLE_MS);
    rows[`${AGENTS} ${name}`] = memory(all.map(({ pid }) => pid));
    for (const child of all) child.kill();
  }
  echo.close();
  rmSync(dirname(socket), { recursive: true, force: true });
  return rows;
}

async function sharing(agents, ...flags) {
  const at = world(SERVERS, SDK_SERVER);
  // The first one starts the daemon, as in a day's work.
  const first = await at.agent(...flags);
  const others = await Promise.all(Array.from({ length: agents - 1 }, () => at.agent(...flags)));
  const all = [first, ...others];
  await Promise.all(
    all.flatMap((who) =>
      Array.from({ length: SERVERS }, (_, n) =>
        who.request('tools/call', { name: `s${n}__echo`, arguments: { message: 'hi' } }),
      ),
    ),
  );
  await sleep(SETTLE_MS);
  const servers = processes((command) => command.includes(`${SDK_SERVER}\0${at.home}`));
  const relays = all.map(({ child }) => child.pid);
  const daemon = processes(
    (command, pid) =>
      /daemon\.cjs|plugboard daemon/.test(command) && text(`/proc/${pid}/environ`).includes(at.home),
  );
  const figures = {
    agents,
    servers: servers.length,
    ours: memory([...relays, ...daemon]),
    all: memory([...relays, ...daemon, ...servers]),
    relay: memory(relays) / agents,
    daemon: memory(daemon),
  };
  await Promise.all(all.map((who) => who.end()));
  at.end();
  return figures;
}

async function memories() {
  const rows = [await sharing(1), await sharing(AGENTS), await sharing(AGENTS, '--no-daemon')];
  const names = ['1 agent', `${AGENTS} agents`, `${AGENTS} agents, --no-daemon`];
  const [one, ten] = rows;
  console.log(`\nMemory with ${SERVERS} servers (PSS)`);
  for (const [at, { servers, ours, all, relay, daemon }] of rows.entries()) {
    const measure = `memory with ${SERVERS} servers, theirs included`;
    record({ measure, name: names[at], value: all, unit: 'MB', ratio: all / rows[0].all, base: names[0] });
    console.log(
      `  ${names[at].padEnd(24)} ${servers} server processes; ours ${ours.toFixed(0)} MB (${(ours / rows[0].ours).toFixed(2)} ×), ` +
        `with servers ${all.toFixed(0)} MB (${(all / rows[0].all).toFixed(2)} ×); a relay ${relay.toFixed(1)}, the daemon ${daemon.toFixed(1)}`,
    );
  }
  for (const [name, limit] of Object.entries(await limits())) {
    const least = (limit + ten.daemon) / one.ours;
    console.log(
      `  ${name.padEnd(36)} ${limit.toFixed(0)} MB; with our daemon ${least.toFixed(2)} × one agent`,
    );
  }
}

async function crowd() {
  const at = world(2);
  const all = await Promise.all(Array.from({ length: CROWD }, () => at.agent()));
  const [daemon] = processes(
    (command, pid) =>
      /daemon\.cjs|plugboard daemon/.test(command) && text(`/proc/${pid}/environ`).includes(at.home),
  );
  const sizes = [];
  let wrong = 0;
  let answered = 0;
  for (let part = 0; part < 4; part += 1) {
    await Promise.all(
      all.map(async (who, agent) => {
        for (let n = 0; n < CROWD_CALLS / CROWD / 4; n += 1) {
          const message = `${agent}-${part}-${n}`;
          const { content } = await who.request('tools/call', {
            name: `s${n % 2}__echo`,
            arguments: { message },
          });
          answered += 1;
          if (content?.[0]?.text !== message) wrong += 1;
        }
      }),
    );
    sizes.push(memory([daemon]).toFixed(0));
  }
  console.log(
    `\n${CROWD} agents, ${CROWD_CALLS} calls: ${answered} answered, ${wrong} wrong; the daemon after each quarter: ${sizes.join(', ')} MB`,
  );
  await Promise.all(all.map((who) => who.end()));
  at.end();
}

console.log(describeMachine());
await commands();
await calls('the smallest server', SERVER, false);
await calls('a server made with the SDK', SDK_SERVER, true);
await memories();
await crowd();
