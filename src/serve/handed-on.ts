/** What a request of a client of the gateway hands on to the server that it goes to. */

import { type HandedOn, passedMeta, without } from '../connection/handed-on.ts';
import { type Asker, DEFAULT_LEVEL, type Params } from '../endpoint/eras.ts';

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

export function handedOnBy(params: Params, { logLevel }: Asker): HandedOn | undefined {
  const meta = passedMeta(params['_meta']);
  const more = without(params, isReadHere);
  // The level that no one has chosen is the host's too.
  const level = logLevel === DEFAULT_LEVEL ? undefined : logLevel;
  if (meta === undefined && more === undefined && level === undefined) return undefined;
  return { meta, params: more, logLevel: level };
}

function isReadHere(key: string): boolean {
  return READ_HERE.has(key);
}
