/** Runs scenarios of the official conformance suite and reads its verdicts. */

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { node, suite } from '../../scripts/install-conformance.mjs';

export const SCENARIO_TIMEOUT_MS = 60_000;

export const SUITE_TIMEOUT_MS = 150_000;

const run = promisify(execFile);

export interface ServerVerdicts {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
  /** Scenarios that the suite runs and does not score, by their outcome. */
  readonly unscored: { readonly passed: readonly string[]; readonly failed: readonly string[] };
}

/** A program that prints its address in its first output, and how it is started. */
export interface Tested {
  readonly program: string;
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/** Runs scenarios for servers against a program that serves over HTTP. */
export async function serverVerdicts(tested: Tested, args: readonly string[]): Promise<ServerVerdicts> {
  const output = await mkdtemp(join(tmpdir(), 'plugboard-conformance-'));
  const path = fileURLToPath(new URL(tested.program, import.meta.url));
  const server = spawn(process.execPath, [path, ...(tested.args ?? [])], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: tested.cwd,
    env: tested.env ?? process.env,
  });
  try {
    const [printed] = await once(server.stdout, 'data');
    const [url = ''] = /http:\/\/[^\s"]+/.exec(String(printed)) ?? [];
    const { stdout = '' } = await run(node, [suite, 'server', '--url', url, ...args, '-o', output], {
      timeout: SUITE_TIMEOUT_MS,
      maxBuffer: 2 ** 26,
    }).catch((failed: { stdout?: string }) => failed);
    const [scored = '', listed = ''] = stdout.split('=== SUMMARY ===').at(-1)?.split('Not scored') ?? [];
    const notScored = new Set([...listed.matchAll(/[✓✗] (\S+) \(/g)].map(([, name]) => name));
    const verdicts = [...scored.matchAll(/([✓✗]) (\S+): /g)];
    const marked = (wanted: string, isScored: boolean): string[] =>
      verdicts
        .filter(([, mark, name]) => mark === wanted && notScored.has(name) !== isScored)
        .map(([, , name = '']) => name);
    return {
      passed: marked('✓', true),
      failed: marked('✗', true),
      unscored: { passed: marked('✓', false), failed: marked('✗', false) },
    };
  } finally {
    server.kill('SIGTERM');
    await once(server, 'exit');
    await rm(output, { recursive: true, force: true });
  }
}

async function conformance(args: readonly string[]): Promise<string> {
  const result = await run(node, [suite, ...args], { timeout: SCENARIO_TIMEOUT_MS }).catch(
    (failed: { stdout?: string; stderr?: string }) => failed,
  );
  return `${result.stdout ?? ''}${result.stderr ?? ''}`;
}

/** All scenarios for clients that the suite has, by name. */
export async function clientScenarios(): Promise<string[]> {
  const listing = await conformance(['list', '--client']);
  return [...listing.matchAll(/^ {2}- (\S+)/gm)].map(([, name = '']) => name);
}

/** Lets a driver of this folder play one scenario; everything has to pass, without a warning. */
export async function expectPassed(driver: string, scenario: string): Promise<void> {
  const output = await mkdtemp(join(tmpdir(), 'plugboard-conformance-'));
  try {
    const command = `${process.execPath} ${fileURLToPath(new URL(driver, import.meta.url))}`;
    const report = await conformance(['client', '--command', command, '--scenario', scenario, '-o', output]);
    const [, passed, all, failed, warnings] =
      /Passed: (\d+)\/(\d+), (\d+) failed, (\d+) warnings/.exec(report) ?? [];
    const problems = report.split('\n').filter((line) => /FAILURE|WARNING/.test(line));
    expect({ passed, failed, warnings, problems }).toEqual({
      passed: all,
      failed: '0',
      warnings: '0',
      problems: [],
    });
    expect(Number(passed)).toBeGreaterThan(0);
    expect(report).toContain('OVERALL: PASSED');
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}
