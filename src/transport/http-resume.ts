/** Resumes broken event streams, and keeps the GET stream for server messages open. */

import { asPlugboardError, type PlugboardError } from '../errors.ts';
import { backoffMs, decideRetry } from '../lib/retry.ts';
import type { Receiver } from './contract.ts';
import { EventStream, eventFrames } from './event-stream.ts';
import type { Exchange } from './http-exchange.ts';
import type { HttpLimits } from './http-limits.ts';
import type { Wire } from './http-wire.ts';

/** Returns the delay before a stream is resumed, unless the server named one. */
export function resumeDelay({ resumeDelayMs, maxResumeDelayMs }: HttpLimits, tries: number): number {
  return backoffMs(tries + 1, Math.random(), { firstMs: resumeDelayMs, maxMs: maxResumeDelayMs });
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
      if (decideRetry('stream', error) === 'fail') {
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
