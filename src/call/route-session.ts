/** Pipeline stage: finds the process for this call's session, and waits for its turn there. */

import type { Call, Handler, Stage } from './call.ts';
import type { Placement, SessionRouter } from './session-router.ts';
import { settingsOf } from './settings.ts';

export const routeSession: Stage = ({ work: { router } }, next) => {
  return (call) => {
    // If no session can be asked questions, no call waits for a turn.
    if (!router.takesTurns) return next(call);
    const at = router.tryEnter(settingsOf(call).connection, call.session);
    if (at === undefined) return waited(router, call, next);
    return at.hasTurn ? inTurn(router, at, call, next) : next(call);
  };
};

async function waited(router: SessionRouter, call: Call, next: Handler): ReturnType<Handler> {
  const at = await router.enter(settingsOf(call).connection, call.session, call);
  call.connection = at.connection;
  return inTurn(router, at, call, next);
}

async function inTurn(router: SessionRouter, at: Placement, call: Call, next: Handler): ReturnType<Handler> {
  try {
    return await next(call);
  } finally {
    router.leave(at, call.session);
  }
}
