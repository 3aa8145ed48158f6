/** Asks the person at this terminal what a server of the daemon wants to know, for a command that the daemon runs. */

import type { ElicitAnswer, ElicitRequest } from '../connection/questions.ts';
import { askElicitation } from './elicit-form.ts';
import { Output } from './output.ts';

/** `question`: an `ElicitRequest`, as our own daemon sent it. */
export function askForDaemon(question: Readonly<Record<string, unknown>>): Promise<ElicitAnswer> {
  const { signal } = new AbortController();
  const output = new Output({ json: false, env: process.env, signal, onReaderGone: () => {} });
  return askElicitation(output, question as unknown as ElicitRequest);
}
