/** Asks the person at this terminal what a server of the daemon wants to know, for a command that the daemon runs. */

import type { ElicitAnswer, ElicitRequest } from '../connection/questions.ts';
import { askOrInterrupt } from './elicit-form.ts';
import { Output } from './output.ts';

/** `question`: an `ElicitRequest`, as our own daemon sent it; `json`: stdout is for a document. */
export function askForDaemon(
  question: Readonly<Record<string, unknown>>,
  json: boolean,
): Promise<ElicitAnswer> {
  const { signal } = new AbortController();
  const output = new Output({ json, env: process.env, signal, onReaderGone: () => {} });
  return askOrInterrupt(output, question as unknown as ElicitRequest);
}
