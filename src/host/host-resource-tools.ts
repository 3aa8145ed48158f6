/** Resource access for the resource tools: whose resources a session may read, their lists, and their contents. */

import type { Call, ResourceAccess } from '../call/call.ts';
import type { Session } from '../call/session.ts';
import { isDeclared } from '../catalog/content-lists.ts';
import { LIST_RESOURCES, RESOURCE_TOOLS, resourceRuleNames } from '../catalog/resource-tool-definitions.ts';
import type { Tool } from '../catalog/tool.ts';
import { unknownServer } from '../config/unknown-server.ts';
import type { Connection } from '../connection/connection.ts';
import type { HandedOn } from '../connection/handed-on.ts';
import { PlugboardError } from '../errors.ts';
import { signalOf } from '../lib/cancellation.ts';
import { isAvailable } from './host-content.ts';
import type { HostCore } from './host-core.ts';

const NONE: readonly Tool[] = [];

/** Returns the resource tools of a session: none if it has not enabled them, or if no server has resources. */
export function resourceToolsFor(core: HostCore, session: Session): readonly Tool[] {
  if (!session.resourceTools) return NONE;
  // Servers whose capabilities are unknown do not add them: a model's tools should not come and go.
  const isKnown = (server: string): boolean =>
    core.pool.get(server)?.negotiated !== undefined || core.loader.offered(server, 'resources');
  return core.calls.resources.servers(session).some(isKnown) ? RESOURCE_TOOLS : NONE;
}

export function createResourceAccess(core: HostCore): ResourceAccess {
  const mayHave = ({ name, negotiated }: Connection): boolean =>
    negotiated === undefined ? !core.loader.lacked(name, 'resources') : isDeclared(negotiated, 'resources');
  const isListed = (connection: Connection): boolean =>
    isAvailable(connection) &&
    core.approvals.contentDenial(connection.name) === undefined &&
    mayHave(connection);
  const isOffered = (server: string, { offers, profile }: Session): boolean =>
    core.pool.get(server) !== undefined &&
    (profile === undefined || profile.offersAll(server)) &&
    (offers === undefined || offers(server, resourceRuleNames(server).all));
  return {
    isOffered,
    servers: (session) =>
      core.pool
        .all()
        .filter((connection) => isListed(connection) && isOffered(connection.name, session))
        .map(({ name }) => name)
        .sort(),
    mayHave: (server) => mayHave(primaryOf(core, server)),
    list: async (server) => {
      const denial = core.approvals.contentDenial(server);
      if (denial !== undefined) throw denial;
      return core.content.resources(primaryOf(core, server));
    },
    read: (call, server, uri) => read(core, call, server, uri),
  };
}

async function read(
  core: HostCore,
  call: Call,
  server: string,
  uri: string,
): ReturnType<ResourceAccess['read']> {
  const { session, timeoutMs, onProgress } = call;
  const reading = core.work.run(primaryOf(core, server), call, (connection) =>
    core.content.read(
      connection,
      uri,
      core.contentOptions(connection, session, {
        signal: signalOf(call),
        owner: call,
        forModel: session.forModel,
        handedOn: withTrace(call),
        timeoutMs,
        onProgress: (progress) => {
          core.events.emit('call.progress', { id: call.id, ...progress });
          onProgress?.(progress);
        },
      }),
    ),
  );
  try {
    return await reading;
  } catch (thrown) {
    throw thrown instanceof PlugboardError && thrown.code === 'INVALID_ARGUMENTS' ? forModel(thrown) : thrown;
  }
}

/** The hint names functions of the library, which a model cannot call. */
function forModel({ code, message, server, cause, detail }: PlugboardError): PlugboardError {
  return new PlugboardError(code, message, {
    server,
    hint: `${LIST_RESOURCES} lists the resources of ${server}.`,
    cause,
    detail,
  });
}

function withTrace({ handedOn, traceMeta }: Call): HandedOn | undefined {
  return traceMeta === undefined ? handedOn : { ...handedOn, meta: { ...handedOn?.meta, ...traceMeta } };
}

/** Returns the connection that all sessions share, unless one has a process of its own. */
export function primaryOf(core: HostCore, server: string): Connection {
  const connection = core.pool.get(server);
  if (connection !== undefined) return connection;
  throw unknownServer(server);
}
