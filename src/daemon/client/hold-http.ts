/** Keeps the daemon serving over HTTP while this process runs; if the daemon is replaced, at the same address. */

import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Home } from '../../config/home.ts';
import { PlugboardError } from '../../errors.ts';
import { attempt } from '../../lib/attempt.ts';
import { isRecord } from '../../lib/json.ts';
import {
  type HttpListening,
  type HttpWarning,
  type SessionRequest,
  STOPPED,
} from '../protocol/daemon-messages.ts';
import { placeOf } from '../protocol/daemon-place.ts';
import { attachOrStart } from './attach.ts';

const MAX_TRIES = 8;
const FIRST_PAUSE_MS = 50;
/** Time limit for the daemon to let running calls finish. */
const CLOSE_MS = 15_000;

type HttpSessionRequest = Extract<SessionRequest, { kind: 'http' }>;

export interface HoldHttpOptions {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly request: HttpSessionRequest;
  readonly signal: AbortSignal;
  /** Called with each warning of the daemon for the person. */
  readonly onWarning: (message: string) => void;
}

export interface HeldHttp extends HttpListening {
  /** Resolves when it was asked to end or a person stopped the daemon; rejects if the daemon cannot be restored. */
  readonly closed: Promise<'ended' | 'stopped'>;
}

/** Returns undefined if the configuration disables the daemon; rejects if the daemon cannot listen there. */
export async function holdHttp({
  home,
  env,
  request,
  signal,
  onWarning,
}: HoldHttpOptions): Promise<HeldHttp | undefined> {
  const place = placeOf(home);
  if (place === undefined) return undefined;
  const open = async (wanted: HttpSessionRequest): Promise<HeldAddress | undefined> => {
    const { socket, response, error } = await attachOrStart(home, place, env, wanted);
    if (response.ok) return { socket, listening: asListening(response.result) };
    socket.destroy();
    if (error !== undefined) throw error;
    return undefined;
  };
  const first = await open(request);
  if (first === undefined) return undefined;
  const { url, page } = first.listening;
  // Clients and bookmarks use this address now.
  const again: HttpSessionRequest = {
    ...request,
    listen: { ...request.listen, port: Number(new URL(url).port) },
  };
  return { url, page, closed: hold(first, () => reopened(() => open(again)), signal, onWarning) };
}

export interface StartPageOptions extends Pick<HoldHttpOptions, 'home' | 'env'> {
  readonly cwd: string;
  readonly servers: HttpSessionRequest['servers'];
  /** Token of the page. */
  readonly manageToken: string;
}

/** Serves the page while the daemon runs; returns its address, or undefined if the daemon is disabled. */
export async function startPage({
  home,
  env,
  cwd,
  servers,
  manageToken,
}: StartPageOptions): Promise<string | undefined> {
  const place = placeOf(home);
  if (place === undefined) return undefined;
  const { socket, response, error } = await attachOrStart(home, place, env, {
    kind: 'http',
    cwd,
    env,
    servers,
    listen: { approvals: 'client', namedTokens: true, manageToken, stays: true },
  });
  socket.destroy();
  if (error !== undefined) throw error;
  return response.ok ? asListening(response.result).page : undefined;
}

interface HeldAddress {
  readonly socket: Socket;
  readonly listening: HttpListening;
}

async function hold(
  first: HeldAddress,
  reopen: () => Promise<HeldAddress>,
  signal: AbortSignal,
  onWarning: (message: string) => void,
): Promise<'ended' | 'stopped'> {
  for (let held = first; ; held = await reopen()) {
    const end = await ended(held.socket, signal, onWarning);
    if (signal.aborted) return 'ended';
    if (end === STOPPED) return 'stopped';
  }
}

/** Resolves with the last line that the daemon sent, except warnings. */
function ended(socket: Socket, signal: AbortSignal, onWarning: (message: string) => void): Promise<string> {
  return new Promise((resolve) => {
    let rest = '';
    let last = '';
    const leave = (): void => {
      socket.end();
      setTimeout(() => socket.destroy(), CLOSE_MS).unref();
    };
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const warning = warningOf(line);
        if (warning === undefined) last = line;
        else onWarning(warning);
      }
    });
    socket.once('end', () => socket.end());
    socket.once('close', () => {
      signal.removeEventListener('abort', leave);
      resolve(last.trim());
    });
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    socket.resume();
  });
}

function warningOf(line: string): HttpWarning['warning'] | undefined {
  const value = attempt((): unknown => JSON.parse(line), undefined);
  return isRecord(value) && typeof value['warning'] === 'string' ? value['warning'] : undefined;
}

/** Retries, because the old daemon may hold the port until its last call has ended. */
async function reopened(open: () => Promise<HeldAddress | undefined>): Promise<HeldAddress> {
  for (let tries = 1; ; tries++) {
    try {
      const held = await open();
      if (held !== undefined) return held;
      throw new PlugboardError('CONNECTION_LOST', 'The daemon no longer accepts this session', {
        hint: 'Run the command again.',
      });
    } catch (error) {
      if (tries === MAX_TRIES) throw error;
    }
    await delay(FIRST_PAUSE_MS * 2 ** tries);
  }
}

function asListening(value: unknown): HttpListening {
  if (!isRecord(value) || typeof value['url'] !== 'string')
    throw new PlugboardError('PROTOCOL_ERROR', 'The daemon did not send its address');
  const { url, page } = value;
  return { url, page: typeof page === 'string' ? page : undefined };
}
