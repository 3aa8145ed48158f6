/** Streams that come back: when a broken one is worth another try, and the one on which a server speaks by itself. */

import { asPlugboardError, type PlugboardError } from '../errors.ts';
import type { Receiver } from './contract.ts';
import { EventStream, eventFrames } from './event-stream.ts';
import type { Exchange } from './http-exchange.ts';
import type { HttpLimits } from './http-limits.ts';
import type { Wire } from './http-wire.ts';

/** Whether the same stream may be there on the next attempt. */
export function canRetry(error: PlugboardError): boolean {
  const { httpStatus, sessionExpired } = error.detail;
  if (sessionExpired) return false;
  if (error.code === 'CONNECTION_LOST' || error.code === 'TIMEOUT') return true;
  return (
    error.code === 'CONNECT_FAILED' && (httpStatus === undefined || httpStatus === 429 || httpStatus >= 500)
  );
}

/** Doubled each time, and never the same for all clients of a server that went away. */
export function resumeDelay(limits: HttpLimits, tries: number): number {
  const full = Math.min(limits.resumeDelayMs * 2 ** tries, limits.maxResumeDelayMs);
  return full * (0.5 + Math.random() / 2);
}

/**
 * Holds the stream of a server's own messages open until it is no longer wanted or no longer given.
 * Never rejects: without this stream requests still work.
 */
export async function listen(
  wire: Wire,
  open: (lastEventId: string | undefined) => Promise<Exchange>,
  receiver: Receiver,
  wanted: () => boolean,
): Promise<void> {
  const { clock, limits } = wire;
  const stream = new EventStream(limits, (event) => {
    for (const frame of eventFrames(event, receiver)) receiver.message(frame);
  });
  for (let tries = 0; wanted() && tries < limits.maxResumes; tries++) {
    const since = clock.now();
    let error: PlugboardError | undefined;
    try {
      error = await stream.read(await open(stream.lastEventId));
      // A stream that lived was no failure, whatever ended it.
      if (stream.news || clock.now() - since >= limits.maxResumeDelayMs) tries = 0;
    } catch (thrown) {
      error = asPlugboardError(thrown);
      if (!canRetry(error)) {
        if (wanted())
          receiver.notice({ level: 'debug', message: `No stream of server messages: ${error.message}` });
        return;
      }
    }
    if (wanted())
      await wire.pause(stream.retryMs ?? error?.detail.retryAfterMs ?? resumeDelay(limits, tries));
  }
  if (wanted())
    receiver.notice({ level: 'info', message: 'The stream of server messages broke and did not come back.' });
}
