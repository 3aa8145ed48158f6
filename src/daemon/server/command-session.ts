/** Runs one command for a shell: receives argv, sends its output and exit status. */

import type { Socket } from 'node:net';
import { runForClient } from '../../cli/run-for-client.ts';
import type { Home } from '../../config/home.ts';
import type { ElicitAnswer, Questioned } from '../../connection/questions.ts';
import { LineCutter } from '../../lib/lines.ts';
import type { CommandAnswer, CommandFrame, Screen, SessionRequest } from '../protocol/daemon-messages.ts';
import type { Acquired } from './hosts.ts';

type Elicit = NonNullable<Questioned['elicit']>;
type CommandRequest = Extract<SessionRequest, { kind: 'command' }>;

export async function runCommandSession(
  socket: Socket,
  request: CommandRequest,
  { home, host, config }: Pick<Acquired, 'host' | 'config'> & { readonly home: Home },
): Promise<void> {
  const gone = new AbortController();
  const left = (): void => gone.abort();
  socket.once('end', left);
  socket.once('close', left);
  let answered: (answer: unknown) => void = () => {};
  const lines = new LineCutter((line) => {
    // Written by our own client, on a socket of this user.
    answered((JSON.parse(line.toString('utf8')) as CommandAnswer).answer);
  });
  socket.on('data', (chunk: Buffer) => lines.push(chunk));
  socket.resume();
  /** Buffered while the command may still have to ask a person, which it can only do locally. */
  let kept: CommandFrame[] | undefined = request.screen.canAsk ? [] : undefined;
  const send = (frame: CommandFrame): void => {
    if (kept !== undefined) kept.push(frame);
    else if (!socket.destroyed) socket.write(`${JSON.stringify(frame)}\n`);
  };
  const release = (): void => {
    const frames = kept ?? [];
    kept = undefined;
    for (const frame of frames) send(frame);
  };
  const { screen, words, cwd, env } = request;
  /** Commands ask one question at a time. A client that disconnects cancels it. */
  const elicit: Elicit = ({ signal, ...question }) =>
    new Promise((resolve) => {
      const cancel = (): void => resolve({ action: 'cancel' });
      answered = (answer) => resolve(answer as ElicitAnswer);
      for (const end of [signal, gone.signal]) end?.addEventListener('abort', cancel, { once: true });
      release();
      send({ ask: question });
    });
  const outcome = await runForClient({
    argv: words,
    cwd,
    env,
    home,
    host,
    config,
    signal: gone.signal,
    canAskLocally: screen.canAsk,
    notAsked: screen.notAsked,
    elicit: screen.canAnswer === true ? elicit : undefined,
    stdout: sink(screen.stdout, (out) => {
      release();
      send({ out });
    }),
    stderr: sink(screen.stderr, (err) => {
      send({ err });
      // Progress is shown only after a call has started: from here on the command cannot move back to the client.
      if (!err.endsWith('\n')) release();
    }),
  });
  if (outcome === 'local') kept = undefined;
  else release();
  send(outcome === 'local' ? { local: true } : { exit: outcome });
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
