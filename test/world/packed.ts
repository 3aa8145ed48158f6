/** A package as npm packs it: checked as a tarball, and installed into an empty folder. */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** The way to resolve that knows no `exports`. */
const WITHOUT_EXPORTS = 'node10';

const root = fileURLToPath(new URL('../..', import.meta.url));
const exec = promisify(execFile);

export interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

interface AttwReport {
  readonly analysis: { readonly entrypoints: Readonly<Record<string, unknown>> };
  readonly problems: Readonly<Record<string, readonly { readonly resolutionKind?: string }[]>>;
}

/** Runs a program to its end and returns what it printed. */
export async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const options = { cwd, maxBuffer: MAX_OUTPUT_BYTES, env: { ...process.env, ...env } };
  const { stdout } = await exec(command, args, options);
  return stdout;
}

/** Packs a folder as it is, without its scripts. */
export async function pack(folder: string, destination: string): Promise<Packed> {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', destination];
  const [only]: Packed[] = JSON.parse(await run('npm', args, folder));
  if (!only) throw new Error('npm pack packed nothing.');
  return only;
}

/** The remarks of publint. */
export async function publintRemarks(tarball: string): Promise<readonly (string | undefined)[]> {
  const { buffer } = new Uint8Array(readFileSync(tarball));
  const { messages, pkg } = await publint({ pack: { tarball: buffer }, level: 'suggestion', strict: true });
  return messages.map((message) => formatMessage(message, pkg, { color: false }));
}

/** The entry points that attw has checked, and its problems but those of a resolver that knows no `exports`. */
export async function attwReport(
  tarball: string,
  {
    profile = 'node16',
    exclude = [],
  }: { readonly profile?: string; readonly exclude?: readonly string[] } = {},
): Promise<{ readonly entryPoints: readonly string[]; readonly problems: readonly unknown[] }> {
  const attw = join(root, 'node_modules', '@arethetypeswrong', 'cli', 'dist', 'index.js');
  const excluded = exclude.length === 0 ? [] : ['--exclude-entrypoints', ...exclude];
  const args = [attw, tarball, '--profile', profile, '--format', 'json', ...excluded];
  // It ends with an error when a problem is left that the profile does not ignore.
  const report: AttwReport = JSON.parse(await run(process.execPath, args, root));
  const problems = Object.values(report.problems).flat();
  return {
    entryPoints: Object.keys(report.analysis.entrypoints),
    problems: problems.filter(({ resolutionKind }) => resolutionKind !== WITHOUT_EXPORTS),
  };
}
