/** Closes the clients of an endpoint: running calls may finish within a time limit. */

import { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { ClientConnection } from './client-connection.ts';
import type { SuspendedRequests } from './client-rounds.ts';

/** How long running calls may continue after serving was asked to end. */
const CLOSE_GRACE_MS = 5_000;

export async function closeClients(
  clientConnections: readonly ClientConnection[],
  suspended: SuspendedRequests,
  clock: Clock,
  why: string,
): Promise<void> {
  const reason = new PlugboardError('CANCELLED', why);
  suspended.close(reason);
  for (const clientConnection of clientConnections) clientConnection.stopListening();
  let stopTimer = (): void => {};
  const late = new Promise<void>((resolve) => {
    stopTimer = clock.after(CLOSE_GRACE_MS, resolve);
  });
  await Promise.race([
    Promise.all(clientConnections.map((clientConnection) => clientConnection.idle())),
    late,
  ]);
  stopTimer();
  for (const clientConnection of clientConnections) clientConnection.dismiss(reason);
}
