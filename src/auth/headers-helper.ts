/** Runs the headersHelper command with limits on time and output, and kills its whole process group. */

import { spawn } from 'node:child_process';
import { PlugboardError } from '../errors.ts';
import { parseRecord } from '../lib/json.ts';
import { killGroup } from '../lib/process-group.ts';
import { checked, type Headers } from './static-headers.ts';

const HELPER_TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 64 * 1024;

export interface HelperOptions {
  readonly server: string;
  readonly url: string;
  readonly command: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

export async function runHeadersHelper(options: HelperOptions): Promise<Headers> {
  const value = parseRecord(await run(options));
  if (value === undefined || Object.values(value).some((one) => typeof one !== 'string')) {
    throw failed(options, 'it did not print a JSON object of strings');
  }
  const entries = Object.entries(value as Record<string, string>);
  return Object.fromEntries(entries.map(([name, text]) => [name, checked(options.server, name, text)]));
}

function run(options: HelperOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(options.command, {
      // The command is one shell line that the user wrote; servers cannot influence it.
      shell: true,
      detached: process.platform !== 'win32',
      stdio: ['ignore', 'pipe', 'ignore'],
      cwd: options.cwd,
      env: { ...options.env, PLUGBOARD_SERVER_NAME: options.server, PLUGBOARD_SERVER_URL: options.url },
    });
    const chunks: Buffer[] = [];
    let size = 0;
    let problem: PlugboardError | undefined;

    const end = (error: PlugboardError): void => {
      problem ??= error;
      killGroup(child.pid);
      // A child that left its process group keeps the pipe open; do not wait for it.
      child.stdout.destroy();
    };
    const timer = setTimeout(
      () => end(failed(options, `it took longer than ${HELPER_TIMEOUT_MS / 1000} seconds`)),
      options.timeoutMs ?? HELPER_TIMEOUT_MS,
    );
    const abort = (): void =>
      end(
        new PlugboardError('CANCELLED', 'Cancelled while its headersHelper ran', { server: options.server }),
      );
    const settle = (): void => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', abort);
    };
    options.signal?.addEventListener('abort', abort, { once: true });
    if (options.signal?.aborted) abort();

    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_OUTPUT_BYTES)
        end(failed(options, `it printed more than ${MAX_OUTPUT_BYTES / 1024} KiB`));
      else chunks.push(chunk);
    });
    child.once('error', () => {
      settle();
      // The system's error contains the whole command, which may contain a secret.
      reject(failed(options, 'it could not be started'));
    });
    child.once('close', (code, signal) => {
      settle();
      if (problem !== undefined) reject(problem);
      else if (code !== 0)
        reject(failed(options, `it ended with ${code === null ? signal : `status ${code}`}`));
      else resolve(Buffer.concat(chunks).toString('utf8'));
    });
  });
}

/** Creates the error without the command and its output: both may contain the secret. */
function failed(options: HelperOptions, why: string): PlugboardError {
  return new PlugboardError('AUTH_FAILED', `The headersHelper of "${options.server}" failed: ${why}`, {
    server: options.server,
    hint: 'Run the command of its headersHelper by hand to see what is wrong.',
  });
}
