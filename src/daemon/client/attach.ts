/** Connects to the daemon of a home: finds it, sends the greeting, and starts or replaces it if necessary. */

import type { Socket } from 'node:net';
import type { Home } from '../../config/home.ts';
import { PlugboardError } from '../../errors.ts';
import { isRecord, parseJson } from '../../lib/json.ts';
import {
  type AttachMessage,
  type AttachRequest,
  type AttachResponse,
  type ControlRequest,
  FIRST_PROTOCOL,
  PROTOCOL,
} from '../protocol/daemon-messages.ts';
import { type DaemonRecord, isNewer, type Place, readRecord } from '../protocol/daemon-place.ts';
import { decodeError } from '../protocol/error-codec.ts';

/** Time for the daemon's first line; it loads the configuration before it answers. */
const FIRST_LINE_MS = 30_000;
/** Limit on a first line, which contains an environment and an argv. */
const MAX_FIRST_BYTES: number = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

export interface Attached {
  readonly socket: Socket;
  readonly response: Omit<AttachResponse, 'error'>;
  /** The reason for the refusal, if the daemon gave one. */
  readonly error: PlugboardError | undefined;
}

/** Connects to the daemon of this home, which is started, or replaced if it runs an older build than ours. */
export async function attachOrStart(
  home: Home,
  place: Place,
  env: NodeJS.ProcessEnv,
  request: AttachRequest,
): Promise<Attached> {
  const attached = await attach(place, request);
  if (attached !== undefined) return attached;
  // Imported lazily: a relay keeps loaded code in memory, and only the first one has to start a process.
  const { startAndAttach } = await import('./launch-daemon.ts');
  return startAndAttach(home, place, env, request);
}

/**
 * Returns undefined if no daemon runs, or if it must be replaced by our build. Rejects if the running daemon has a
 * newer protocol than ours, or responds with an invalid line.
 */
export async function attach(place: Place, request: AttachRequest): Promise<Attached | undefined> {
  const known = readRecord(place.record);
  if (known === undefined || isOutdated(known, place)) return undefined;
  if (known.protocol !== PROTOCOL) throw tooNew(known);
  return sendRequest(known, request);
}

/** True if the running daemon must be replaced by our build. */
export function isOutdated({ protocol = FIRST_PROTOCOL, build }: DaemonRecord, place: Place): boolean {
  return protocol < PROTOCOL || build === undefined || isNewer(place.build, build);
}

/** Sends a control message, to a daemon of any version. */
export async function control(daemon: DaemonRecord, request: ControlRequest): Promise<Attached | undefined> {
  return sendRequest(daemon, request, daemon.protocol ?? FIRST_PROTOCOL);
}

/** Returns undefined if nothing listens there, or the daemon is shutting down. */
export async function sendRequest(
  daemon: DaemonRecord,
  request: AttachRequest,
  protocol: number = PROTOCOL,
): Promise<Attached | undefined> {
  const socket = await reach(daemon.socket);
  if (socket === undefined) return undefined;
  const message: AttachMessage = { plugboard: protocol, token: daemon.token, hello: request };
  socket.write(`${JSON.stringify(message)}\n`);
  const line = await firstLine(socket);
  // The daemon closed the connection before its response: it is shutting down.
  if (line === undefined) return undefined;
  const value = parseJson(line);
  if (!isRecord(value) || typeof value['ok'] !== 'boolean') {
    socket.destroy();
    throw new PlugboardError('PROTOCOL_ERROR', 'The daemon sent an invalid first line', {
      hint: 'Run `plugboard daemon stop`.',
    });
  }
  const response = { ok: value['ok'], result: value['result'] };
  return { socket, response, error: decodeError(value['error']) };
}

function tooNew({ build }: DaemonRecord): PlugboardError {
  const version = build?.version ?? 'of another version';
  return new PlugboardError('START_FAILED', `The running daemon is newer than this program (${version})`, {
    hint: 'Upgrade this installation of Plugboard, or run `plugboard daemon stop` with it.',
  });
}

/** Returns undefined if nothing listens there. */
async function reach(path: string): Promise<Socket | undefined> {
  // Loaded only if a daemon has left its record: most commands find none.
  const { connect } = await import('node:net');
  return new Promise((resolve) => {
    const socket = connect({ path, allowHalfOpen: true });
    const failed = (): void => {
      socket.destroy();
      resolve(undefined);
    };
    socket.once('error', failed);
    socket.once('connect', () => {
      socket.off('error', failed);
      // Every error is followed by `close`, which callers listen for.
      socket.on('error', () => {});
      resolve(socket);
    });
  });
}

/** Reads one line and leaves the rest in the socket. Undefined if the other side closed first. */
export function firstLine(socket: Socket): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let head = Buffer.alloc(0);
    const done = (finish: () => void): void => {
      clearTimeout(timer);
      socket.off('data', onData);
      socket.off('end', onEnd);
      socket.off('close', onEnd);
      finish();
    };
    const onEnd = (): void =>
      done(() => {
        socket.destroy();
        resolve(undefined);
      });
    const onData = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf(NEWLINE);
      if (end === -1 && head.length > MAX_FIRST_BYTES) onEnd();
      if (end === -1) return;
      done(() => {
        socket.pause();
        if (end + 1 < head.length) socket.unshift(head.subarray(end + 1));
        resolve(head.toString('utf8', 0, end));
      });
    };
    const timer = setTimeout(
      () =>
        done(() => {
          socket.destroy();
          reject(new PlugboardError('TIMEOUT', `No first line within ${FIRST_LINE_MS / 1000} s`));
        }),
      FIRST_LINE_MS,
    );
    socket.on('data', onData);
    socket.once('end', onEnd);
    socket.once('close', onEnd);
  });
}
