/** Starts the servers of a host: those with unknown tools at once, the others a few at a time. */

import { availableParallelism } from 'node:os';
import { setAlarm } from '../connection/alarm.ts';
import type { Connection } from '../connection/connection.ts';
import type { Clock } from '../lib/clock.ts';
import type { HostEvents } from './host-options.ts';

/**
 * Limit on parallel starts of servers that only refresh a known list, which is served from the cache until then. No
 * caller waits for them, and ten programs that start at once would slow down the ones that callers wait for.
 */
export const RENEWED_AT_ONCE: number = Math.max(1, Math.floor(availableParallelism() / 2));
/** The next one starts after this time, even if one hangs. */
export const TURN_MS = 1_000;

export interface Starting {
  /** Servers that a caller waits for. */
  readonly now: readonly Connection[];
  /** Servers whose list is cached and stale. */
  readonly inTurns: readonly Connection[];
}

export async function startAll({ now, inTurns }: Starting, clock: Clock): Promise<HostEvents['ready']> {
  await Promise.all([...now.map((connection) => settled(connection)), renew(inTurns, clock)]);
  const all = [...now, ...inTurns];
  const count = (...statuses: string[]): number =>
    all.filter(({ state }) => statuses.includes(state.status)).length;
  const connected = count('connected');
  const cancelled = count('disconnected', 'idle', 'connecting');
  return { connected, failed: all.length - connected - cancelled, cancelled };
}

async function renew(connections: readonly Connection[], clock: Clock): Promise<void> {
  const waiting = [...connections];
  const starts: Promise<void>[] = [];
  const takeTurns = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      // It may have been started or removed since.
      const start = next.state.status === 'idle' ? settled(next) : Promise.resolve();
      starts.push(start);
      const turn = setAlarm(clock, TURN_MS);
      await Promise.race([start, turn.due]);
      turn.cancel();
    }
  };
  await Promise.all(Array.from({ length: RENEWED_AT_ONCE }, takeTurns));
  await Promise.all(starts);
}

/** Errors are ignored here: the state of the connection has the result. */
async function settled(connection: Connection): Promise<void> {
  await connection.connect().catch(() => {});
}
