/** Installs, removes and inspects the service through systemd of the user's session, or launchd. */

import { execFile } from 'node:child_process';
import { lstat, readFile, symlink, unlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { findHome } from '../../config/home.ts';
import { PlugboardError } from '../../errors.ts';
import { errorCode } from '../../lib/error-code.ts';
import { replaceFile } from '../../lib/locked-file.ts';
import { makeFolder } from '../../lib/make-folder.ts';
import { runningProgram } from '../../setup/own-program.ts';
import type { Context } from '../cli-command.ts';
import { programEnvironment } from '../lookup-places.ts';
import {
  launchdPlist,
  type ServiceFile,
  type ServiceOptions,
  startsTheSame,
  systemdUnit,
} from './service-file.ts';

/** Timeout for a service manager that does not respond. */
const MANAGER_TIMEOUT_MS = 20_000;
const FILE_MODE = 0o644;
const FOLDER_MODE = 0o755;

type Argv = readonly [string, ...string[]];

/** A service and its manager's commands. */
interface Service extends ServiceFile {
  readonly manager: 'systemd' | 'launchd';
  /** Run before `start`; failures are ignored. */
  readonly unload: readonly Argv[];
  readonly start: readonly Argv[];
  readonly stop: readonly Argv[];
  readonly afterRemoval: readonly Argv[];
  readonly isRunning: Argv;
  /** Link that starts it at the next login, if the file alone does not. */
  readonly loginLink?: string;
}

export interface ServiceInstalled {
  readonly manager: Service['manager'];
  readonly name: string;
  readonly file: string;
  readonly started: boolean;
  /** Why it was not started, and the command that starts it. */
  readonly reason?: string;
  readonly command?: string;
}

export interface ServiceStatus {
  readonly manager: Service['manager'];
  readonly name: string;
  readonly file: string;
  readonly installed: boolean;
  /** True if it starts the same program as `install` would now. */
  readonly current: boolean;
  /** Null if the manager cannot be reached. */
  readonly running: boolean | null;
}

/** Writes the file, enables it at login, and starts it if the manager can be reached. */
export async function installService(context: Context): Promise<ServiceInstalled> {
  const service = serviceOf(context);
  const { manager, name, file, text, loginLink } = service;
  await makeFolder(dirname(file), FOLDER_MODE);
  await replaceFile(file, text, { mode: FILE_MODE });
  if (loginLink !== undefined) {
    await makeFolder(dirname(loginLink), FOLDER_MODE);
    await symlink(file, loginLink).catch(ignoring('EEXIST'));
  }
  for (const argv of service.unload) await run(context, argv);
  for (const argv of service.start) {
    const problem = await run(context, argv);
    if (problem === undefined) continue;
    const command = service.start.at(-1)?.join(' ') ?? '';
    return { manager, name, file, started: false, reason: problem, command };
  }
  return { manager, name, file, started: true };
}

/** Stops the service and removes its file; false if it did not exist. */
export async function removeService(context: Context): Promise<{ file: string; removed: boolean }> {
  const service = serviceOf(context);
  const { file, loginLink } = service;
  if (!(await exists(file))) return { file, removed: false };
  // If the manager cannot be reached, the service is not running.
  for (const argv of service.stop) await run(context, argv);
  if (loginLink !== undefined) await unlink(loginLink).catch(ignoring('ENOENT'));
  await unlink(file);
  for (const argv of service.afterRemoval) await run(context, argv);
  return { file, removed: true };
}

export async function serviceStatus(context: Context): Promise<ServiceStatus> {
  const { manager, name, file, text, isRunning } = serviceOf(context);
  const written = await readFile(file, 'utf8').catch(() => undefined);
  const installed = written !== undefined;
  const running = installed ? await asked(context, isRunning) : false;
  return { manager, name, file, installed, current: installed && startsTheSame(written, text), running };
}

function serviceOf(context: Context, platform: NodeJS.Platform = process.platform): Service {
  const { env, home } = context;
  const place = { env, userHome: env['HOME'] || homedir() };
  const { PLUGBOARD_HOME: _, ...others } = env;
  const options: ServiceOptions = {
    program: runningProgram(),
    home: home.dir === findHome(others).dir ? undefined : home.dir,
    path: programEnvironment(context)['PATH'] ?? '',
  };
  if (platform === 'linux') return systemdService(systemdUnit(options, place));
  if (platform === 'darwin') return launchdService(launchdPlist(options, place));
  throw new PlugboardError('USAGE', `Services are not supported on this system (${platform})`, {
    hint: 'Use Linux (systemd) or macOS (launchd).',
  });
}

function systemdService(file: ServiceFile): Service {
  const systemctl = (...args: string[]): Argv => ['systemctl', '--user', ...args];
  return {
    ...file,
    manager: 'systemd',
    unload: [],
    start: [systemctl('daemon-reload'), systemctl('enable', '--now', file.name)],
    stop: [systemctl('disable', '--now', file.name)],
    afterRemoval: [systemctl('daemon-reload')],
    isRunning: systemctl('is-active', file.name),
    loginLink: join(dirname(file.file), 'default.target.wants', file.name),
  };
}

function launchdService(file: ServiceFile): Service {
  const domain = `gui/${process.getuid?.() ?? 0}`;
  return {
    ...file,
    manager: 'launchd',
    // A loaded service would keep its old file.
    unload: [['launchctl', 'bootout', `${domain}/${file.name}`]],
    start: [['launchctl', 'bootstrap', domain, file.file]],
    stop: [['launchctl', 'bootout', `${domain}/${file.name}`]],
    afterRemoval: [],
    isRunning: ['launchctl', 'print', `${domain}/${file.name}`],
  };
}

interface Ended {
  readonly error: Error | null;
  readonly stdout: string;
  readonly stderr: string;
}

function ended(context: Context, [command, ...args]: Argv): Promise<Ended> {
  const options = {
    env: programEnvironment(context),
    signal: context.signal,
    timeout: MANAGER_TIMEOUT_MS,
  };
  return new Promise((resolve) => {
    execFile(command, args, options, (error, stdout, stderr) => resolve({ error, stdout, stderr }));
  });
}

/** Runs a command of the manager; returns why it failed, or undefined on success. */
async function run(context: Context, argv: Argv): Promise<string | undefined> {
  const { error, stdout, stderr } = await ended(context, argv);
  if (error === null) return undefined;
  if (errorCode(error) === 'ENOENT') return `${argv[0]} is not installed`;
  return (stderr || stdout || error.message).trim().split('\n')[0] || error.message;
}

/** Null if the manager cannot be reached. For a stopped service `is-active` prints a state, and `print` an error. */
async function asked(context: Context, argv: Argv): Promise<boolean | null> {
  const { error, stdout } = await ended(context, argv);
  if (error === null) return true;
  const isSilent = argv[0] === 'systemctl' && stdout.trim() === '';
  return isSilent || errorCode(error) === 'ENOENT' ? null : false;
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function ignoring(code: string): (error: unknown) => void {
  return (error) => {
    if (errorCode(error) !== code) throw error;
  };
}
