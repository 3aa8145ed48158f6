/** Runs the workspace server on stdio until its client disconnects, loading only the modules it needs. */

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { findProjectRoot, isPrivateFolder } from '../config/home.ts';
import { PlugboardError } from '../errors.ts';
import { stdio } from '../kit/transports.ts';
import { aborted } from '../lib/waits.ts';
import { createWorkspaceServer } from '../workspace/workspace-server.ts';
import { listenForInterrupts } from './interrupt.ts';

export interface WorkspaceProgram {
  readonly root: string;
  readonly shell: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

export async function serveWorkspace({ root, shell, env, signal }: WorkspaceProgram): Promise<number> {
  const { server, close } = createWorkspaceServer({ root, shell, searchPath: env['PATH'] ?? '' });
  // Stops running commands, whose results no client would receive, so that the exit does not wait for them.
  signal.addEventListener('abort', close, { once: true });
  try {
    const served = await server.serve(stdio());
    await Promise.race([served.closed, aborted(signal).catch(() => {})]);
    await server.close();
  } finally {
    close();
  }
  return 0;
}

/**
 * Returns the given folder, else the project of the current folder. @throws PlugboardError USAGE in a private folder.
 */
export function workspaceRoot(cwd: string, given: string | undefined): string {
  if (given === undefined && isPrivateFolder(cwd)) {
    throw new PlugboardError('USAGE', `plugboard workspace was started in the private folder ${cwd}`, {
      hint: "Give it the project in its entry: plugboard workspace '${PROJECT_DIR}'",
    });
  }
  return given === undefined ? findProjectRoot(cwd) : resolve(cwd, given);
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Handles the usual argv of programs without loading the command parser; undefined for any other argv. */
export async function runWorkspaceQuickly(
  words: readonly string[],
  env: NodeJS.ProcessEnv,
  exit: (status: number) => void,
): Promise<number | undefined> {
  const [given, ...more] = words.filter((word) => word !== '--shell');
  const isPlain = more.length === 0 && given?.startsWith('-') !== true && !process.stdin.isTTY;
  if (!isPlain || !isFolder('.')) return undefined;
  const cwd = process.cwd();
  if (given === undefined && isPrivateFolder(cwd)) return undefined;
  const root = workspaceRoot(cwd, given);
  if (!isFolder(root)) return undefined;
  const { signal } = listenForInterrupts(exit);
  return serveWorkspace({ root, shell: words.includes('--shell'), env, signal });
}
