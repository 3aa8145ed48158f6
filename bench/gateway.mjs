/**
 * One call through a gateway to the same stdio echo server, by a bare HTTP client: ours with policy, audit and events
 * on, the hand-written limit, and others from npm (installed into .cache/ on first use), interleaved; then the memory
 * with ten servers. After `npm run build`: node bench/gateway.mjs [rounds] [--no-peers]
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { connect, IN_FLIGHT } from './gateway-client.mjs';
import {
  cpuUs,
  end,
  limit,
  OTHERS,
  OTHERS_WITH_MANY,
  ours,
  processesOf,
  residentMb,
} from './gateway-peers.mjs';
import { opened } from './peers.mjs';
import { record } from './records.mjs';
import {
  concurrentFor,
  describeMachine,
  interleave,
  median,
  roundsOf,
  sequential,
  table,
} from './rounds.mjs';

const ROUNDS = roundsOf(process.argv[2], 7);
const SEQUENTIAL = 300;
const CONCURRENT_MS = 1_000;
const SERVERS = 10;
const SETTLE_MS = 1_000;
const peers = !process.argv.includes('--no-peers');

console.log(describeMachine());
const MEASURES = [
  'through a gateway, one call after another, p50',
  `through a gateway, ${IN_FLIGHT} at once`,
];

/** A gateway with somebody connected to it; some start their servers only with the first call. */
const candidate = (name, start, options) => ({
  name,
  async open() {
    const gateway = await start();
    try {
      const client = await connect(gateway, { ...options, name });
      await client.call(0);
      return client;
    } catch (error) {
      await end([gateway]);
      throw error;
    }
  },
});
const candidates = (starts, servers) =>
  peers ? Object.entries(starts).map(([name, start]) => candidate(name, () => start(servers))) : [];

const base = 'bare pass-through (limit)';
/** The requests of that era are longer for every gateway, and for the client. */
const modernBase = 'bare pass-through, modern era (limit)';
const era = 'plugboard serve, modern era';
/** The modern era compared with the pass-through in that era, round by round. */
function overModern(what, results) {
  const least = results.get(modernBase);
  const ours = results.get(era);
  if (least === undefined || ours === undefined) return;
  const ratio = median(ours.map((value, at) => value / least[at]));
  console.log(`  ${era}: ${ratio.toFixed(2)} × ${modernBase}`);
  record({ measure: 'modern era over its pass-through', name: what, value: ratio, unit: '×' });
}

const clients = await opened(
  [
    candidate(base, () => limit()),
    candidate('plugboard serve', () => ours()),
    candidate(modernBase, () => limit(), { modern: true }),
    candidate(era, () => ours(), { modern: true }),
    ...candidates(OTHERS, 1),
  ],
  MEASURES,
);
const gateways = clients.map(({ gateway }) => gateway);
const processes = new Map(gateways.map((each) => [each, processesOf(each)]));

const slow = await interleave(clients, ROUNDS, ({ call }) => sequential(call, SEQUENTIAL));
table(
  `through a gateway, one call after another, p50 (${SEQUENTIAL} calls a round, ${ROUNDS} rounds)`,
  slow,
  {
    base,
    unit: 'µs',
    goals: { 'plugboard serve': ['most', 1.25], [era]: ['most', 1.25] },
  },
);
overModern('one call after another', slow);

const cpu = new Map(clients.map(({ name }) => [name, { us: 0, calls: 0 }]));
const fast = await interleave(clients, ROUNDS, async ({ name, call, gateway: measured }) => {
  const pids = processes.get(measured);
  const before = cpuUs(pids);
  const { calls, rate } = await concurrentFor(call, CONCURRENT_MS, IN_FLIGHT);
  const used = cpu.get(name);
  used.us += cpuUs(pids) - before;
  used.calls += calls;
  return rate;
});
table(`through a gateway, ${IN_FLIGHT} at once (${CONCURRENT_MS} ms a round, ${ROUNDS} rounds)`, fast, {
  base,
  unit: 'calls/s',
  goals: { 'plugboard serve': ['least', 0.9], [era]: ['least', 0.9] },
  headline: `Calls through a gateway, ${IN_FLIGHT} at once`,
});
overModern(`${IN_FLIGHT} at once`, fast);
console.log(`\nCPU of the gateway for a call, ${IN_FLIGHT} at once`);
for (const [name, { us, calls }] of cpu) {
  console.log(`  ${name.padEnd(40)} ${(us / calls).toFixed(0)} µs`);
  record({ measure: 'gateway CPU for a call', name, value: us / calls, unit: 'µs' });
}
console.log('\nresident memory after the load, one server');
for (const { name, gateway } of clients)
  console.log(`  ${name.padEnd(40)} ${residentMb(processes.get(gateway)).toFixed(0)} MB`);
for (const { close } of clients) await close();
await end(gateways);

const measure = `gateway with ${SERVERS} servers, resident`;
const headline = `Memory of a gateway with ${SERVERS} servers`;
const many = await opened(
  [candidate('plugboard serve', () => ours(SERVERS)), ...candidates(OTHERS_WITH_MANY, SERVERS)],
  [measure],
);
console.log(`\n${measure}, after a call`);
for (const { name, gateway, close } of many) {
  await sleep(SETTLE_MS);
  const value = residentMb(processesOf(gateway));
  console.log(`  ${name.padEnd(40)} ${value.toFixed(0)} MB`);
  record({ measure, headline, name, value, unit: 'MB' });
  await close();
}
await end(many.map(({ gateway }) => gateway));
