/**
 * F67: runs the whole suite while every core is busy. `node scripts/test-busy.mjs [runs]`, three by default; every run
 * must pass.
 */

import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { root, run } from './run.mjs';

const SPIN = 'for (;;);';

const runs = Number(process.argv[2] ?? 3);
if (!Number.isInteger(runs) || runs < 1) {
  process.stderr.write('Usage: node scripts/test-busy.mjs [runs]\n');
  process.exit(2);
}
const spinners = Array.from({ length: availableParallelism() }, () => new Worker(SPIN, { eval: true }));
let failed = 0;
for (let number = 1; number <= runs; number += 1) {
  const began = Date.now();
  const code = await run(process.execPath, [join(root, 'scripts', 'test.mjs')]);
  const minutes = ((Date.now() - began) / 60_000).toFixed(1);
  process.stdout.write(
    `\nRun ${number} of ${runs}, ${spinners.length} busy cores: ${code === 0 ? 'passed' : 'failed'} in ${minutes} min\n`,
  );
  if (code !== 0) failed += 1;
}
await Promise.all(spinners.map((spinner) => spinner.terminate()));
process.exitCode = failed === 0 ? 0 : 1;
