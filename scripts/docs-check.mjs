/**
 * `npm run docs:check`: what the pages say is true. Every snippet is run, type-checked or validated, every generated part is current,
 * every link leads somewhere; those snippets that cannot be run are counted and listed with the reason.
 */

import { root, run, tool } from './run.mjs';

const steps = [
  ['scripts/install-real-servers.mjs'],
  ['scripts/build.mjs'],
  [tool('vitest'), 'run', '--reporter=verbose', 'test/docs.test.ts', 'test/docs/'],
];
for (const args of steps) {
  process.exitCode = await run(process.execPath, args, { cwd: root });
  if (process.exitCode !== 0) break;
}
