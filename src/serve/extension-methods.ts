/** Extensions of servers for clients: the gateway's declaration, and the routing of extension requests. */

import { declaresMethod, UI_EXTENSION } from '../catalog/extensions.ts';
import { isForModel, type Tool } from '../catalog/tool.ts';
import { RESERVED_META } from '../connection/handed-on.ts';
import { TASKS_EXTENSION } from '../connection/tasks.ts';
import type { ClientInfo, Params } from '../endpoint/client-era.ts';
import { RpcFailure, unknownMethod } from '../endpoint/rpc-failure.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import { RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';
import type { ServedSession } from './served-host.ts';

/** In a request's `_meta`: the target server, where several have the extension. Never passed on. */
const SERVER_KEY = `${RESERVED_META}server`;

/** True if a client shows user interfaces of servers. */
export function hasUi({ capabilities }: Pick<ClientInfo, 'capabilities'>): boolean {
  const { extensions } = capabilities;
  return isRecord(extensions) && extensions[UI_EXTENSION] !== undefined;
}

/**
 * Returns the tool of a name, if a client may use it. Tools for user interfaces are for clients that show these, and
 * such an interface calls them by its server's own names.
 */
export function toolFor(
  session: Pick<ServedSession, 'allTools'>,
  name: string,
  { clientInfo, found }: { readonly clientInfo: ClientInfo; readonly found: Tool | undefined },
): Tool | undefined {
  const isWithApps = hasUi(clientInfo);
  if (found !== undefined) {
    if (isWithApps || isForModel(found)) return found;
    throw new PlugboardError('UNKNOWN_TOOL', `There is no tool called ${JSON.stringify(name)}`, {
      hint: 'Its server keeps it for clients that show user interfaces.',
    });
  }
  if (!isWithApps) return undefined;
  const [only, ...others] = session.allTools().filter(({ tool }) => tool === name);
  return others.length === 0 ? only : undefined;
}

/** Returns the gateway's capabilities merged with the extensions of all servers; tasks are the gateway's own. */
export function withExtensions(own: Params, session: Pick<ServedSession, 'extensions'>): Params {
  const extensions = new Map<string, unknown>();
  const experimental = new Map<string, unknown>();
  for (const declared of session.extensions().values()) {
    join(extensions, declared.extensions);
    join(experimental, declared.experimental);
  }
  extensions.delete(TASKS_EXTENSION);
  join(extensions, own['extensions']);
  join(experimental, own['experimental']);
  return {
    ...own,
    ...(extensions.size === 0 ? {} : { extensions: Object.fromEntries(extensions) }),
    ...(experimental.size === 0 ? {} : { experimental: Object.fromEntries(experimental) }),
  };
}

/** Merges the settings of several servers into one object; on conflict the first one wins. */
function join(joined: Map<string, unknown>, more: unknown): void {
  for (const [id, settings] of Object.entries(isRecord(more) ? more : {})) {
    const known = joined.get(id);
    joined.set(id, isRecord(known) && isRecord(settings) ? { ...settings, ...known } : (known ?? settings));
  }
}

/** The parts of a request that identify its server. */
export interface Named {
  readonly tool: Tool | undefined;
  /** The server of the address in `uri`. */
  readonly place: { readonly server: string } | undefined;
}

/** Returns the one server that an extension request goes to; throws if there is none, or it is ambiguous. */
export function ownerOf(
  session: Pick<ServedSession, 'extensions'>,
  method: string,
  params: Params,
  { tool, place }: Named,
): string {
  const owners = [...session.extensions()]
    .filter(([, declared]) => declaresMethod(declared, method))
    .map(([server]) => server);
  const meta = params['_meta'];
  const chosen = isRecord(meta) ? meta[SERVER_KEY] : undefined;
  const named = [chosen, place?.server, tool?.server].find((server) => typeof server === 'string');
  const [only, ...others] = named === undefined ? owners : owners.filter((server) => server === named);
  if (only !== undefined && others.length === 0) return only;
  if (owners.length === 0) throw unknownMethod(method);
  const servers = owners.join(', ');
  const message = `Method not found: ${method}. ${
    named === undefined
      ? `Several servers have it (${servers}): name one in _meta as ${JSON.stringify(SERVER_KEY)}.`
      : `${String(named)} does not have it, but: ${servers}.`
  }`;
  throw new RpcFailure(RPC_METHOD_NOT_FOUND, message, { servers: owners });
}
