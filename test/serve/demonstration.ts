/** Runs what `npm start` runs and reads the address it prints. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const START = fileURLToPath(new URL('../../dist/serve/start.js', import.meta.url));

export interface Demonstration {
  readonly child: ChildProcess;
  readonly url: string;
  output(): string;
  /** Sends the signal and waits for exit code and signal. */
  end(signal: NodeJS.Signals): Promise<unknown[]>;
}

export async function startDemonstration(): Promise<Demonstration> {
  const child = spawn(process.execPath, [START], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let output = '';
  child.stdout.setEncoding('utf8');
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    output += String(chunk);
    const url = /at (http:\S+)/.exec(output)?.[1];
    if (url === undefined || !output.endsWith('Ctrl-C.\n')) continue;
    return {
      child,
      url,
      output: () => output,
      async end(signal) {
        child.kill(signal);
        return exited;
      },
    };
  }
  throw new Error(`The demonstration ended early: ${output}`);
}
