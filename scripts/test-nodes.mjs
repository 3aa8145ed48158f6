/**
 * `npm run test:nodes [-- 22 24] [--suite]`: the packed package, installed into an empty folder by each Node that we support and used
 * there from end to end. With `--suite` the whole suite runs on each of them as well, one after the other.
 */

import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { installNodes, nodes } from './install-nodes.mjs';
import { run, tool } from './run.mjs';
import { bundleWholeProduct, EVERYTHING, runWholeProduct } from './whole-product.mjs';

const args = process.argv.slice(2);
const wanted = args.filter((arg) => /^\d+$/.test(arg)).map(Number);
const majors = wanted.length > 0 ? wanted : [...nodes.keys()];
const failed = [];

if ((await installNodes()) !== 0) process.exit(1);
if ((await run(process.execPath, ['scripts/build.mjs'])) !== 0) process.exit(1);
const temp = await mkdtemp(join(tmpdir(), 'plugboard-nodes-'));
try {
  const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', temp];
  if ((await run('npm', pack, { stdio: ['ignore', 'ignore', 'inherit'] })) !== 0) process.exit(1);
  const [tarball] = await readdir(temp);
  for (const major of majors) await tryOn(major, tarball);
} finally {
  await rm(temp, { recursive: true, force: true });
}
if (failed.length > 0) process.stdout.write(`Failed: ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

async function tryOn(major, tarball) {
  const node = nodes.get(major);
  if (node === undefined) throw new Error(`Node ${major} is none of ${[...nodes.keys()].join(', ')}.`);
  // Whatever is started by name, npm included, runs on this Node.
  const env = { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}` };
  const folder = join(temp, `on-${major}`);
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const install = ['install', '--no-audit', '--no-fund', '--loglevel=error', join(temp, tarball)];
  process.stdout.write(`== Node ${major}: the package\n`);
  if ((await run('npm', install, { cwd: folder, env })) !== 0) failed.push(`install on Node ${major}`);
  try {
    const printed = await runWholeProduct(node, await bundleWholeProduct(folder));
    process.stdout.write(`${printed.map((line) => `  ✔ ${line}\n`).join('')}`);
    if (printed.join() !== EVERYTHING.join()) failed.push(`the package on Node ${major}`);
  } catch (error) {
    process.stdout.write(`${error.stdout ?? ''}${error.stderr ?? error.stack}\n`);
    failed.push(`the package on Node ${major}`);
  }
  if (!args.includes('--suite')) return;
  process.stdout.write(`== Node ${major}: the suite\n`);
  if ((await run(node, [tool('vitest'), 'run'], { env })) !== 0) failed.push(`the suite on Node ${major}`);
}
