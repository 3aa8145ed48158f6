/** Starts the daemon, once however many clients want it at the same moment. */

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import type { Home } from '../config/home.ts';
import { PlugboardError } from '../errors.ts';
import { withFileLock } from '../lib/locked-file.ts';
import { makeFolderSync } from '../lib/make-folder.ts';
import { type Attached, attach } from './attach.ts';
import type { Hello } from './hello.ts';
import type { Place } from './place.ts';

/** What the daemon prints when it listens. */
export const READY = 'ready';
const START_MS = 20_000;
/** A daemon that ends between our look at it and our greeting is started anew so often. */
const MAX_TRIES = 3;
/** The mark of a host around us: its helper would end the daemon with that host. */
const MARK = 'PLUGBOARD_OWNER';

export async function startAndAttach(
  home: Home,
  place: Place,
  env: NodeJS.ProcessEnv,
  hello: Hello,
): Promise<Attached> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const early = await withFileLock(place.lock, async () => {
      // Whoever held the lock before us has probably started it.
      const meanwhile = await attach(place.record, hello);
      if (meanwhile === undefined) await start(home, place, env);
      return meanwhile;
    });
    const attached = early ?? (await attach(place.record, hello));
    if (attached !== undefined) return attached;
  }
  throw failed('The daemon ends as soon as it is started', place);
}

async function start(home: Home, place: Place, env: NodeJS.ProcessEnv): Promise<void> {
  makeFolderSync(dirname(place.log), 0o700);
  const log = openSync(place.log, 'a', 0o600);
  const { [MARK]: _mark, ...rest } = env;
  const options = {
    // A folder of the caller's would be kept busy for as long as the daemon lives.
    cwd: process.platform === 'win32' ? dirname(place.log) : '/',
    env: { ...rest, PLUGBOARD_HOME: home.dir },
    stdio: ['ignore', 'pipe', log] satisfies ['ignore', 'pipe', number],
    detached: true,
    windowsHide: true,
  };
  // Through a shell that ends at once: the daemon is then nobody's child, and no client's end takes it along.
  const child =
    process.platform === 'win32'
      ? spawn(process.execPath, [place.entry], options)
      : spawn('/bin/sh', ['-c', '"$0" "$@" &', process.execPath, place.entry], options);
  closeSync(log);
  try {
    if (!(await saysReady(child))) throw failed('The daemon did not start', place);
  } finally {
    child.stdout?.destroy();
    child.unref();
  }
}

/** False when it ended, or said nothing in time. */
function saysReady(child: ChildProcess & { readonly stdout: Readable | null }): Promise<boolean> {
  return new Promise((resolve) => {
    let said = '';
    const timer = setTimeout(() => resolve(false), START_MS);
    const done = (ready: boolean): void => {
      clearTimeout(timer);
      resolve(ready);
    };
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes(READY)) done(true);
    });
    child.stdout?.once('end', () => done(false));
    child.once('error', () => done(false));
  });
}

function failed(what: string, { log }: Place): PlugboardError {
  return new PlugboardError('START_FAILED', `${what}.`, { hint: `${log} says why.` });
}
