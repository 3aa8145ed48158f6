/**
 * Ids for the events on the stream of one request, so that a client whose connection broke can resume with the last.
 *
 * The request ended with its connection or with its process. The id identifies it, and it is answered with an error.
 */

import type { RequestId } from '../lib/json-rpc.ts';
import type { EventIds } from './response-stream.ts';

const PREFIX = 'call';
const EVENT_ID = /^call\.([\w-]{1,256})\.\d+$/;
/** Longer request ids are not included in events. */
const MAX_ID_BYTES = 128;

/** Returns undefined for a request whose id is too long. */
export function callEventIds(id: RequestId): EventIds | undefined {
  if (typeof id === 'string' && Buffer.byteLength(JSON.stringify(id)) > MAX_ID_BYTES) return undefined;
  // Created lazily: most requests are answered without an event.
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

/** Returns the request that an event belongs to; undefined if it does not belong to one. */
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
