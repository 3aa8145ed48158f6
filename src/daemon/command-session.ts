/** One command that runs here for somebody's shell: its words come in, what it prints and its status go out. */

import type { Socket } from 'node:net';
import { runElsewhere } from '../cli/elsewhere.ts';
import type { Home } from '../config/home.ts';
import type { CommandFrame, Hello, Screen } from '../remote/hello.ts';
import type { SharedHost } from './hosts.ts';

type CommandHello = Extract<Hello, { kind: 'command' }>;

export async function runCommandSession(
  socket: Socket,
  hello: CommandHello,
  { home, shared }: { readonly home: Home; readonly shared: SharedHost },
): Promise<void> {
  const gone = new AbortController();
  const left = (): void => gone.abort();
  socket.once('end', left);
  socket.once('close', left);
  socket.resume();
  /** Kept back while it may turn out that a person has to be asked, which can only be done at home. */
  let kept: CommandFrame[] | undefined = hello.screen.canAsk ? [] : undefined;
  const send = (frame: CommandFrame): void => {
    if (kept !== undefined) kept.push(frame);
    else if (!socket.destroyed) socket.write(`${JSON.stringify(frame)}\n`);
  };
  const release = (): void => {
    const frames = kept ?? [];
    kept = undefined;
    for (const frame of frames) send(frame);
  };
  const { screen, words, cwd, env } = hello;
  const outcome = await runElsewhere({
    argv: words,
    cwd,
    env,
    home,
    host: shared.host,
    signal: gone.signal,
    canAskAtHome: screen.canAsk,
    stdout: sink(screen.stdout, (out) => {
      release();
      send({ out });
    }),
    stderr: sink(screen.stderr, (err) => {
      send({ err });
      // Progress is only shown once a call has begun: from here on it is ours.
      if (!err.endsWith('\n')) release();
    }),
  });
  if (outcome === 'home') kept = undefined;
  else release();
  send(outcome === 'home' ? { home: true } : { exit: outcome });
  socket.end();
}

function sink(size: Screen['stdout'], write: (text: string) => void) {
  return {
    isTerminal: size.isTerminal,
    columns: size.columns,
    rows: size.rows,
    write,
    flushed: () => Promise.resolve(),
  };
}
