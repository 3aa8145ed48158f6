/**
 * Pipeline stage: limits the number of parallel calls to a server (CAL-7). Without a configured limit, read-only calls do
 * not wait.
 */

import { DEFAULT_LIMITS } from '../config/limits.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { whileOpen } from '../lib/cancellation.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { untilOf } from './become-task.ts';
import type { Call, Handler, Stage } from './call.ts';
import { resolvedCall } from './resolved-call.ts';

export const MAX_WAITING_PER_SERVER = 4_096;

interface Lane {
  running: number;
  readonly waiting: (() => void)[];
}

export const limit: Stage = (context, next) => {
  const lanes = new WeakMap<object, Lane>();
  return (call) => {
    const { tool, connection, entry } = resolvedCall(call);
    const configured = entry.maxConcurrentCalls ?? context.settings().defaults?.maxConcurrentCalls;
    // `readOnlyHint` is only believed from a server that the user trusts.
    if (configured === undefined && entry.trusted === true && tool.annotations?.readOnlyHint === true)
      return next(call);
    const lane = getOrMake(lanes, connection, () => ({ running: 0, waiting: [] }));
    if (lane.running >= (configured ?? DEFAULT_LIMITS.maxConcurrentCalls)) return wait(lane, call, next);
    lane.running += 1;
    return run(lane, call, next);
  };
};

/** Runs a call that has a slot. Without `async`, like every stage that each call passes. */
function run(lane: Lane, call: Call, next: Handler): ReturnType<Handler> {
  return next(call).then(
    (result) => {
      release(lane);
      return result;
    },
    (error: unknown) => {
      release(lane);
      throw error;
    },
  );
}

/** Passes the slot directly to the longest waiting call, so that a new call cannot take it. */
function release(lane: Lane): void {
  const turn = lane.waiting.shift();
  if (turn === undefined) lane.running -= 1;
  else turn();
}

async function wait(lane: Lane, call: Call, next: Handler): ReturnType<Handler> {
  const { tool } = resolvedCall(call);
  if (lane.waiting.length >= MAX_WAITING_PER_SERVER) {
    throw new PlugboardError(
      'LIMIT_EXCEEDED',
      `${MAX_WAITING_PER_SERVER} calls to ${tool.server} are waiting already`,
      {
        server: tool.server,
      },
    );
  }
  await whileOpen(call, untilOf(call), (signal) => turnIn(lane, signal));
  return run(lane, call, next);
}

function turnIn(lane: Lane, signal: AbortSignal | undefined): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const turn = (): void => {
      signal?.removeEventListener('abort', leave);
      resolve();
    };
    const leave = (): void => {
      lane.waiting.splice(lane.waiting.indexOf(turn), 1);
      reject(asPlugboardError(signal?.reason, 'CANCELLED'));
    };
    lane.waiting.push(turn);
    signal?.addEventListener('abort', leave, { once: true });
    if (signal?.aborted) leave();
  });
}
