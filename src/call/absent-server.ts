/** Finds why the server that a tool's name begins with has no tools: a better error than "unknown tool". */

import { canKeepName, type NameForm, type Naming, plainName } from '../catalog/tool-names.ts';
import type { Connection } from '../connection/connection.ts';
import { absenceOf as disconnection, refusalOf } from '../connection/reasons.ts';
import type { ConnectionState } from '../connection/state.ts';
import { forServer, type PlugboardError } from '../errors.ts';

/**
 * Returns the reason why the named server has no tools to call.
 *
 * @param connections those of servers of which no tool is known
 */
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

/** Returns the server that the name of a tool begins with; the longest match wins. */
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
 * Like `ownerOf`, for servers that are starting. In the plain form a name without a server may belong to any of them:
 * returns the first, and the next one once that one is known.
 */
export function awaitedOwnerOf<C extends Pick<Connection, 'name'>>(
  name: string,
  naming: Naming,
  starting: readonly C[],
): C | undefined {
  const owner = ownerOf(name, naming, starting);
  return owner ?? (naming === 'plain' && canKeepName(name) ? starting[0] : undefined);
}

/** Like `ownerOf`; in the plain form a name without a server may belong to each of them. */
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
  // A server that failed and is reconnecting has not recovered yet.
  return state.status === 'connecting' ? state.last : 'error' in state ? state.error : undefined;
}
