/** One edge in a thread of its own: whoever watches it can end it when an input hangs or eats all memory. */

import { register } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';

register('./typescript-hooks.mjs', import.meta.url);

const { EDGES } = await import('../test/fuzz/edges.ts');
const { fuzz } = await import('../test/fuzz/edge.ts');

const { edge: name, seed, seconds, counts, bytes } = workerData;
const edge = EDGES.find((each) => each.name === name);
const probe = await edge.open();
const onInput = (input) => {
  bytes.set(input);
  counts[1] = input.length;
  Atomics.add(counts, 0, 1);
};
const { tried, failure } = await fuzz(probe, { seed, seconds, onInput });
await probe.close?.();
parentPort.postMessage({ tried, ...failure });
