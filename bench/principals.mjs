/**
 * The CPU of a gateway for a call over HTTP by a client with a profile, rules and budgets, among 10,000 clients and 100
 * profiles, as a share of that for the only client of a gateway without profiles; and the same with a rule about paths,
 * which has to look at the disk for each value. Each gateway is a process of its own, and they take turns. Linux only:
 * reads /proc. `node bench/principals.mjs [rounds]`
 */

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuNs } from './cpu-time.mjs';
import { connect, IN_FLIGHT } from './gateway-client.mjs';
import { record } from './records.mjs';
import { concurrent, median, roundsOf } from './rounds.mjs';

const CLIENTS = 10_000;
const PROFILES = 100;
const CALLS_A_ROUND = 1_000;
/** V8 compiles the path of a call until about here; a gateway serves many more. */
const WARM_UP_CALLS = 12_000;
/** The most that all checks may cost, as a share of the call of a client without a profile. */
const MAX_RATIO = 1.05;

const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const COMMAND = file('../dist/bin/plugboard.cjs');
const ECHO = { command: process.execPath, args: [file('echo-server.mjs')] };
const TOOL = 'echo__echo';
const tokenOf = (at) => `token-of-client-${at}-${'x'.repeat(24)}`;
const hashOf = (token) => createHash('sha256').update(token).digest('hex');
const numbered = (count, entry) => Object.fromEntries(Array.from({ length: count }, (_, at) => entry(at)));

/** Each profile has its own tools, rules and budgets. */
function profile(at, denied) {
  return [
    `p${at}`,
    {
      servers: ['echo', `s${at}*`],
      tools: ['echo__*', `s${at}__*`],
      rules: {
        deny: [`s${at}__delete_*`, denied],
        allow: ['echo__echo(message=m*)'],
      },
      budgets: [
        { calls: 1_000_000, per: 'second' },
        { calls: 1_000_000_000, per: 'day', server: 'echo', tool: 'ec*' },
      ],
    },
  ];
}

const alone = { clients: { only: { token: hashOf(tokenOf(0)) } } };
const among = (denied) => ({
  profiles: numbered(PROFILES, (at) => profile(at, denied)),
  clients: numbered(CLIENTS, (at) => [
    `c${at}`,
    { token: hashOf(tokenOf(at)), profile: `p${at % PROFILES}` },
  ]),
});
/** What the clients with a profile may not say. */
const KINDS = [
  { title: 'a profile, rules and budgets among 10,000 clients', denied: 'echo__echo(message=drop *)' },
  { title: 'the same with a rule about paths', denied: 'echo__echo(message=/etc/**)' },
];

async function open(dir, name, config, { client, modern }) {
  const home = join(dir, name.replace(/\W+/g, '-'));
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'config.json'), JSON.stringify({ mcpServers: { echo: ECHO }, ...config }));
  const { NODE_EXTRA_CA_CERTS: _certificates, ...environment } = process.env;
  const env = { ...environment, PLUGBOARD_HOME: home, PLUGBOARD_CREDENTIALS: 'file', PLUGBOARD_DAEMON: '0' };
  const args = [COMMAND, 'serve', '--http', '0', '--own', '--json'];
  const child = spawn(process.execPath, args, { env, cwd: home, stdio: ['ignore', 'pipe', 'ignore'] });
  const printed = await new Promise((done) => child.stdout.once('data', done));
  const [url] = /http:[^"\s]+/.exec(String(printed));
  const headers = { authorization: `Bearer ${tokenOf(client)}` };
  const { call } = await connect({ name, url, headers, tool: TOOL }, { modern });
  await concurrent(call, WARM_UP_CALLS, IN_FLIGHT);
  return {
    async round() {
      const before = cpuNs(child.pid);
      await concurrent(call, CALLS_A_ROUND, IN_FLIGHT);
      return (cpuNs(child.pid) - before) / 1_000 / CALLS_A_ROUND;
    },
    close() {
      const over = new Promise((resolve) => child.once('exit', resolve));
      child.kill();
      return over;
    },
  };
}

async function measure(dir, era, rounds) {
  const modern = era === 'modern';
  const base = await open(dir, `${era} alone`, alone, { client: 0, modern });
  const others = [];
  for (const { title, denied } of KINDS) {
    const config = among(denied);
    const gateway = await open(dir, `${era} ${title}`, config, { client: CLIENTS - 1, modern });
    others.push({ title, gateway });
  }
  const taken = new Map([base, ...others.map(({ gateway }) => gateway)].map((each) => [each, []]));
  for (let round = 0; round < rounds; round += 1) {
    // In turns, so that none is always the first.
    const order = [...taken.keys()].map((_, at, all) => all[(at + round) % all.length]);
    for (const each of order) taken.get(each).push(await each.round());
  }
  await Promise.all([...taken.keys()].map((each) => each.close()));
  const found = ({ title, gateway }) => ({
    title,
    full: median(taken.get(gateway)),
    ratio: median(taken.get(gateway).map((each, round) => each / taken.get(base)[round])),
  });
  return { base: median(taken.get(base)), kinds: others.map(found) };
}

const rounds = roundsOf(process.argv[2], 30);
const dir = mkdtempSync(join(tmpdir(), 'plugboard-principals-'));
try {
  for (const era of ['legacy', 'modern']) {
    const { base, kinds } = await measure(dir, era, rounds);
    const measured = `CPU of a call, ${era} client over HTTP`;
    record({ measure: measured, name: 'one client without a profile', value: base, unit: 'µs' });
    for (const { title, full, ratio } of kinds) {
      const verdict = ratio <= MAX_RATIO ? 'ok' : 'too much';
      console.log(
        `${era}, ${title}: ${full.toFixed(0)} µs of CPU, alone ${base.toFixed(0)} µs: ` +
          `× ${ratio.toFixed(3)}, at most ${MAX_RATIO}: ${verdict}`,
      );
      record({
        measure: measured,
        name: title,
        value: full,
        unit: 'µs',
        ratio,
        base: 'one client without a profile',
        goal: ['most', MAX_RATIO],
      });
    }
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
