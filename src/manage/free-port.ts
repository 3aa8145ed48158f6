/** Serves on a free port: the default one, or one of those after it. */

import { asPlugboardError, PlugboardError } from '../errors.ts';
import { DEFAULT_PORT } from '../serve/gateway-http.ts';

const MAX_PORTS_TRIED = 20;

/** Tries `first`, then the default port and those after it. Calls `taken` for each that was not free. */
export async function onFreePort<T>(
  serve: (port: number) => Promise<T>,
  { taken, first }: { readonly taken: (port: number) => void; readonly first?: number | undefined },
): Promise<T> {
  const usual = Array.from({ length: MAX_PORTS_TRIED }, (_, at) => DEFAULT_PORT + at);
  for (const port of new Set(first === undefined ? usual : [first, ...usual])) {
    try {
      return await serve(port);
    } catch (thrown) {
      if (asPlugboardError(thrown).code !== 'START_FAILED') throw thrown;
      taken(port);
    }
  }
  throw new PlugboardError('START_FAILED', `No free port from ${DEFAULT_PORT} on.`, {
    hint: 'End one of the programs that listen there.',
  });
}
