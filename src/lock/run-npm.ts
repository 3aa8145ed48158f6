/** Runs the user's npm, with settings that make its result depend on a lock alone, and converts its errors. */

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { PlugboardError } from '../errors.ts';
import { isRecord, parseRecord } from '../lib/json.ts';
import { killGroup } from '../lib/process-group.ts';

/** Longer than the download of a large tree takes. */
const MAX_RUN_MS = 600_000;
const MAX_OUTPUT_CHARS = 64 * 1024 * 1024;
const MAX_MESSAGE_CHARS = 600;

export interface NpmOptions {
  /** The environment of the server: its registry, proxy and certificates. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** The server, for errors. */
  readonly server: string;
  readonly signal?: AbortSignal | undefined;
  /** Called with the id of the process, which leads its own group; returns what to call when it has ended. */
  readonly onSpawn?: ((pid: number) => () => void) | undefined;
}

/** Settings of the user that would change a tree, and output that is not read. */
const SETTINGS = [
  '--json',
  '--loglevel=error',
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
  '--global=false',
  '--workspaces=false',
  '--install-strategy=hoisted',
  '--legacy-peer-deps=false',
  '--strict-peer-deps=false',
  '--include=optional',
  '--include=peer',
  '--omit=dev',
  '--package-lock=true',
  '--lockfile-version=3',
  '--bin-links=true',
  '--omit-lockfile-registry-resolved',
  // By default npm repeats a download with a wrong hash for minutes.
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=300',
  '--fetch-retry-maxtimeout=1000',
] as const;

/** Returns what npm prints. @throws PlugboardError LOCK_MISMATCH for another hash than expected, else LOCK_FAILED */
export async function runNpm(args: readonly string[], options: NpmOptions): Promise<string> {
  options.signal?.throwIfAborted();
  const child = await spawnNpm([...args, ...SETTINGS], options);
  const { pid } = child;
  const ended = pid === undefined ? undefined : options.onSpawn?.(pid);
  const stop = (): void => killGroup(pid);
  const timer = setTimeout(stop, MAX_RUN_MS);
  options.signal?.addEventListener('abort', stop, { once: true });
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    if (stdout.length < MAX_OUTPUT_CHARS) stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-MAX_MESSAGE_CHARS);
  });
  try {
    const status = await new Promise<number>((resolve, reject) => {
      child.once('error', (cause) => reject(notStarted(options, cause)));
      child.once('close', (code, signal) =>
        resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
      );
    });
    options.signal?.throwIfAborted();
    if (status !== 0) throw failure(stdout, stderr, options);
    return stdout;
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', stop);
    // A script of a package may have left a process.
    killGroup(pid);
    ended?.();
  }
}

async function spawnNpm(args: readonly string[], { cwd, env }: NpmOptions): Promise<ChildProcess> {
  const isWindows = process.platform === 'win32';
  const settings: SpawnOptions = { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: !isWindows };
  if (!isWindows) return spawn('npm', args, settings);
  // Only Windows needs its shims (.cmd) resolved.
  const crossSpawn = await import('cross-spawn');
  return crossSpawn.default.spawn('npm', [...args], settings);
}

function notStarted({ server }: NpmOptions, cause: unknown): PlugboardError {
  return new PlugboardError('LOCK_FAILED', 'npm was not found, which locks and installs packages', {
    server,
    cause,
    hint: 'Install Node with npm, or put it on the PATH.',
  });
}

/** Codes of npm for a registry that does not answer. */
const OFFLINE: ReadonlySet<string> = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'ETIMEDOUT',
  'ENOTCACHED',
  'ERR_SOCKET_TIMEOUT',
]);
/** Codes of npm for a package or version that the registry does not have. */
const MISSING: ReadonlySet<string> = new Set(['E404', 'ETARGET', 'ENOVERSIONS']);

function failure(stdout: string, stderr: string, { server }: NpmOptions): PlugboardError {
  const { error } = parseRecord(stdout) ?? {};
  const { code, summary, detail } = isRecord(error) ? error : {};
  const said = [summary, detail, stderr].map((text) => (typeof text === 'string' ? text.trim() : ''));
  const text = (said.find((each) => each !== '') ?? 'no reason').slice(0, MAX_MESSAGE_CHARS);
  const name = typeof code === 'string' ? code : '';
  if (name === 'EINTEGRITY') {
    return new PlugboardError(
      'LOCK_MISMATCH',
      `The registry sent other content for a package than was locked: ${text}`,
      {
        server,
        detail: { permanent: true },
        hint: 'Do not use it before you know why: the package was replaced, or the registry is not the one it was locked from.',
      },
    );
  }
  const hint = OFFLINE.has(name)
    ? 'Connect to the network once; an installed lock needs none.'
    : MISSING.has(name)
      ? 'Check the name and version; a locked version that was taken back can be replaced with plugboard update.'
      : 'Run it again with --verbose, or try npm with the same package.';
  return new PlugboardError('LOCK_FAILED', `npm failed${name === '' ? '' : ` with ${name}`}: ${text}`, {
    server,
    hint,
    detail: { permanent: true },
  });
}
