/** Shows an elicitation from one of the daemon's servers at this terminal, for a command that the daemon runs. */

import type { ElicitAnswer, ElicitRequest } from '../connection/questions.ts';
import { askOrInterrupt } from './elicit-form.ts';
import { Output } from './output.ts';

/** `question`: an `ElicitRequest` sent by our own daemon; `json`: stdout is reserved for a JSON document. */
export function askForDaemon(
  question: Readonly<Record<string, unknown>>,
  json: boolean,
): Promise<ElicitAnswer> {
  const { signal } = new AbortController();
  const output = new Output({ json, env: process.env, signal, onReaderGone: () => {} });
  return askOrInterrupt(output, question as unknown as ElicitRequest);
}
