/** The only place that decides by the kind of a server how its bytes travel. */

import type { Credentials } from '../auth/credentials.ts';
import { isStdio, type ServerEntry } from '../config/entry.ts';
import type { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Transport } from './contract.ts';
import { opensLegacySse } from './http-errors.ts';
import type { Reaper } from './reaper.ts';

export interface CreateOptions {
  /** Expanded: no variables left. */
  readonly entry: ServerEntry;
  /** The older HTTP transport, after the newer one was refused. */
  readonly sse: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** Default working folder of a process. */
  readonly baseDir: string;
  readonly clock: Clock;
  readonly reaper: () => Promise<Reaper>;
  /** Asked for by remote servers only. */
  readonly credentials: () => Promise<Credentials | undefined>;
}

/** Loads the code of one transport when a server needs it, and makes one. */
export async function createTransport(options: CreateOptions): Promise<Transport> {
  const { entry, clock } = options;
  if (isStdio(entry)) {
    const [{ createStdioTransport }, { childEnvironment }, reaper] = await Promise.all([
      import('./stdio.ts'),
      import('./environment.ts'),
      options.reaper(),
    ]);
    return createStdioTransport({
      command: entry.command,
      args: entry.args,
      env: childEnvironment(entry, options.env),
      cwd: entry.cwd ?? options.baseDir,
      clock,
      reaper,
    });
  }
  const credentials = await options.credentials();
  const remote = { url: new URL(entry.url), clock, ...(credentials === undefined ? {} : { credentials }) };
  if (options.sse || entry.type === 'sse') {
    const { createSseTransport } = await import('./sse.ts');
    return createSseTransport(remote);
  }
  const { createHttpTransport } = await import('./http.ts');
  return createHttpTransport(remote);
}

/** Whether a refused first request means that the server has only the older HTTP transport. */
export function fallsBackToSse(entry: ServerEntry, error: PlugboardError): boolean {
  return !isStdio(entry) && entry.type !== 'sse' && opensLegacySse(error);
}
