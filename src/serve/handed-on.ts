/** What a request of a client of the gateway hands on to the server that it goes to. */

import { type HandedOn, passedMeta, without } from '../connection/handed-on.ts';
import type { Params } from '../endpoint/eras.ts';

/** Members of the params that the gateway reads itself; all others are handed on. */
const READ_HERE: ReadonlySet<string> = new Set([
  '_meta',
  'name',
  'arguments',
  'uri',
  'ref',
  'argument',
  'context',
  'task',
  'inputResponses',
  'requestState',
]);

export function handedOnBy(params: Params): HandedOn | undefined {
  const meta = passedMeta(params['_meta']);
  const more = without(params, isReadHere);
  return meta === undefined && more === undefined ? undefined : { meta, params: more };
}

function isReadHere(key: string): boolean {
  return READ_HERE.has(key);
}
