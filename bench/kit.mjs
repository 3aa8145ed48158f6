/**
 * An echo server of the kit over stdio, beside the cheapest server there can be, one on the plain SDK v1 and one of
 * fastmcp: p50 of a call, calls a second at 64 at once, and the time from its start to its first answer.
 *
 * node bench/kit.mjs [rounds]; SDK v1 comes from `node scripts/install-real-clients.mjs`.
 */

import { fileURLToPath } from 'node:url';
import { moduleUrl, opened } from './peers.mjs';
import { concurrent, interleave, roundsOf, sequential, table } from './rounds.mjs';
import { stdioClient } from './stdio-client.mjs';

const ROUNDS = roundsOf(process.argv[2], 7);
const SEQUENTIAL = 2_000;
const CONCURRENT = 20_000;
const IN_FLIGHT = 64;

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const BARE = 'bare (limit)';
const SDK_V1 = 'SDK v1';
/** `prepare` gives arguments that the program needs beyond its name. */
const programs = [
  { name: BARE, file: 'echo-server.mjs' },
  { name: 'kit', file: 'kit-server.mjs' },
  { name: SDK_V1, file: 'kit-sdk-v1.mjs' },
  { name: 'fastmcp', file: 'kit-fastmcp-server.mjs', prepare: () => moduleUrl('fastmcp/dist/FastMCP.js') },
];
const MEASURES = [
  'a call of an echo server, one after another, p50',
  `calls of an echo server, ${IN_FLIGHT} at once`,
  'an echo server, from its start to the answer to initialize',
];

const contenders = await opened(
  programs.map(({ name, file, prepare }) => ({
    name,
    async open() {
      const args = [path(file), ...(prepare === undefined ? [] : [await prepare()])];
      const server = stdioClient(process.execPath, args);
      await server.initialize();
      const call = async (n) => {
        const given = { name: 'echo', arguments: { message: `hello ${n}` } };
        const { result } = await server.request('tools/call', given);
        if (result.content[0].text !== `hello ${n}`) throw new Error(`answered ${JSON.stringify(result)}`);
      };
      await call(0);
      return { args, call, end: () => server.end() };
    },
  })),
  MEASURES,
);

const inARow = await interleave(contenders, ROUNDS, ({ call }) => sequential(call, SEQUENTIAL));
table(MEASURES[0], inARow, { base: BARE, unit: 'µs' });
const atOnce = await interleave(contenders, ROUNDS, ({ call }) => concurrent(call, CONCURRENT, IN_FLIGHT));
table(MEASURES[1], atOnce, { base: SDK_V1, unit: 'calls/s' });
for (const { end } of contenders) await end();

const starts = await interleave(contenders, ROUNDS * 2, async ({ args }) => {
  const from = performance.now();
  const server = stdioClient(process.execPath, args);
  await server.initialize();
  const took = performance.now() - from;
  await server.end();
  return took;
});
table(MEASURES[2], starts, {
  base: BARE,
  unit: 'ms',
  digits: 1,
  headline: 'A server, from start to first answer',
});
