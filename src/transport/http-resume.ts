/** Resumes broken event streams, and keeps the GET stream for server messages open. */

import { asPlugboardError, type PlugboardError } from '../errors.ts';
import type { Receiver } from './contract.ts';
import { EventStream, eventFrames } from './event-stream.ts';
import type { Exchange } from './http-exchange.ts';
import type { HttpLimits } from './http-limits.ts';
import type { Wire } from './http-wire.ts';

/** Whether the same stream may be available on the next attempt. */
export function canRetry(error: PlugboardError): boolean {
  const { httpStatus, sessionExpired } = error.detail;
  if (sessionExpired) return false;
  if (error.code === 'CONNECTION_LOST' || error.code === 'TIMEOUT') return true;
  return (
    error.code === 'CONNECT_FAILED' && (httpStatus === undefined || httpStatus === 429 || httpStatus >= 500)
  );
}

/** Doubles with each attempt, with jitter, so that the clients of one server do not reconnect together. */
export function resumeDelay(limits: HttpLimits, tries: number): number {
  const full = Math.min(limits.resumeDelayMs * 2 ** tries, limits.maxResumeDelayMs);
  return full * (0.5 + Math.random() / 2);
}

/**
 * Keeps the stream for server messages open until `wanted` is false or the server refuses it. Never rejects: requests
 * work without this stream.
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
      // A stream that delivered events or stayed open is not a failure, however it ended.
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
