/** Checks of this machine: Node, the configuration folder, the keyring, the network, the daemon, leftover processes. */

import { accessSync, constants, existsSync, readFileSync, type StatsFs, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Home } from '../config/home.ts';
import { reportDaemons } from '../daemon/client/control.ts';
import { asPlugboardError } from '../errors.ts';
import { attempt } from '../lib/attempt.ts';
import { counted } from '../lib/counted.ts';
import { hasProcessTable, processIds, processRow } from '../lib/process-table.ts';
import { readVersion } from '../lib/version.ts';
import { secureContextFor } from '../policy/certificates.ts';
import { parseProxy, proxyVariables } from '../policy/proxy.ts';
import { keyringSecrets } from '../secrets/keyring.ts';
import { STORE_VARIABLE } from '../secrets/store.ts';
import { OWNER_VARIABLE } from '../transport/reaper.ts';
import type { Check, DoctorContext } from './check.ts';

const MIN_NODE_MAJOR = 20;
const MIN_NODE_MINOR = 19;

/** Checks whether Plugboard supports this version of Node. */
export function checkNode(version: string = process.versions.node): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const ok = major > MIN_NODE_MAJOR || (major === MIN_NODE_MAJOR && minor >= MIN_NODE_MINOR);
  if (ok) return { id: 'node', ok, message: `Node ${version}` };
  return {
    id: 'node',
    ok,
    message: `Node ${version} is too old`,
    hint: `Install Node ${MIN_NODE_MAJOR}.${MIN_NODE_MINOR} or newer.`,
  };
}

/** Permission bits for group and others. */
const OTHERS = 0o077;
/** Minimum free space in bytes, enough for a configuration or a token file. */
const SMALL_FILE_BYTES = 16 * 1024;

/** Checks whether Plugboard's home is writable and its secrets are readable by the owner only. */
export function checkHome({ dir, credentials }: Home): Check {
  const bad = (message: string, hint: string): Check => ({ id: 'home', ok: false, message, hint });
  if (!mayWrite(dir)) {
    return bad(`${dir} cannot be written`, 'Make it yours (chown), or set PLUGBOARD_HOME to another folder.');
  }
  if (isFull(statfsSync(nearestOf(dir)))) {
    return bad(
      `No space is left on the disk of ${dir}`,
      'Free some space, or set PLUGBOARD_HOME to another folder.',
    );
  }
  const mode = statSync(credentials, { throwIfNoEntry: false })?.mode ?? 0;
  if (process.platform !== 'win32' && (mode & OTHERS) !== 0) {
    return bad(`${credentials} can be read by others`, `Restrict it: chmod 600 ${credentials}`);
  }
  return {
    id: 'home',
    ok: true,
    message: `${dir} ${existsSync(dir) ? 'is writable' : 'will be created when needed'}`,
  };
}

/** Returns the folder, or its nearest existing parent. */
function nearestOf(folder: string): string {
  let nearest = folder;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  return nearest;
}

/** True if not even a small file fits. File systems that report 0 blocks do not report their free space. */
export function isFull({ bavail, bsize, blocks }: Pick<StatsFs, 'bavail' | 'bsize' | 'blocks'>): boolean {
  return blocks > 0 && bavail * bsize < SMALL_FILE_BYTES;
}

function mayWrite(folder: string): boolean {
  const nearest = nearestOf(folder);
  return attempt(() => {
    accessSync(nearest, constants.W_OK);
    return statSync(nearest).isDirectory();
  }, false);
}

/** A key that is never set: the check only needs a response. */
const UNUSED_KEY = 'doctor';

/** Checks where logins are stored. */
export async function checkKeyring({ home, env }: Pick<DoctorContext, 'home' | 'env'>): Promise<Check> {
  const inFile = `logins are stored in ${home.credentials} (mode 0600)`;
  if (env[STORE_VARIABLE] === 'file') {
    return { id: 'keyring', ok: true, message: `${STORE_VARIABLE} is set: ${inFile}` };
  }
  const answers = await keyringSecrets(home.dir)
    .get(UNUSED_KEY)
    .then(
      () => true,
      () => false,
    );
  if (answers) return { id: 'keyring', ok: true, message: "Logins are stored in the system's keyring" };
  return {
    id: 'keyring',
    ok: true,
    message: `No system keyring; ${inFile}`,
    hint: 'On a desktop, unlock the keyring or start its service; on a headless machine this is normal.',
  };
}

/** Empty if the environment sets neither. */
export function checkNetwork({ env }: Pick<DoctorContext, 'env'>): Check[] {
  return [
    ...proxyVariables(env).map(({ name, value }) => checkProxy(name, value)),
    ...checkCertificates(env),
  ];
}

function checkProxy(name: string, value: string): Check {
  try {
    const { shown } = parseProxy(name, value);
    const message = `${name}: remote servers and logins go through ${shown}, except this machine and NO_PROXY`;
    return { id: 'network', ok: true, message };
  } catch (error) {
    const { message, hint = '' } = asPlugboardError(error);
    return { id: 'network', ok: false, message, hint };
  }
}

function checkCertificates(env: NodeJS.ProcessEnv): Check[] {
  const faults: string[] = [];
  secureContextFor(env, (message) => faults.push(message));
  return faults.map((message) => ({
    id: 'network',
    ok: false,
    level: 'advice',
    message,
    hint: 'Set the variable to a PEM file of certificates that you can read, or unset it.',
  }));
}

/** Checks whether the shared daemon, if it is running, responds and has this version. */
export async function checkDaemon({ home }: Pick<DoctorContext, 'home'>): Promise<Check[]> {
  try {
    const daemons = await reportDaemons(home);
    if (daemons.length === 0) {
      return [{ id: 'daemon', ok: true, message: 'The daemon is not running; it is started when needed' }];
    }
    const ours = readVersion();
    return daemons.map(({ pid, version, sessions }): Check => {
      const message = `The daemon is running (pid ${pid}, version ${version}) for ${counted(sessions.length, 'session')}`;
      if (version === ours) return { id: 'daemon', ok: true, message };
      return {
        id: 'daemon',
        ok: false,
        level: 'advice',
        message: `${message}; this is version ${ours}`,
        hint: 'Run plugboard daemon restart to use this version.',
      };
    });
  } catch (thrown) {
    const { message, hint = 'Run plugboard daemon stop to end it.' } = asPlugboardError(thrown);
    return [{ id: 'daemon', ok: false, message: `The daemon does not respond: ${message}`, hint }];
  }
}

/** Processes other than init that adopt orphaned children. */
const SUBREAPERS: ReadonlySet<string> = new Set(
  'systemd init tini docker-init dumb-init catatonit s6-svscan runit bwrap'.split(' '),
);
const INIT = 1;
const MAX_ORPHANS_SHOWN = 10;
/** How long to wait for the reaper of a killed host, which sends SIGTERM first and kills after two seconds. */
const REAPER_MS = 3_000;
const POLL_MS = 100;
const MARK = new RegExp(`(?:^|\\0)${OWNER_VARIABLE}=([0-9a-f-]+)\\.`);

/** Finds server processes whose host has exited; there should be none, even if the host was killed. */
export async function checkLeftovers(): Promise<Check> {
  if (!hasProcessTable)
    return { id: 'leftovers', ok: true, message: 'Orphaned server processes can be found on Linux only' };
  let orphans = orphanedProcesses();
  const until = Date.now() + REAPER_MS;
  while (orphans.length > 0 && Date.now() < until) {
    await delay(POLL_MS);
    orphans = orphanedProcesses();
  }
  if (orphans.length === 0) return { id: 'leftovers', ok: true, message: 'No orphaned server processes' };
  const shown = orphans.slice(0, MAX_ORPHANS_SHOWN).join(' ');
  return {
    id: 'leftovers',
    ok: false,
    message: `${counted(orphans.length, 'process')} of servers without a host: ${shown}`,
    hint: `Check them with ps, then end them: kill ${shown}`,
  };
}

/** Returns the marked processes of every host whose processes have all been adopted. */
function orphanedProcesses(): number[] {
  const marked = new Map<number, string>();
  for (const pid of processIds()) {
    const host = hostOf(pid);
    if (host !== undefined) marked.set(pid, host);
  }
  const alive = new Set<string>();
  for (const [pid, host] of marked) {
    const row = processRow(pid);
    if (row !== undefined && !marked.has(row.parent) && !isSubreaper(row.parent)) alive.add(host);
  }
  return [...marked].flatMap(([pid, host]) =>
    alive.has(host) || pid === process.pid || processRow(pid)?.zombie !== false ? [] : [pid],
  );
}

function isSubreaper(pid: number): boolean {
  if (pid <= INIT) return true;
  // If it exited, its children are being adopted.
  return attempt(() => SUBREAPERS.has(readFileSync(`/proc/${pid}/comm`, 'utf8').trim()), true);
}

function hostOf(pid: number): string | undefined {
  // It may have exited, or be another user's process.
  return attempt(() => MARK.exec(readFileSync(`/proc/${pid}/environ`, 'latin1'))?.[1], undefined);
}
