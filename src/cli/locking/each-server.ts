/** Runs npm for several servers, a few at a time, and shows the progress. */

import { asPlugboardError, EXIT_STATUS, forServer, type PlugboardError } from '../../errors.ts';
import { oneLine } from '../../policy/clean.ts';
import type { Context } from '../cli-command.ts';
import type { Paint } from '../output.ts';
import { ProgressLine } from '../progress-line.ts';
import type { Lockable } from './lockable.ts';

/** npm uses the network and the disk; more at once are not faster. */
const MAX_AT_ONCE = 3;
const REDRAW_MS = 250;

export interface Failed {
  readonly name: string;
  readonly error: PlugboardError;
}

/** Returns the results in the given order; a failure concerns its server only. */
export async function forEachServer<T extends object>(
  { output, signal }: Context,
  what: string,
  servers: readonly Lockable[],
  work: (server: Lockable) => Promise<T>,
): Promise<readonly (T | Failed)[]> {
  const results = new Map<Lockable, T | Failed>();
  const running = new Set<Lockable>();
  const line = new ProgressLine(output, what);
  const draw = (): void => {
    const message = [...running].map(({ spec }) => spec.name).join(', ');
    line.show({ progress: results.size, total: servers.length, message });
  };
  const pending = [...servers];
  const next = async (): Promise<void> => {
    for (let server = pending.shift(); server !== undefined; server = pending.shift()) {
      const { name } = server.spec;
      running.add(server);
      draw();
      results.set(server, await work(server).catch((thrown: unknown) => failed(name, thrown, signal)));
      running.delete(server);
      draw();
    }
  };
  const timer = setInterval(draw, REDRAW_MS);
  try {
    await Promise.all(Array.from({ length: MAX_AT_ONCE }, next));
  } finally {
    clearInterval(timer);
    line.clear();
  }
  return servers.flatMap((server) => results.get(server) ?? []);
}

/** The exit status of a command after its results: of the first failure, or 0. */
export function failureStatus(results: readonly object[]): number {
  const [failure] = results.filter(isFailed);
  return failure === undefined ? 0 : EXIT_STATUS[failure.error.code];
}

export function failureLines({ name, error }: Failed, paint: Paint): readonly string[] {
  return [
    `${paint.bad('✖')} ${name}  ${oneLine(error.message)}`,
    ...(error.hint === undefined ? [] : [`    hint: ${oneLine(error.hint)}`]),
  ];
}

export function isFailed(result: object): result is Failed {
  return 'error' in result;
}

/** An interrupt ends the command; other failures are results. */
function failed(name: string, thrown: unknown, signal: AbortSignal): Failed {
  if (signal.aborted) throw thrown;
  return { name, error: forServer(asPlugboardError(thrown), name) };
}
