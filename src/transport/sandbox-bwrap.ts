/**
 * Confines a server's process on Linux with bubblewrap, whose helper needs no rights of its own.
 *
 * The process keeps its group and its marked environment, so whatever ends servers finds it as before; its own
 * process namespace ends with it, and `--die-with-parent` ends both with us.
 */

import { execFile } from 'node:child_process';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { findHome } from '../config/home.ts';
import { PlugboardError } from '../errors.ts';
import type { SandboxRules } from './sandbox.ts';

/** Trying it out takes milliseconds; a system that hangs there is not one to rely on. */
const PROBE_MS = 10_000;

/** Folders that are private to the process. */
const TEMPORARY = ['/tmp', '/var/tmp'];

/** Where people's keys are; no sandbox shows them, whatever else it allows. */
const SECRET_PLACES = [
  '.ssh',
  '.aws',
  '.azure',
  '.gnupg',
  '.kube',
  '.docker',
  '.config/gcloud',
  '.config/gh',
  '.local/share/keyrings',
  '.local/share/kwalletd',
  '.password-store',
  '.config/op',
  '.config/rclone',
  '.terraform.d',
  '.netrc',
  '.git-credentials',
  '.pgpass',
  '.pypirc',
  '.vault-token',
  '.cargo/credentials.toml',
  // What other agents keep: tokens of their own, and of the servers that they were given.
  '.claude.json',
  '.codex',
  '.cursor',
  // Cookies, and what was typed.
  '.mozilla',
  '.config/google-chrome',
  '.config/chromium',
  '.bash_history',
  '.zsh_history',
];

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

export interface Confinement {
  readonly rules: SandboxRules;
  /** Our environment: where the helper is looked for, and whose home is hidden. */
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly project: string;
}

/** The program that runs `program` inside its limits; rejects when that cannot be had: never runs without. */
export async function confine(program: Program, confinement: Confinement): Promise<Program> {
  const helper = await findHelper(confinement);
  return { command: helper, args: [...limits(program, confinement), '--', program.command, ...program.args] };
}

function limits(program: Program, { rules, env, cwd, project }: Confinement): string[] {
  const { filesystem, network } = rules;
  const root = filesystem === 'all' ? '--bind' : '--ro-bind';
  const args = [root, '/', '/', '--dev', '/dev', '--proc', '/proc'];
  args.push('--unshare-pid', '--unshare-ipc', '--unshare-uts', '--die-with-parent');
  // A socket in the file system is a way to the network too: of a container engine, of the desktop's bus.
  if (!network) args.push('--unshare-net', '--tmpfs', '/run');
  if (filesystem !== 'all') args.push(...TEMPORARY.flatMap((folder) => ['--tmpfs', folder]));
  // The entry names these, so a private /tmp must not hide them.
  for (const path of new Set([...namedInTemporary(program), project, cwd])) {
    const bind = filesystem === 'project' && path === project ? '--bind' : '--ro-bind';
    if (filesystem !== 'all' && existsSync(path)) args.push(bind, path, path);
  }
  for (const path of writable(rules, project)) args.push('--bind-try', path, path);
  for (const place of secretPlaces(env)) {
    // A folder that holds the project itself cannot be hidden from it.
    if (!isInside(project, place) && !isInside(cwd, place)) args.push(...hide(place));
  }
  return [...args, '--chdir', cwd];
}

function namedInTemporary({ command, args }: Program): string[] {
  return [command, ...args].filter(
    (word) => isAbsolute(word) && TEMPORARY.some((folder) => isInside(word, folder)),
  );
}

function writable({ filesystem }: SandboxRules, project: string): string[] {
  if (typeof filesystem === 'string') return [];
  return filesystem.write.map((path) => (isAbsolute(path) ? path : resolve(project, path)));
}

function secretPlaces(env: NodeJS.ProcessEnv): string[] {
  const home = env['HOME'] || homedir();
  const places = [...SECRET_PLACES.map((place) => join(home, place)), findHome(env).dir];
  // Links are followed: hiding the link would leave what it points to.
  return places.filter((place) => existsSync(place)).map((place) => realpathSync(place));
}

function hide(place: string): string[] {
  return statSync(place).isDirectory() ? ['--tmpfs', place] : ['--ro-bind', '/dev/null', place];
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

async function findHelper({ env, project }: Confinement): Promise<string> {
  if (process.platform !== 'linux') {
    throw unavailable(
      `there is none for ${process.platform} yet`,
      'Take "sandbox" out of the entry, or run it on Linux.',
    );
  }
  // In our own PATH, never in the project's folders: a project must not bring its own sandbox along.
  const folders = ['/usr/bin', '/bin', ...(env['PATH'] ?? '').split(delimiter)];
  const helper = folders
    .filter((folder) => isAbsolute(folder) && !isInside(folder, project))
    .map((folder) => join(folder, 'bwrap'))
    .find((file) => existsSync(file));
  if (helper === undefined) {
    throw unavailable(
      'bubblewrap is not installed',
      "Install it: apt-get install bubblewrap, or your system's package of that name.",
    );
  }
  const trial = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--unshare-pid', '--unshare-net'];
  try {
    await promisify(execFile)(helper, [...trial, '--', '/bin/true'], { timeout: PROBE_MS, env: {} });
  } catch (cause) {
    const said =
      cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim().split('\n')[0] : '';
    throw unavailable(
      `bubblewrap cannot make one here${said ? ` (${said})` : ''}`,
      'The system has to allow user namespaces; inside a container that is a setting of the container.',
    );
  }
  return helper;
}

function unavailable(why: string, hint: string): PlugboardError {
  return new PlugboardError('START_FAILED', `The sandbox that its entry asks for is not available: ${why}.`, {
    hint,
    detail: { permanent: true },
  });
}
