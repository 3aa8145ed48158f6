/** A listener of its own needs Node; in a worker, a server is mounted with `server.handler()`. */

import { PlugboardError } from '../../errors.ts';

export function checkReach(): never {
  throw new PlugboardError('USAGE', 'http() cannot listen in this runtime', {
    hint: 'Use server.handler(), and export its fetch function.',
  });
}

/** Never reached: the check before it throws. */
export function listenHttp(): never {
  return checkReach();
}
