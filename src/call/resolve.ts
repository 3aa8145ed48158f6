/**
 * Pipeline stage: finds the tool and the connection of a name, in any spelling; suggests similar names if it is
 * unknown.
 */

import { TOOL_SEARCH } from '../catalog/deferral.ts';
import type { Tool } from '../catalog/tool.ts';
import { abortable } from '../connection/alarm.ts';
import type { Connection } from '../connection/connection.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { whileOpen } from '../lib/cancellation.ts';
import { nearest } from '../lib/nearest.ts';
import { pinChanged } from '../policy/pins-refusal.ts';
import type { Call, CallContext, Handler, Stage } from './call.ts';
import { deferralFor, snapshotFor } from './session-view.ts';

const MAX_SIMILAR = 3;

export const resolve: Stage = (context, next) => (call) => {
  if (context.closing.aborted)
    return Promise.reject(new PlugboardError('CANCELLED', 'The call was cancelled: the host was closed'));
  const tool = offered(context, call);
  return tool === undefined ? relistAndResolve(context, call, next) : resolved(context, call, tool, next);
};

/** Returns the tool of the call's name, if its session may use it. */
function offered(context: CallContext, { name, session }: Call): Tool | undefined {
  const snapshot = snapshotFor(context, session);
  const tool = snapshot.find(name);
  if (tool === undefined || session.offers === undefined) return tool;
  return session.offers(tool.server, snapshot.ruleNames(tool).assigned) ? tool : undefined;
}

/**
 * Rereads the list of a server that sends no change notifications, or was not listed yet, before a tool is refused as
 * unknown.
 */
async function relistAndResolve(context: CallContext, call: Call, next: Handler): ReturnType<Handler> {
  const isHeld = snapshotFor(context, call.session).findHeld(call.name) !== undefined;
  const relisted = isHeld ? undefined : context.relist(String(call.name), call.session);
  if (relisted !== undefined)
    await whileOpen(call, call.session.ended, (signal) => abortable(relisted, signal));
  const tool = offered(context, call);
  if (tool === undefined) throw refusal(context, call);
  return resolved(context, call, tool, next);
}

/** Returns the most specific known reason why there is no tool to call. */
function refusal(context: CallContext, call: Call): PlugboardError {
  const held = snapshotFor(context, call.session).findHeld(call.name);
  if (held !== undefined) return pinChanged(held.server, held.tool);
  const absent = context.absenceOf(String(call.name), call.session);
  if (absent !== undefined) return absent;
  const close = similarNames(context, call);
  const hint =
    close.length > 0
      ? `Did you mean ${close.join(' or ')}?`
      : deferralFor(context, call.session).searchTool === undefined
        ? 'List the tools again: they change as servers start and stop.'
        : `Find it with ${TOOL_SEARCH}.`;
  const name = JSON.stringify(String(call.name));
  return new PlugboardError('UNKNOWN_TOOL', `There is no tool called ${name}`, { hint });
}

function resolved(context: CallContext, call: Call, tool: Tool, next: Handler): ReturnType<Handler> {
  let connection: Connection | undefined;
  try {
    connection = context.connection(tool.server, call.session);
  } catch (error) {
    return Promise.reject(asPlugboardError(error));
  }
  if (connection === undefined) {
    return Promise.reject(
      new PlugboardError('UNKNOWN_SERVER', `The server ${tool.server} is no longer configured`, {
        server: tool.server,
      }),
    );
  }
  call.tool = tool;
  call.connection = connection;
  return next(call);
}

/** Returns names that the caller can use, most likely first: other prefixes, the tool's own name alone, and typos. */
function similarNames(context: CallContext, { name: given, session }: Call): readonly string[] {
  const name = String(given);
  const snapshot = snapshotFor(context, session);
  const { offers } = session;
  const tools =
    offers === undefined
      ? snapshot.tools
      : snapshot.tools.filter((tool) => offers(tool.server, snapshot.ruleNames(tool).assigned));
  const known = tools.map((tool) => ({
    tool: tool.tool,
    name: session.gateway ? (snapshot.nameOf(tool, context.gatewayNaming) ?? tool.name) : tool.name,
  }));
  const meant = known.filter((each) => each.tool === name || name.endsWith(`__${each.name}`));
  const typos = nearest(
    session.gateway ? name.replace(/^mcp__/, '') : name,
    known.map((each) => each.name),
  );
  return [...new Set([...meant.map((each) => each.name), ...typos])].slice(0, MAX_SIMILAR);
}
