/** A machine with managed files: `/etc/plugboard` is a folder of the test, in a file system that no other test sees. */

import { spawn } from 'node:child_process';

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ManagedMachine {
  readonly etc: string;
  readonly project: string;
  readonly home: string;
}

export function onManagedMachine(
  { etc, project, home }: ManagedMachine,
  program: readonly string[],
  env: Record<string, string> = {},
): Promise<Ran> {
  const keep = ['/etc/passwd', '/etc/ld.so.cache', '/etc/alternatives', '/etc/ssl'].flatMap((file) => [
    '--ro-bind-try',
    file,
    file,
  ]);
  const within = ['--dev-bind', '/', '/', '--tmpfs', '/etc', ...keep, '--bind', etc, '/etc/plugboard'];
  const child = spawn('bwrap', [...within, '--chdir', project, '--', ...program], {
    env: { ...process.env, CI: '', NO_COLOR: '', PLUGBOARD_HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, stdout, stderr }));
  });
}
