/** Sends requests through a custom `fetch`, behind the one method of undici's dispatchers that a wire uses. */

import type { Dispatcher } from 'undici';
import { PlugboardError } from '../errors.ts';
import { bytesOf, type FetchFunction, type FetchInit, type FetchResponse } from '../policy/network.ts';
import { socketCode } from './http-errors.ts';

/** The part of undici's dispatcher that a wire uses. */
export interface Sockets {
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean;
  destroy(): Promise<void>;
}

/** `fetch` has already decoded the body, so these headers no longer apply. */
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
    const request: FetchInit = {
      method,
      headers: record(headers as readonly string[]),
      ...(typeof body === 'string' ? { body } : {}),
      redirect: 'manual',
      signal: ended.signal,
    };
    const response = await respond(fetch, `${String(origin)}${path}`, request, ended.signal);
    handler.onResponseStart?.(controller, response.status, plain(response.headers));
    for await (const chunk of bytesOf(response)) handler.onResponseData?.(controller, Buffer.from(chunk));
    handler.onResponseEnd?.(controller, {});
  } catch (error) {
    handler.onResponseError?.(controller, error instanceof Error ? error : new Error(String(error)));
  }
}

/** Calls the custom `fetch`. Errors without a system code, for example of a filter, are reported with their message. */
async function respond(
  fetch: FetchFunction,
  url: string,
  request: FetchInit,
  signal: AbortSignal,
): Promise<FetchResponse> {
  const { host } = new URL(url);
  try {
    const response: FetchResponse | undefined = await fetch(url, request);
    if (typeof response?.status !== 'number' || typeof response.headers?.forEach !== 'function')
      throw new TypeError('it did not resolve to a Response');
    return response;
  } catch (error) {
    if (signal.aborted || socketCode(error) !== '') throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new PlugboardError('CONNECT_FAILED', `Cannot reach ${host}. The fetch in use failed: ${reason}`, {
      hint: 'Check the url, the network, the "fetch" option, and in a page the rules for other origins (CORS).',
      cause: error,
    });
  }
}

/** Converts alternating names and values. */
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
