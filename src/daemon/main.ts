/** Where the daemon's process begins and ends; started by `remote/start.ts`, never by hand. */

import { findHome } from '../config/home.ts';
import { EXIT_STATUS } from '../errors.ts';
import { systemClock } from '../lib/clock.ts';
import { relieveOlder } from '../remote/control.ts';
import { READY } from '../remote/launch.ts';
import { placeOf } from '../remote/place.ts';

import { Daemon } from './daemon.ts';
import { openLogFile } from './log-file.ts';

async function main(): Promise<void> {
  const { env } = process;
  const home = findHome(env);
  const place = placeOf(home, env);
  if (place === undefined) throw new Error('the daemon was started without its build');
  process.title = 'plugboard daemon';
  const file = openLogFile(place.log, () => systemClock.now());
  const log = (message: string): void => file.write(message);
  process.on('uncaughtException', (error) => {
    log(`a fault of ours: ${error.stack ?? String(error)}`);
    process.exit(EXIT_STATUS.INTERNAL);
  });
  const daemon = await Daemon.start({ home, place, env, clock: systemClock, log });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void daemon.close());
  process.on('SIGHUP', () => void daemon.reload());
  // Whoever started us waits for this word and then closes its end.
  process.stdout.on('error', () => {});
  process.stdout.write(`${READY}\n`);
  // Nobody asks it for anything any more: whoever comes has our code.
  if (await relieveOlder(home, place).catch(() => false)) daemon.stay();
  await daemon.closed;
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(EXIT_STATUS.START_FAILED);
  },
);
