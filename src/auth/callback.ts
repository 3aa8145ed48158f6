/** Loopback HTTP listener for the OAuth redirect: serves one login, bound to its state, then closes. */

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PlugboardError } from '../errors.ts';
import { errorCode } from '../lib/error-code.ts';

export const CALLBACK_PATH = '/oauth/callback';
const MAX_CONNECTIONS = 16;
const REQUEST_TIMEOUT_MS = 10_000;

/** The parameters of the redirect, and a function that shows the result in the browser. */
export interface CallbackAnswer {
  readonly params: URLSearchParams;
  finish(succeeded: boolean): void;
}

export interface CallbackListener {
  readonly redirectUri: string;
  /** False if the requested port was in use and another one was chosen. */
  readonly onWantedPort: boolean;
  /** Waits for the redirect with this state; redirects with another state are rejected and change nothing. */
  answer(state: string): Promise<CallbackAnswer>;
  close(): void;
}

/** Listens on the requested port, or on a free port if none is requested or it is in use (F54). */
export async function listenForCallback(server: string, wantedPort = 0): Promise<CallbackListener> {
  const waiting = new Map<string, (answer: CallbackAnswer) => void>();
  const http = createServer({ requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS });
  http.maxConnections = MAX_CONNECTIONS;
  const onWantedPort = await listen(http, wantedPort);
  const { port } = http.address() as AddressInfo;
  const redirectUri = `http://127.0.0.1:${port}${CALLBACK_PATH}`;

  http.on('request', (request, response) => {
    const params = callbackParams(request, port);
    const state = params?.get('state');
    const resolve = typeof state === 'string' ? waiting.get(state) : undefined;
    if (params === undefined || typeof state !== 'string' || resolve === undefined) {
      show(
        response,
        400,
        'This is not the login that is waited for',
        'Close this window and start the login again.',
      );
      return;
    }
    waiting.delete(state);
    resolve({
      params,
      finish: (succeeded) => {
        if (succeeded) show(response, 200, `Logged in to ${server}`, 'You may close this window.');
        else
          show(
            response,
            400,
            `The login to ${server} failed`,
            'The program that started the login shows the reason. You can close this window.',
          );
      },
    });
  });

  return {
    redirectUri,
    onWantedPort,
    answer: (state) => new Promise((resolve) => waiting.set(state, resolve)),
    close: () => {
      waiting.clear();
      // Responses in progress finish; idle browser connections are closed at once.
      http.close();
      http.closeIdleConnections();
    },
  };
}

async function listen(http: Server, wantedPort: number): Promise<boolean> {
  const on = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      http.once('error', reject);
      http.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
        http.off('error', reject);
        resolve();
      });
    });
  try {
    await on(wantedPort);
    return true;
  } catch (error) {
    if (wantedPort === 0 || !['EADDRINUSE', 'EACCES'].includes(errorCode(error) ?? '')) {
      throw new PlugboardError('AUTH_FAILED', 'No port of this machine could be opened for the login', {
        hint: 'Use --no-browser and paste the address that the browser ends on.',
        cause: error,
      });
    }
  }
  await on(0);
  return false;
}

/** Returns the query parameters of a valid redirect (path, host and method match, each parameter at most once). */
function callbackParams(request: IncomingMessage, port: number): URLSearchParams | undefined {
  const host = request.headers.host;
  // Protects against DNS rebinding: a remote page whose name resolves to loopback is rejected.
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`) return undefined;
  if (request.method !== 'GET') return undefined;
  const url = new URL(request.url ?? '/', 'http://127.0.0.1');
  if (url.pathname !== CALLBACK_PATH) return undefined;
  const twice = ['code', 'state', 'iss', 'error'].some((name) => url.searchParams.getAll(name).length > 1);
  return twice ? undefined : url.searchParams;
}

/** Minimal copy of the style of the page at `/`. */
const STYLE: string = [
  ':root{color-scheme:light dark}',
  'body{margin:0;min-height:100vh;display:grid;place-items:center;font:14px/1.5 ui-sans-serif,system-ui,sans-serif;',
  'background:light-dark(#fbfbfa,#111214);color:light-dark(#1b1b1a,#ececed)}',
  'main{box-sizing:border-box;width:min(420px,calc(100vw - 32px));padding:24px 28px;border-radius:10px;',
  'border:1px solid light-dark(#d3d1cb,#383b42);background:light-dark(#fff,#1d1f23)}',
  'small{font-weight:600;color:light-dark(#5d5c58,#a2a4aa)}',
  'h1{margin:6px 0;font-size:19px;line-height:1.3;overflow-wrap:anywhere}',
  'p{margin:0;color:light-dark(#5d5c58,#a2a4aa)}',
].join('');
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  connection: 'close',
};

function show(response: ServerResponse, status: number, title: string, text: string): void {
  if (response.writableEnded) return;
  response.writeHead(status, PAGE_HEADERS);
  response.end(
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>${STYLE}</style><main><small>Plugboard</small><h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p></main></html>\n`,
  );
}

/** Escapes the server's name, which may contain any printable character (A2). Data from the browser is never shown. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
