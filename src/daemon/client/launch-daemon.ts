/** Starts the daemon once, however many clients request it at the same time, and replaces one of an older build. */

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Home } from '../../config/home.ts';
import { PlugboardError } from '../../errors.ts';
import { isRecord } from '../../lib/json.ts';
import { withFileLock } from '../../lib/locked-file.ts';
import { makeFolderSync } from '../../lib/make-folder.ts';
import { scriptRunner } from '../../lib/script-runner.ts';
import type { AttachRequest } from '../protocol/daemon-messages.ts';
import { type Place, readRecord } from '../protocol/daemon-place.ts';
import { type Attached, attach, control, isOutdated } from './attach.ts';

/** Printed by the daemon when it listens. */
export const READY = 'ready';
const START_MS = 20_000;
/** Attempts if a daemon exits between its start and our greeting. */
const MAX_TRIES = 3;

/**
 * The daemon's own environment: needed to find programs, the keyring, the browser and certificates, and our own
 * settings. Values for servers come from the session that attaches, never from here.
 */
const DAEMON_VARIABLES =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_.*|TZ|TMPDIR|TEMP|TMP|XDG_.*|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|BROWSER|DBUS_SESSION_BUS_ADDRESS|NODE_EXTRA_CA_CERTS|NODE_USE_SYSTEM_CA|SSL_CERT_FILE|SSL_CERT_DIR|(?:https?|all|no)_proxy|PLUGBOARD_.*|OTEL_.*|APPDATA|LOCALAPPDATA|PROGRAMDATA|USERPROFILE|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT)$/i;
/** Our own settings that belong to one process: the marker of a host's processes, and secrets. */
const OF_ONE_PROCESS: ReadonlySet<string> = new Set([
  'PLUGBOARD_OWNER',
  'PLUGBOARD_TOKEN',
  'PLUGBOARD_CLIENT_SECRET',
]);

export async function startAndAttach(
  home: Home,
  place: Place,
  env: NodeJS.ProcessEnv,
  request: AttachRequest,
): Promise<Attached> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const early = await withFileLock(place.lock, async () => {
      // Another client may have started it while we waited for the lock.
      const running = await attach(place, request);
      if (running === undefined) {
        const stays = await replaceOlder(place);
        await start(home, place, env, stays);
      }
      return running;
    });
    const attached = early ?? (await attach(place, request));
    if (attached !== undefined) return attached;
  }
  throw failed('The daemon exits as soon as it is started', place);
}

/** Asks a daemon of an older build to hand over; true if it was set to keep running without sessions. */
async function replaceOlder(place: Place): Promise<boolean> {
  const known = readRecord(place.record);
  if (known === undefined || !isOutdated(known, place)) return false;
  const asked = await control(known, { kind: 'handover' });
  const result = asked?.response.result;
  asked?.socket.destroy();
  return isRecord(result) && result['stays'] === true;
}

async function start(home: Home, place: Place, env: NodeJS.ProcessEnv, stays: boolean): Promise<void> {
  const runner = scriptRunner();
  if (runner === undefined) throw failed('A single executable cannot start the daemon', place);
  makeFolderSync(dirname(place.log), 0o700);
  const log = openSync(place.log, 'a', 0o600);
  const options = {
    // The caller's folder could not be removed or unmounted while the daemon runs.
    cwd: process.platform === 'win32' ? dirname(place.log) : '/',
    // Node reads certificates when it starts, and the client may be an agent that does not pass them on.
    env: {
      ...daemonEnvironment({ ...readAmbient(home), ...env }),
      ...runner.env,
      PLUGBOARD_HOME: home.dir,
    },
    stdio: ['ignore', 'pipe', log] satisfies ['ignore', 'pipe', number],
    detached: true,
    windowsHide: true,
  };
  const argv = [...runner.args, place.entry, ...(stays ? ['--stay'] : [])];
  // Through a shell that exits at once: the daemon becomes a child of init, so the end of a client does not end it.
  const child =
    process.platform === 'win32'
      ? spawn(runner.command, argv, options)
      : spawn('/bin/sh', ['-c', '"$0" "$@" &', runner.command, ...argv], options);
  closeSync(log);
  try {
    if (!(await isReady(child))) throw failed('The daemon did not start', place);
  } finally {
    child.stdout?.destroy();
    child.unref();
  }
}

function daemonEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => DAEMON_VARIABLES.test(name) && !OF_ONE_PROCESS.has(name)),
  );
}

/** Resolves with false if it exited, or was not ready in time. */
function isReady(child: ChildProcess & { readonly stdout: Readable | null }): Promise<boolean> {
  return new Promise((resolve) => {
    let printed = '';
    const timer = setTimeout(() => resolve(false), START_MS);
    const done = (ready: boolean): void => {
      clearTimeout(timer);
      resolve(ready);
    };
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      if (printed.includes(READY)) done(true);
    });
    child.stdout?.once('end', () => done(false));
    child.once('error', () => done(false));
  });
}

function failed(what: string, { log }: Place): PlugboardError {
  return new PlugboardError('START_FAILED', what, { hint: `See ${log}.` });
}

/** Stores the variables of the person's shell that the daemon remembers: see `server/session-environment.ts`. */
export function ambientFile({ run }: Home): string {
  return join(run, 'environment.json');
}

/** Returns an empty object if there is no file, or it is invalid. */
export function readAmbient(home: Home): Readonly<Record<string, string>> {
  try {
    const value: unknown = JSON.parse(readFileSync(ambientFile(home), 'utf8'));
    const entries = isRecord(value) ? Object.entries(value) : [];
    return Object.fromEntries(
      entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
  } catch {
    return {};
  }
}
