/** Between Node's HTTP and the web's Request and Response, streams and disconnects included. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';

type FetchHandler = (request: Request) => Promise<Response>;

const WITHOUT_BODY: readonly string[] = ['GET', 'HEAD'];

/** Answers one request; when the client goes away first, the request's signal is aborted. */
export async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  handle: FetchHandler,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort();
  });
  const response = await handle(toRequest(incoming, gone.signal));
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (!response.body) {
    outgoing.end();
    return;
  }
  // Headers now: a stream may stay silent for long, and its client waits for them.
  outgoing.flushHeaders();
  const body = Readable.fromWeb(response.body as ReadableStream<Uint8Array>);
  // Rejects when the client leaves in the middle; that is its right.
  await pipeline(body, outgoing).catch(() => undefined);
}

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  const method = incoming.method ?? 'GET';
  const url = new URL(incoming.url ?? '/', `http://${incoming.headers.host}`);
  if (WITHOUT_BODY.includes(method)) return new Request(url, { method, headers, signal });
  return new Request(url, { method, headers, signal, body: Readable.toWeb(incoming), duplex: 'half' });
}
