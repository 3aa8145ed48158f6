/** `serve --stdio` without a host of its own: a session of the daemon, relayed. */

import type { Socket } from 'node:net';
import type { Home } from '../config/home.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Attached } from './attach.ts';
import type { Hello } from './hello.ts';
import { placeOf } from './place.ts';
import { relay } from './relay.ts';
import { attachOrStart } from './start.ts';

export interface RelayServeOptions {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly hello: Hello;
  readonly signal: AbortSignal;
}

/** False when no daemon can be had, or it would not do the same: then the caller serves by itself. */
export async function relayServe({ home, env, hello, signal }: RelayServeOptions): Promise<boolean> {
  const place = placeOf(home, env);
  if (place === undefined) return false;
  const open = (): Promise<Attached> => attachOrStart(home, place, env, hello);
  const first = await open().catch((error: unknown) => {
    const { message, hint = '' } = asPlugboardError(error);
    process.stderr.write(`plugboard: this agent has servers of its own. ${message} ${hint}\n`);
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
    throw new PlugboardError('CONNECTION_LOST', 'The daemon does not take this session any more.', {
      hint: 'Connect this client again.',
    });
  };
  await relay({ input: process.stdin, output: process.stdout, first: first.socket, again, signal });
  return true;
}
