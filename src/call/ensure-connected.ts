/**
 * Pipeline stage (ensureConnected): connects the server, and checks that the tool is still the one the caller saw.
 *
 * A tool may be known from the cache only. Connecting rereads the list, so that arguments are never validated against
 * an outdated definition (CAT-3).
 */

import { PlugboardError } from '../errors.ts';
import { whileOpen } from '../lib/cancellation.ts';
import { pinChanged } from '../policy/pins-refusal.ts';
import type { Call, CallContext, Handler, Stage } from './call.ts';
import { resolvedCall } from './resolved-call.ts';
import { snapshotFor } from './session-view.ts';

export const ensureConnected: Stage = (context, next) => (call) =>
  resolvedCall(call).connection.isLive ? next(call) : afterConnecting(context, call, next);

async function afterConnecting(context: CallContext, call: Call, next: Handler): ReturnType<Handler> {
  const { tool, connection } = resolvedCall(call);
  await whileOpen(call, call.session.ended, (signal) => connection.ready(signal));
  const snapshot = snapshotFor(context, call.session);
  const now = snapshot.find(call.name);
  // Another tool may have taken this name (F33).
  if (now?.server !== tool.server || now.tool !== tool.tool) {
    if (snapshot.findHeld(call.name) !== undefined) throw pinChanged(tool.server, tool.tool);
    throw new PlugboardError('UNKNOWN_TOOL', `${tool.server} no longer has a tool called ${tool.tool}`, {
      server: tool.server,
      hint: 'List the tools again: this server offers others now.',
    });
  }
  call.tool = now;
  return next(call);
}
