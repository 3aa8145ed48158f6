/** Finds the tool and the connection that a name stands for; a wrong name is answered with the nearest ones. */

import { PlugboardError } from '../errors.ts';
import { nearest } from '../lib/nearest.ts';
import { pinChanged } from '../policy/pins-refusal.ts';
import type { Stage } from './call.ts';

export const resolve: Stage = (context, next) => (call) => {
  if (context.leave.aborted)
    return Promise.reject(new PlugboardError('CANCELLED', 'the call was cancelled: the host was closed'));
  const snapshot = context.snapshot();
  const tool = snapshot.find(call.name);
  if (tool === undefined) {
    const held = snapshot.findHeld(call.name);
    if (held !== undefined) return Promise.reject(pinChanged(held.server, held.tool));
    const absent = context.absent(String(call.name));
    if (absent !== undefined) return Promise.reject(absent);
    const close = nearest(
      String(call.name),
      snapshot.tools.map((known) => known.name),
    );
    const hint =
      close.length > 0
        ? `Did you mean ${close.join(' or ')}?`
        : 'Ask for the list of tools again: it changes as servers come and go.';
    return Promise.reject(
      new PlugboardError('UNKNOWN_TOOL', `there is no tool called ${JSON.stringify(String(call.name))}`, {
        hint,
      }),
    );
  }
  const connection = context.connection(tool.server, call.session);
  if (connection === undefined) {
    return Promise.reject(
      new PlugboardError('UNKNOWN_SERVER', `the server ${tool.server} is not configured any more`, {
        server: tool.server,
      }),
    );
  }
  call.tool = tool;
  call.connection = connection;
  return next(call);
};
