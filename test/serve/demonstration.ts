/** Runs what `npm start` runs, with a home of its own, and reads the address and the token it prints. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const START = fileURLToPath(new URL('../../dist/manage/start.js', import.meta.url));

export interface Demonstration {
  readonly child: ChildProcess;
  readonly url: string;
  readonly headers: { readonly authorization: string };
  output(): string;
  /** Sends the signal and waits for exit code and signal. */
  end(signal: NodeJS.Signals): Promise<unknown[]>;
}

/** `folder`: the project to show; without one, the sample. */
export async function startDemonstration(home: string, folder?: string): Promise<Demonstration> {
  const child = spawn(process.execPath, [START, ...(folder === undefined ? [] : [folder])], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: home,
    env: { ...process.env, PLUGBOARD_HOME: home },
  });
  const exited = once(child, 'exit');
  let output = '';
  child.stdout.setEncoding('utf8');
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    const url = /at (http:\S+)/.exec(output)?.[1];
    const token = /Bearer ([\w-]+)/.exec(output)?.[1];
    if (url === undefined || token === undefined || !output.endsWith('Press Ctrl-C to stop.\n')) continue;
    return {
      child,
      url,
      headers: { authorization: `Bearer ${token}` },
      output: () => output,
      async end(signal) {
        child.kill(signal);
        return exited;
      },
    };
  }
  throw new Error(`The demonstration ended early: ${output}`);
}
