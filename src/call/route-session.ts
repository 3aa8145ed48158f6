/** Pipeline stage: finds the process for this call's session, and waits for its turn there. */

import type { Call, Handler, Stage } from './call.ts';
import type { Berth, Berths } from './session-router.ts';
import { settingsOf } from './settings.ts';

export const berth: Stage = ({ berths }, next) => {
  return (call) => {
    // If no session can be asked questions, no call waits for a turn.
    if (!berths.takesTurns) return next(call);
    const at = berths.tryEnter(settingsOf(call).connection, call.session);
    if (at === undefined) return waited(berths, call, next);
    return at.hasTurn ? inTurn(berths, at, call, next) : next(call);
  };
};

async function waited(berths: Berths, call: Call, next: Handler): ReturnType<Handler> {
  const at = await berths.enter(settingsOf(call).connection, call.session, call);
  call.connection = at.connection;
  return inTurn(berths, at, call, next);
}

async function inTurn(berths: Berths, at: Berth, call: Call, next: Handler): ReturnType<Handler> {
  try {
    return await next(call);
  } finally {
    berths.leave(at, call.session);
  }
}
