/** Starts fixture programs and hands back the first line they print. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Program {
  readonly firstLine: string;
  readonly child: ChildProcess;
  stop(): Promise<void>;
}

export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
}

export async function startProgram(
  file: string,
  args: string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<Program> {
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([
    once(lines, 'line'),
    exited.then(([code]) => new Error(`exit code ${code}`)),
  ]);
  if (first instanceof Error) throw new Error(`${file} ended before it printed a line: ${first.message}`);
  return {
    firstLine: String(first[0]),
    child,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
