/** A connection to the daemon that runs: found, greeted, and handed over once it has said yes. */

import { connect, type Socket } from 'node:net';
import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { type Greeting, type Hello, PROTOCOL, type Welcome } from './hello.ts';
import { type DaemonRecord, readRecord } from './record.ts';

/** How long the daemon may take for its first line: it reads the configuration meanwhile. */
const WELCOME_MS = 30_000;
/** An environment, a few words: nothing honest is longer. */
const MAX_FIRST_BYTES: number = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

export interface Attached {
  readonly socket: Socket;
  readonly welcome: Welcome;
}

/** Undefined when no daemon is there. Rejects when one is there and does not behave. */
export async function attach(record: string, hello: Hello): Promise<Attached | undefined> {
  const known = readRecord(record);
  return known === undefined ? undefined : greet(known, hello);
}

export async function greet(daemon: DaemonRecord, hello: Hello): Promise<Attached | undefined> {
  const socket = await reach(daemon.socket);
  if (socket === undefined) return undefined;
  const greeting: Greeting = { plugboard: PROTOCOL, token: daemon.token, hello };
  socket.write(`${JSON.stringify(greeting)}\n`);
  const welcome = await firstLine(socket);
  // Ended before it said anything: it is on its way out.
  if (welcome === undefined) return undefined;
  const value = parsed(welcome);
  if (!isRecord(value) || typeof value['ok'] !== 'boolean') {
    socket.destroy();
    throw new PlugboardError('PROTOCOL_ERROR', 'The daemon did not answer as one.', {
      hint: 'plugboard daemon stop ends it.',
    });
  }
  return { socket, welcome: { ok: value['ok'], result: value['result'] } };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Undefined when nobody listens there any more. */
function reach(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ path, allowHalfOpen: true });
    const failed = (): void => {
      socket.destroy();
      resolve(undefined);
    };
    socket.once('error', failed);
    socket.once('connect', () => {
      socket.off('error', failed);
      // Its end is what counts, and that comes as `close`.
      socket.on('error', () => {});
      resolve(socket);
    });
  });
}

/** The first line that comes; what came behind it stays to be read. Undefined when the other side ended first. */
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
          reject(new PlugboardError('TIMEOUT', `The other side said nothing for ${WELCOME_MS / 1000} s.`));
        }),
      WELCOME_MS,
    );
    socket.on('data', onData);
    socket.once('end', onEnd);
    socket.once('close', onEnd);
  });
}
