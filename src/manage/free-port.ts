/** Serving where nothing else does: the usual port, or one of those after it. */

import { asPlugboardError, PlugboardError } from '../errors.ts';
import { DEFAULT_PORT } from '../serve/http.ts';

const MAX_PORTS_TRIED = 20;

/** Tries the usual port and those after it. `taken` is told each that was not free. */
export async function onFreePort<T>(
  serve: (port: number) => Promise<T>,
  { taken }: { readonly taken: (port: number) => void },
): Promise<T> {
  for (let port = DEFAULT_PORT; port < DEFAULT_PORT + MAX_PORTS_TRIED; port += 1) {
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
