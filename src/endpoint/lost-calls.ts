/**
 * Ids for the events on the stream of one request, so that a client whose connection broke comes back with the last.
 *
 * The request ended with its connection or with its process. The id names it, and it is answered with an error.
 */

import type { RequestId } from '../lib/json-rpc.ts';
import type { EventIds } from './http-exchange.ts';

const PREFIX = 'call';
const EVENT_ID = /^call\.([\w-]{1,256})\.\d+$/;
/** Longer ids of requests are not repeated in events. */
const MAX_ID_BYTES = 128;

/** Undefined for a request whose id is too long. */
export function callEventIds(id: RequestId): EventIds | undefined {
  if (typeof id === 'string' && Buffer.byteLength(JSON.stringify(id)) > MAX_ID_BYTES) return undefined;
  // Most requests are answered without an event.
  let name: string | undefined;
  let last = 0;
  return {
    next: () => {
      name ??= Buffer.from(JSON.stringify(id)).toString('base64url');
      last += 1;
      return `${PREFIX}.${name}.${last}`;
    },
  };
}

/** The request that an event belongs to; undefined if the event does not belong to one. */
export function callOfEvent(lastEventId: string | undefined): RequestId | undefined {
  const name = EVENT_ID.exec(lastEventId ?? '')?.[1];
  if (name === undefined) return undefined;
  try {
    const id: unknown = JSON.parse(Buffer.from(name, 'base64url').toString('utf8'));
    return typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id)) ? id : undefined;
  } catch {
    return undefined;
  }
}
