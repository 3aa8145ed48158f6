/**
 * Damaged inputs at every edge, for as long as one wants: `npm run fuzz -- [--seconds 60] [--seed N] [edge…]`.
 * What fails is shrunk and written to test/fuzz/found/, from where the suite tries it again in every run. Each edge
 * has a thread of its own, with a bound on its memory and on the time that one input may take.
 */

import { register } from 'node:module';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';

register('./typescript-hooks.mjs', import.meta.url);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string' } },
});
const { EDGES } = await import('../test/fuzz/edges.ts');
const { HANG_MS, keepFound } = await import('../test/fuzz/edge.ts');
const { MAX_INPUT_BYTES } = await import('../test/fuzz/mutate.ts');

const MAX_HEAP_MB = 1_024;
const WATCH_MS = 500;
const seconds = Number(values.seconds);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const unknown = positionals.filter((name) => !EDGES.some((edge) => edge.name === name));
if (unknown.length > 0 || !(seconds > 0) || !Number.isInteger(seed)) {
  console.error(`Edges: ${EDGES.map(({ name }) => name).join(', ')}. Flags: --seconds N, --seed N.`);
  process.exit(2);
}

let failed = 0;
for (const { name } of EDGES) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const { tried, why, input } = await run(name);
  if (why === undefined) {
    console.log(`${name}: ${tried} inputs in ${seconds} s, seed ${seed}: held`);
    continue;
  }
  failed += 1;
  console.error(`${name}: seed ${seed}, after ${tried} inputs:\n${why}`);
  console.error(
    `the input, ${input.length} bytes: ${JSON.stringify(Buffer.from(input).toString('utf8').slice(0, 2_000))}`,
  );
  console.error(`kept in ${keepFound(name, Buffer.from(input))}`);
}
process.exit(failed === 0 ? 0 : 1);

function run(edge) {
  const counts = new Int32Array(new SharedArrayBuffer(8));
  const bytes = new Uint8Array(new SharedArrayBuffer(MAX_INPUT_BYTES));
  const worker = new Worker(new URL('./fuzz-worker.mjs', import.meta.url), {
    workerData: { edge, seed, seconds, counts, bytes },
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  const current = () => bytes.slice(0, counts[1]);
  return new Promise((resolve) => {
    let before = -1;
    let since = Date.now();
    const watch = setInterval(() => {
      if (counts[0] !== before) {
        before = counts[0];
        since = Date.now();
      } else if (Date.now() - since > 2 * HANG_MS)
        end({ why: `one input took more than ${(2 * HANG_MS) / 1_000} s` });
    }, WATCH_MS);
    const end = (report) => {
      clearInterval(watch);
      resolve({ tried: counts[0], input: current(), ...report });
      void worker.terminate();
    };
    worker.once('message', end);
    worker.once('error', (error) => end({ why: error.stack }));
    worker.once('exit', () => end({ why: 'the thread ended' }));
  });
}
