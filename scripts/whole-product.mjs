/** Runs test/nodes/whole-product.ts on a Node of one's choice, in a folder that has the package installed. */

import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { root } from './run.mjs';

/** Each step starts several programs; a machine may be busy with other tests. */
const TIMEOUT_MS = 180_000;

/** What it prints when everything works. */
export const EVERYTHING = ['command', 'library', 'workspace', 'kit', 'serve over HTTP', 'daemon', 'chat'];

/** One program in the folder, that imports the package which is installed there. */
export async function bundleWholeProduct(folder) {
  const outfile = join(folder, 'whole-product.mjs');
  await build({
    entryPoints: [join(root, 'test', 'nodes', 'whole-product.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    // `await using` is younger than Node 20.
    target: 'node20',
    external: ['plugboard', 'plugboard/*'],
    logLevel: 'error',
  });
  return outfile;
}

/** Resolves with the lines that it printed; rejects with what went wrong. Programs that are looked for by name are this Node's, too. */
export async function runWholeProduct(node, program) {
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
  const env = { ...inherited, PATH: `${dirname(node)}:${process.env.PATH}` };
  const options = { cwd: dirname(program), env, timeout: TIMEOUT_MS };
  const { stdout } = await promisify(execFile)(node, [program], options);
  return stdout.trimEnd().split('\n');
}
