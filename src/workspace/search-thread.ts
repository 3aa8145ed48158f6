/** Runs one search in a worker thread, and terminates it on timeout or cancellation. */

import { Worker } from 'node:worker_threads';
import type { GlobJob, GrepJob, Row, SearchMessage } from './search-job.ts';
import type { Call, Workspace } from './workspace-context.ts';
import { badPath } from './workspace-errors.ts';

/** Time limit of one search, in a thread or with ripgrep. */
export const SEARCH_MS = 30_000;
/** Interval of progress reports. */
const PROGRESS_MS = 1_000;

export interface Searched {
  readonly files: readonly string[];
  readonly rows: readonly Row[];
  /** There are more results than requested. */
  readonly truncated: boolean;
  readonly timedOut: boolean;
}

export function searchInThread({ clock }: Workspace, job: GlobJob | GrepJob, call: Call): Promise<Searched> {
  const { signal } = call;
  signal.throwIfAborted();
  const files: string[] = [];
  const rows: Row[] = [];
  let [searched, total]: [number, number | undefined] = [0, job.files?.length];
  const worker = new Worker(new URL('./search-worker.js', import.meta.url), { workerData: job });
  return new Promise<Searched>((resolve, reject) => {
    const end = (truncated: boolean, timedOut: boolean): void =>
      resolve({ files, rows, truncated, timedOut });
    const stopBeat = heartbeat(clock, () => call.progress(searched, total, `${searched} files searched`));
    const stopTimer = clock.after(SEARCH_MS, () => end(true, true));
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    worker.once('error', reject);
    worker.once('exit', () => {
      stopBeat();
      stopTimer();
      signal.removeEventListener('abort', onAbort);
      reject(badPath('The search ended without a result'));
    });
    worker.on('message', (message: SearchMessage) => {
      switch (message.type) {
        case 'files':
          files.push(...message.paths);
          return;
        case 'rows':
          rows.push(...message.rows);
          return;
        case 'progress':
          ({ searched, total } = message);
          return;
        case 'failed':
          return reject(badPath(message.message));
        case 'end':
          return end(message.truncated, false);
        default:
          message satisfies never;
      }
    });
  }).finally(() => worker.terminate());
}

/** Calls `beat` repeatedly until stopped. */
export function heartbeat(clock: Workspace['clock'], beat: () => void): () => void {
  let stop = (): void => {};
  const next = (): void => {
    stop = clock.after(PROGRESS_MS, () => {
      beat();
      next();
    });
  };
  next();
  return () => stop();
}
