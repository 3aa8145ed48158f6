/** Entry point of the daemon's process, started by `client/launch-daemon.ts` or by `plugboard daemon run`. */

import { findHome } from '../../config/home.ts';
import { EXIT_STATUS } from '../../errors.ts';
import { systemClock } from '../../lib/clock.ts';
import { appendRotating } from '../../lib/rotating-file.ts';
import { tuneForServing } from '../../lib/tune-for-serving.ts';
import { clean } from '../../policy/clean.ts';
import { startDaemon, stopIdleFirstDaemons } from '../client/control.ts';
import { READY } from '../client/launch-daemon.ts';
import { placeOf } from '../protocol/daemon-place.ts';
import { Daemon } from './daemon.ts';

const MAX_BYTES: number = 1024 * 1024;
const MAX_LINE_CHARS = 4_096;

interface LogFile {
  write(message: string): void;
}

/** The daemon's log: a file of bounded size without secrets. */
function openLogFile(file: string, now: () => number): LogFile {
  return {
    write(message) {
      const text = clean(message, { multiline: false, max: MAX_LINE_CHARS });
      try {
        appendRotating(file, `${new Date(now()).toISOString()} ${process.pid} ${text}\n`, MAX_BYTES);
      } catch {
        // The home is gone, or the disk is full: logging errors must not end sessions.
      }
    },
  };
}

async function main(): Promise<void> {
  const { env } = process;
  const home = findHome(env);
  const place = placeOf(home);
  if (place === undefined) throw new Error('The daemon was started without its build');
  process.title = 'plugboard daemon';
  tuneForServing();
  const file = openLogFile(place.log, () => systemClock.now());
  const log = (message: string): void => file.write(message);
  process.on('uncaughtException', (error) => {
    log(`internal error: ${error.stack ?? String(error)}`);
    process.exit(EXIT_STATUS.INTERNAL);
  });
  const startSuccessor = async (): Promise<void> => {
    await startDaemon(home, env);
  };
  const daemon = await Daemon.start({ home, place, env, clock: systemClock, log, startSuccessor });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void daemon.close());
  process.on('SIGHUP', () => void daemon.reload());
  if (process.argv.includes('--forever')) daemon.stay({ forever: true });
  else if (process.argv.includes('--stay')) daemon.stay();
  // The client that started us waits for this line and then closes its end.
  process.stdout.on('error', () => {});
  process.stdout.write(`${READY}\n`);
  await stopIdleFirstDaemons(home).catch((error: unknown) => log(String(error)));
  await daemon.closed;
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(EXIT_STATUS.START_FAILED);
  },
);
