/** Why the server that a tool's name begins with has nothing to call: a better answer than that there is no such tool. */

import { canKeepName, type NameForm, type Naming, plainName } from '../catalog/names.ts';
import type { Connection } from '../connection/connection.ts';
import { absenceOf as disconnection, refusalOf } from '../connection/reasons.ts';
import type { ConnectionState } from '../connection/state.ts';
import { forServer, type PlugboardError } from '../errors.ts';

/** @param connections those of servers of which no tool is known */
export function absenceOf(
  name: string,
  naming: Naming,
  connections: readonly Pick<Connection, 'name' | 'state'>[],
): PlugboardError | undefined {
  const owner = ownerOf(name, naming, connections);
  if (owner === undefined) return undefined;
  const { state, name: server } = owner;
  const error = refusalOf(server, state, false) ?? disconnection(server, state) ?? reasonOf(state);
  return error === undefined ? undefined : forServer(error, server);
}

/** The server that the name of a tool begins with, the longest match of all. */
export function ownerOf<C extends Pick<Connection, 'name'>>(
  name: string,
  naming: Naming,
  connections: readonly C[],
): C | undefined {
  const forms = new Set<NameForm>([naming, 'mcp__', 'gateway']);
  const [owner] = connections
    .flatMap((connection) =>
      [...forms].map((form) => ({ connection, prefix: plainName(connection.name, '', form) })),
    )
    .filter(({ prefix }) => name.startsWith(prefix))
    .sort((a, b) => b.prefix.length - a.prefix.length);
  return owner?.connection;
}

/**
 * As `ownerOf`, for servers that are starting. In the plain form a name without a server may belong to any of them:
 * the first is returned, and the next one when that one is known.
 */
export function awaitedOwnerOf<C extends Pick<Connection, 'name'>>(
  name: string,
  naming: Naming,
  starting: readonly C[],
): C | undefined {
  const owner = ownerOf(name, naming, starting);
  return owner ?? (naming === 'plain' && canKeepName(name) ? starting[0] : undefined);
}

/** As `ownerOf`; in the plain form a name without a server may belong to each of them. */
export function possibleOwnersOf<C extends Pick<Connection, 'name'>>(
  name: string,
  naming: Naming,
  connections: readonly C[],
): readonly C[] {
  const owner = ownerOf(name, naming, connections);
  if (owner !== undefined) return [owner];
  return naming === 'plain' && canKeepName(name) ? connections : [];
}

function reasonOf(state: ConnectionState): PlugboardError | undefined {
  // One that failed and is on its way again has not recovered yet.
  return state.status === 'connecting' ? state.last : 'error' in state ? state.error : undefined;
}
