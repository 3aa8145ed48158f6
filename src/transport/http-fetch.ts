/** Requests through the `fetch` that an author gave, behind the one method of undici's dispatchers that a wire uses. */

import type { Dispatcher } from 'undici';
import { bytesOf, type FetchFunction, type FetchResponse } from '../policy/network.ts';

/** As much of a dispatcher as a wire needs. */
export interface Sockets {
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean;
  destroy(): Promise<void>;
}

/** `fetch` has decoded the body already, so what these say about it is no longer true. */
const ABOUT_ENCODING: ReadonlySet<string> = new Set(['content-encoding', 'content-length']);

export function fetchSockets(fetch: FetchFunction): Sockets {
  return {
    dispatch(options, handler) {
      void exchange(fetch, options, handler);
      return true;
    },
    destroy: () => Promise.resolve(),
  };
}

async function exchange(
  fetch: FetchFunction,
  { origin, path, method, headers, body }: Dispatcher.DispatchOptions,
  handler: Dispatcher.DispatchHandler,
): Promise<void> {
  const ended = new AbortController();
  const controller = {
    abort: (reason: Error) => ended.abort(reason),
    pause: () => {},
    resume: () => {},
  } as unknown as Dispatcher.DispatchController; // Our handlers use only these three members.
  try {
    handler.onRequestStart?.(controller, {});
    const response = await fetch(`${String(origin)}${path}`, {
      method,
      headers: record(headers as readonly string[]),
      ...(typeof body === 'string' ? { body } : {}),
      redirect: 'manual',
      signal: ended.signal,
    });
    handler.onResponseStart?.(controller, response.status, plain(response.headers));
    for await (const chunk of bytesOf(response)) handler.onResponseData?.(controller, Buffer.from(chunk));
    handler.onResponseEnd?.(controller, {});
  } catch (error) {
    handler.onResponseError?.(controller, error instanceof Error ? error : new Error(String(error)));
  }
}

/** From names and values in turn. */
function record(flat: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let at = 0; at < flat.length; at += 2) headers[flat[at] ?? ''] = flat[at + 1] ?? '';
  return headers;
}

function plain(headers: FetchResponse['headers']): Record<string, string> {
  const named: Record<string, string> = {};
  headers.forEach((value, name) => {
    if (!ABOUT_ENCODING.has(name)) named[name] = value;
  });
  return named;
}
