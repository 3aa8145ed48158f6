/** `npm test`: every check there is, one after the other, all of them even when one fails. */

import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { root, run, tool } from './run.mjs';

const report = join(root, '.cache', 'vitest.json');

const steps = [
  ['prerequisites', ['scripts/prepare-tests.mjs']],
  ['build', ['scripts/build.mjs']],
  ['types', [tool('typescript', 'tsc'), '--noEmit', '-p', '.']],
  ['lint', [tool('@biomejs/biome', 'biome'), 'check', '--error-on-warnings', '.']],
  ['words', ['scripts/words.mjs']],
  ['unused code', [tool('knip'), '--no-progress']],
  ['tests', [tool('vitest'), 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`]],
];

await mkdir(dirname(report), { recursive: true });
await rm(report, { force: true });
const failed = [];
for (const [name, args] of steps) {
  process.stdout.write(`\n== ${name}\n`);
  const code = await run(process.execPath, args);
  if (code === 0) continue;
  failed.push(name);
  // Without what they stand on, the other steps would only repeat this failure in other words.
  if (name === 'prerequisites' || name === 'build') break;
}

const counts = await readCounts();
// A failure that vitest did not count (a check before it, an error outside of tests) still counts.
const other = failed.filter((name) => name !== 'tests');
const uncounted = failed.includes('tests') && counts.failed === 0 ? 1 : 0;
const total = counts.failed + counts.skipped + other.length + uncounted;
if (failed.length > 0) process.stdout.write(`\nFailed: ${failed.join(', ')}\n`);
if (counts.skipped > 0) process.stdout.write(`\nSkipped tests count as failed: ${counts.skipped}\n`);
process.stdout.write(`\n${counts.passed} passed, ${total} failed\n`);
process.exitCode = total === 0 ? 0 : 1;

async function readCounts() {
  try {
    const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, testResults } = JSON.parse(
      await readFile(report, 'utf8'),
    );
    // A file that did not load has failed without a test that did.
    const unloaded = testResults.filter(
      ({ status, assertionResults }) =>
        status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
    );
    return {
      passed: numPassedTests,
      failed: numFailedTests + unloaded.length,
      skipped: numPendingTests + numTodoTests,
    };
  } catch {
    // No report: vitest did not run, or not to its end. The step that failed is counted above.
    return { passed: 0, failed: 0, skipped: 0 };
  }
}
