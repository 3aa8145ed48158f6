/**
 * One call through a gateway to the same stdio echo server, by a bare HTTP client: ours with policy, audit and events
 * on, the hand-written limit, and others from npm (installed into .cache/ on first use), interleaved; then the memory
 * with ten servers. After `npm run build`: node bench/gateway.mjs [rounds] [--no-peers]
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { connect, IN_FLIGHT } from './gateway-client.mjs';
import { cpuUs, end, limit, others, othersWith, ours, processesOf, residentMb } from './gateway-peers.mjs';
import { record } from './records.mjs';
import { concurrentFor, describeMachine, interleave, sequential, table } from './rounds.mjs';

const ROUNDS = Number(process.argv[2]) || 7;
const SEQUENTIAL = 300;
const CONCURRENT_MS = 1_000;
const SERVERS = 10;
const SETTLE_MS = 1_000;
const peers = !process.argv.includes('--no-peers');

console.log(describeMachine());
const gateway = await ours();
const gateways = [await limit(), gateway, ...(peers ? await others() : [])];
const clients = await Promise.all(gateways.map((each) => connect(each)));
clients.splice(2, 0, await connect(gateway, { modern: true, name: 'plugboard serve, modern era' }));
// A first call: some start their servers only then.
for (const { call } of clients) await call(0);
const processes = new Map(gateways.map((each) => [each, processesOf(each)]));
const base = gateways[0].name;

const slow = await interleave(clients, ROUNDS, ({ call }) => sequential(call, SEQUENTIAL));
table(`one call after another, p50 (${SEQUENTIAL} calls a round, ${ROUNDS} rounds)`, slow, {
  base,
  unit: 'µs',
});

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
table(`${IN_FLIGHT} at once (${CONCURRENT_MS} ms a round, ${ROUNDS} rounds)`, fast, {
  base,
  unit: 'calls/s',
});
console.log(`\nCPU of the gateway for a call, ${IN_FLIGHT} at once`);
for (const [name, { us, calls }] of cpu) {
  console.log(`  ${name.padEnd(40)} ${(us / calls).toFixed(0)} µs`);
  record({ measure: 'gateway CPU for a call', name, value: us / calls, unit: 'µs' });
}
console.log('\nresident memory after the load, one server');
for (const each of gateways)
  console.log(`  ${each.name.padEnd(40)} ${residentMb(processes.get(each)).toFixed(0)} MB`);
for (const { close } of clients) await close();
await end(gateways);

const many = [await ours(SERVERS), ...(peers ? await othersWith(SERVERS) : [])];
console.log(`\nresident memory with ${SERVERS} servers, after a call`);
for (const each of many) {
  const { call, close } = await connect(each);
  await call(0);
  await sleep(SETTLE_MS);
  console.log(`  ${each.name.padEnd(40)} ${residentMb(processesOf(each)).toFixed(0)} MB`);
  record({
    measure: `gateway with ${SERVERS} servers, resident`,
    name: each.name,
    value: residentMb(processesOf(each)),
    unit: 'MB',
  });
  await close();
}
await end(many);
