/**
 * Pipeline stages for programs (CAL-9): `runPrograms` answers the tool `run` for sessions with code mode, and
 * `beforeSend` notifies a program right before one of its calls leaves.
 */

import { RUN } from '../catalog/run-tool-definition.ts';
import type { Handler, Stage } from './call.ts';
import { snapshotFor } from './session-view.ts';

export const runPrograms: Stage = (context, next) => {
  let loading: Promise<Handler> | undefined;
  return (call) => {
    if (call.name !== RUN || context.codeMode(call.session) === undefined) return next(call);
    // A server's tool may have this name without its server.
    if (call.ownProgram === undefined && snapshotFor(context, call.session).find(RUN) !== undefined)
      return next(call);
    loading ??= context.programs();
    return loading.then((handle) => handle(call));
  };
};

export const beforeSend: Stage = (_context, next) => (call) =>
  call.beforeSend === undefined ? next(call) : call.beforeSend().then(() => next(call));
