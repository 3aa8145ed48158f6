/** `serve --stdio` as a relay: a session of the daemon, without a host in this process. */

import type { Socket } from 'node:net';
import type { Home } from '../../config/home.ts';
import { asPlugboardError, PlugboardError } from '../../errors.ts';
import { placeOf } from '../protocol/daemon-place.ts';
import type { Hello } from '../protocol/hello.ts';
import { type Attached, attachOrStart } from './attach.ts';
import { relay } from './relay.ts';

export interface RelayServeOptions {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly hello: Hello;
  readonly signal: AbortSignal;
}

/** Returns false if the daemon cannot serve this session: then the caller serves it itself. */
export async function relayServe({ home, env, hello, signal }: RelayServeOptions): Promise<boolean> {
  const place = placeOf(home);
  if (place === undefined) return false;
  const open = (): Promise<Attached> => attachOrStart(home, place, env, hello);
  const first = await open().catch((error: unknown) => {
    const { message, hint = '' } = asPlugboardError(error);
    process.stderr.write(`plugboard: this agent does not share servers with others: ${message}. ${hint}\n`);
  });
  if (first === undefined) return false;
  if (!first.welcome.ok) {
    first.socket.destroy();
    return false;
  }
  const again = async (): Promise<Socket> => {
    const { socket, welcome } = await open();
    if (welcome.ok) return socket;
    socket.destroy();
    throw new PlugboardError('CONNECTION_LOST', 'The daemon no longer accepts this session', {
      hint: 'Connect this client again.',
    });
  };
  await relay({ input: process.stdin, output: process.stdout, first: first.socket, again, signal });
  return true;
}
