/**
 * One tool call over stdio: `host.call` with its whole pipeline beside the SDKs' clients, the AI SDK's and the bare JSON
 * ping-pong, on the same servers, interleaved; in a row, 64 at once, and with results of 1 KB and 1 MB.
 * After `npm run build`: node bench/calls.mjs [rounds]
 */

import { fileURLToPath } from 'node:url';
import { opened } from './peers.mjs';
import { concurrent, describeMachine, interleave, roundsOf, sequential, table } from './rounds.mjs';
import { stdioClients } from './stdio-clients.mjs';

const ROUNDS = roundsOf(process.argv[2], 15);
const SEQUENTIAL = 1_000;
const CONCURRENT = 10_000;
const IN_FLIGHT = 64;
const SIZES = [
  { name: '1 KB', bytes: 1_024, calls: 300 },
  { name: '1 MB', bytes: 1_048_576, calls: 5 },
];
const base = 'SDK v1 client';
const path = (name) => fileURLToPath(new URL(name, import.meta.url));

/** What a contender's answer has to be; who answers something else is not measured. */
function checked({ content }, expected) {
  if (!expected(content[0].text)) throw new Error(`answered ${JSON.stringify(content).slice(0, 80)}`);
}

console.log(describeMachine());
const inARow = `stdio, one call after another, p50`;
const atOnce = `stdio, ${IN_FLIGHT} at once`;
const contenders = await opened(stdioClients([path('./echo-server.mjs')]), [inARow, atOnce]);
for (const { call } of contenders) checked(await call('echo', { message: 'm' }), (text) => text === 'm');
const echo =
  ({ call }) =>
  (n) =>
    call('echo', { message: `m${n}` });

const slow = await interleave(contenders, ROUNDS, (who) => sequential(echo(who), SEQUENTIAL));
table(`${inARow} (${SEQUENTIAL} calls a round, ${ROUNDS} rounds)`, slow, {
  base,
  unit: 'µs',
  goals: { 'host.call': ['most', 0.95] },
  headline: 'One call over stdio',
});
const fast = await interleave(contenders, ROUNDS, (who) => concurrent(echo(who), CONCURRENT, IN_FLIGHT));
table(`${atOnce} (${CONCURRENT} calls a round, ${ROUNDS} rounds)`, fast, {
  base,
  unit: 'calls/s',
  goals: { 'host.call': ['least', 1.1] },
  headline: `Calls over stdio, ${IN_FLIGHT} at once`,
});
for (const { close } of contenders) await close();

const LIMIT = 'bare ping-pong (limit)';
const measures = SIZES.map(({ name }) => `stdio, a result of ${name}, p50`);
const large = await opened(stdioClients([path('./growth/large-server.mjs')]), measures);
for (const [at, { bytes, calls }] of SIZES.entries()) {
  const sized =
    ({ call }) =>
    () =>
      call('sized', { bytes });
  for (const who of large) checked(await sized(who)(), (text) => text.length > bytes * 0.9);
  const results = await interleave(large, ROUNDS, (who) => sequential(sized(who), calls));
  table(`${measures[at]} (${calls} calls a round, ${ROUNDS} rounds)`, results, {
    base: LIMIT,
    unit: 'µs',
    goals: bytes > 1_000_000 ? { 'host.call': ['most', 1.1] } : {},
  });
}
for (const { close } of large) await close();
