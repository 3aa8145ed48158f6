/** What an edge of the product is to a fuzzer: valid inputs, and a check that every input, however bad, has to pass. */

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { PlugboardError } from '../../src/errors.ts';
import { mutated } from './mutate.ts';

/** An input that takes longer than this hangs: the slowest of them take milliseconds. */
export const HANG_MS = 20_000;

const FOUND: string = fileURLToPath(new URL('./found/', import.meta.url));

export interface Edge {
  readonly name: string;
  /** How many inputs the suite tries; the long run goes by the clock. */
  readonly runs: number;
  open(): Probe | Promise<Probe>;
}

/** An edge that is ready to be tried. */
export interface Probe {
  /** Inputs as they come in good times. */
  readonly corpus: readonly Buffer[];
  /** Throws when the input broke something. */
  check(input: Buffer): void | Promise<void>;
  close?(): void | Promise<void>;
}

export interface Failure {
  /** The smallest input that still fails. */
  readonly input: Buffer;
  readonly why: string;
}

export interface FuzzOptions {
  readonly seed: number;
  /** Either so many inputs, or as many as fit. */
  readonly runs?: number;
  readonly seconds?: number;
  /** Called with every input before it is tried. */
  readonly onInput?: (input: Buffer) => void;
}

/** Tries damaged inputs; undefined when every one was taken well. */
export async function fuzz(
  probe: Probe,
  options: FuzzOptions,
): Promise<{ readonly tried: number; readonly failure?: Failure }> {
  const { seed, runs, seconds, onInput } = options;
  const property = fc.asyncProperty(mutated(probe.corpus), async (input) => {
    onInput?.(input);
    await tried(probe, input);
  });
  const outcome = await fc.check(property, {
    seed,
    numRuns: runs ?? Number.MAX_SAFE_INTEGER,
    timeout: HANG_MS,
    ...(seconds === undefined ? {} : { interruptAfterTimeLimit: seconds * 1_000 }),
  });
  const tries = { tried: outcome.numRuns };
  if (!outcome.failed || outcome.counterexample === null) return tries;
  const { errorInstance } = outcome;
  const why =
    errorInstance instanceof Error ? (errorInstance.stack ?? errorInstance.message) : String(errorInstance);
  return { ...tries, failure: { input: outcome.counterexample[0], why } };
}

/** One input, with what has to hold at every edge. */
export async function tried(probe: Probe, input: Buffer): Promise<void> {
  await probe.check(input);
  const polluted = Object.keys(Object.prototype).concat(Object.keys(Array.prototype));
  if (polluted.length > 0) throw new Error(`Object.prototype has ${polluted.join(', ')}`);
}

/** Every error must be a PlugboardError, and never one with the code for an internal fault. */
export function mustBeOurs(thrown: unknown): PlugboardError {
  if (thrown instanceof PlugboardError && thrown.code !== 'INTERNAL') return thrown;
  throw new Error('an error that is not ours', { cause: thrown });
}

/** Runs what may refuse its input; undefined when it did, in good order. */
export async function orRefused<T>(work: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (thrown) {
    mustBeOurs(thrown);
    return undefined;
  }
}

/** Inputs that once failed here: each is tried again in every run of the suite. */
export function foundInputs(edge: Edge): readonly { readonly name: string; readonly input: Buffer }[] {
  const folder = join(FOUND, edge.name);
  return filesIn(folder).map((name) => ({ name, input: readFileSync(join(folder, name)) }));
}

/** Keeps an input that failed; says where. */
export function keepFound(edge: string, input: Buffer): string {
  const folder = join(FOUND, edge);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${createHash('sha256').update(input).digest('hex').slice(0, 12)}.bin`);
  writeFileSync(file, input);
  return file;
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.bin'));
  } catch {
    return [];
  }
}
