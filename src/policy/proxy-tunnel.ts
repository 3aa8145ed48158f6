/**
 * Connects to a server through a proxy (`CONNECT`) and returns one socket for undici and `node:http`. Implemented on
 * `node:http`: the agents of undici and npm expose neither the proxy's status nor a deadline for its answer.
 */

import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { type SecureContext, connect as tlsConnect } from 'node:tls';
import { PlugboardError } from '../errors.ts';
import { defined } from '../lib/defined.ts';
import { errorCode } from '../lib/error-code.ts';
import type { ProxyServer } from './proxy.ts';

/** For the proxy's answer, including the connection to it, and again for TLS with the server. */
const TUNNEL_MS = 15_000;
const KEEP_ALIVE_MS = 15_000;

/** Statuses with which a proxy refuses a tunnel by its own rules, as Squid does for ports other than 443. */
const NO_TUNNEL: ReadonlySet<number> = new Set([400, 403, 404, 405, 501]);

export interface TunnelOptions {
  readonly secureContext?: SecureContext | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** `forward`: the proxy does not open tunnels, but may forward single requests, which plain http allows. */
export type Route =
  | { readonly kind: 'tunnel'; readonly socket: Socket }
  | { readonly kind: 'forward'; readonly refusal: PlugboardError };

/** Opens a tunnel to the origin of `target`, with TLS for https. */
export async function openTunnel(
  proxy: ProxyServer,
  target: URL,
  options: TunnelOptions = {},
): Promise<Socket> {
  const route = await openRoute(proxy, target, options);
  if (route.kind === 'forward') throw route.refusal;
  return route.socket;
}

export async function openRoute(
  proxy: ProxyServer,
  target: URL,
  options: TunnelOptions = {},
): Promise<Route> {
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  const authority = `${target.hostname}:${port}`;
  const answer = await askForTunnel(proxy, authority, options);
  if (answer instanceof PlugboardError) {
    if (target.protocol === 'http:') return { kind: 'forward', refusal: answer };
    throw answer;
  }
  answer.setKeepAlive(true, KEEP_ALIVE_MS);
  answer.setNoDelay(true);
  if (target.protocol !== 'https:') return { kind: 'tunnel', socket: answer };
  return { kind: 'tunnel', socket: await secured(answer, proxy, target, options) };
}

/** Returns the socket of the tunnel, or an error if the proxy refuses tunnels to this address; throws other errors. */
function askForTunnel(
  proxy: ProxyServer,
  authority: string,
  { secureContext, signal, timeoutMs = TUNNEL_MS }: TunnelOptions,
): Promise<Socket | PlugboardError> {
  return new Promise((resolve, reject) => {
    const { url, authorization } = proxy;
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const request = send({
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port || (url.protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: authority,
      headers: {
        host: authority,
        ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }),
      },
      agent: false,
      ...defined({ secureContext, signal }),
    });
    const timer = setTimeout(() => request.destroy(timedOut(proxy, authority)), timeoutMs);
    let isConnected = false;
    request.once('socket', (socket) => {
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        isConnected = true;
      });
    });
    request.once('connect', (response: IncomingMessage, socket: Socket) => {
      clearTimeout(timer);
      const status = response.statusCode ?? 0;
      if (status >= 200 && status < 300) {
        resolve(socket);
        return;
      }
      socket.on('error', () => {}).destroy();
      const refusal = refusedTunnel(proxy, authority, status);
      if (NO_TUNNEL.has(status)) resolve(refusal);
      else reject(refusal);
    });
    request.once('error', (error) => {
      clearTimeout(timer);
      if (error instanceof PlugboardError) reject(error);
      // The proxy closed the connection: some do that instead of an answer.
      else if (isConnected && signal?.aborted !== true) resolve(cut(proxy, authority, error));
      else reject(unreachable(proxy, authority, error));
    });
    request.end();
  });
}

function secured(
  socket: Socket,
  proxy: ProxyServer,
  target: URL,
  { secureContext, signal, timeoutMs = TUNNEL_MS }: TunnelOptions,
): Promise<Socket> {
  const host = target.hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const isName = /[a-z]/i.test(host) && !host.includes(':');
    const secure = tlsConnect({
      socket,
      host,
      ...(isName ? { servername: host } : {}),
      ALPNProtocols: ['http/1.1'],
      ...(secureContext === undefined ? {} : { secureContext }),
    });
    const end = (error: Error): void => {
      settle();
      secure.on('error', () => {}).destroy();
      reject(error);
    };
    const abort = (): void => end(new Error('aborted'));
    const timer = setTimeout(() => end(timedOut(proxy, target.host)), timeoutMs);
    const closed = (): void => end(cut(proxy, target.host));
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      secure.off('close', closed).off('error', failed);
    };
    const failed = (error: Error): void => {
      // A reset comes from the proxy; anything else concerns the certificate or TLS of the server.
      end(errorCode(error) === 'ECONNRESET' ? cut(proxy, target.host, error) : error);
    };
    signal?.addEventListener('abort', abort, { once: true });
    secure.once('error', failed).once('close', closed);
    secure.once('secureConnect', () => {
      settle();
      resolve(secure);
    });
    if (signal?.aborted === true) abort();
  });
}

/** The error for a proxy that requires a user name and password, or refuses those it got. */
export function proxyDenied({ shown, from, authorization }: ProxyServer): PlugboardError {
  const what = authorization === undefined ? 'requires' : 'did not accept';
  return new PlugboardError(
    'CONNECT_FAILED',
    `The proxy ${shown} ${what} ${authorization === undefined ? 'a user name and password' : 'the user name and password'} (HTTP 407)`,
    {
      hint: `Set ${from} to http://<user>:<password>@<host>:<port>, with special characters percent-encoded.`,
      detail: { permanent: true, notSent: true },
    },
  );
}

function refusedTunnel(proxy: ProxyServer, authority: string, status: number): PlugboardError {
  if (status === 407) return proxyDenied(proxy);
  const what = status >= 500 && status !== 501 ? 'could not connect to' : 'refused a connection to';
  const message = `The proxy ${proxy.shown} ${what} ${authority} (HTTP ${status})`;
  return notConnected(message, authority, 'Check that the proxy may reach this address');
}

function unreachable({ shown, from }: ProxyServer, authority: string, error: Error): PlugboardError {
  const code = errorCode(error);
  const reason = code === undefined ? '' : ` (${code})`;
  const message = `Cannot reach the proxy ${shown} (from ${from}) for ${authority}${reason}`;
  return notConnected(message, authority, `Check ${from}`, error);
}

function timedOut({ shown, from }: ProxyServer, authority: string): PlugboardError {
  const message = `The proxy ${shown} (from ${from}) did not connect to ${authority} in time`;
  return notConnected(message, authority, `Check ${from} and your network`);
}

function cut({ shown, from }: ProxyServer, authority: string, cause?: Error): PlugboardError {
  const message = `The proxy ${shown} (from ${from}) closed the connection to ${authority}`;
  const first = `Check that ${from} is the address of an HTTP proxy that can reach ${authority}`;
  return notConnected(message, authority, first, cause);
}

function notConnected(message: string, authority: string, first: string, cause?: Error): PlugboardError {
  const host = authority.replace(/:\d+$/, '');
  const hint = `${first}, or add ${host} to NO_PROXY if it can be reached directly.`;
  return new PlugboardError('CONNECT_FAILED', message, { hint, cause, detail: { notSent: true } });
}
