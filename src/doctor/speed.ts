/** Checks whether a server takes too long to connect. */

import { isRemote } from '../config/entry.ts';
import type { Check, CheckedServer } from './check.ts';

const SLOW_MS = 5000;

export function checkSpeed({ spec, report }: CheckedServer): Check | undefined {
  const { connectMs } = report;
  if (connectMs === undefined || connectMs < SLOW_MS) return undefined;
  return {
    id: 'speed',
    server: spec.name,
    ok: false,
    message: `It took ${(connectMs / 1000).toFixed(1)} s to come up`,
    hint: !isRemote(spec.entry)
      ? 'If it is downloaded at each start (npx, uvx), install it once and name its program as the command.'
      : 'Look at the network and the server; what is known from the cache is there at once all the same.',
  };
}
