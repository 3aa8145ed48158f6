/** Questions to the person at the terminal. The prompt library is loaded when there is one to ask. */

import { PlugboardError } from '../errors.ts';
import type { Context } from './verb.ts';

/** Asks yes or no; Ctrl-C and Escape are a no that also ends the command. */
export async function confirm(context: Context, message: string): Promise<boolean> {
  const prompts = await import('@clack/prompts');
  const answer = await prompts.confirm({ message, initialValue: false, signal: context.signal });
  if (prompts.isCancel(answer)) throw new PlugboardError('CANCELLED', 'The question was cancelled.');
  return answer;
}

/** Asks for one line that nobody sees while it is typed. */
export async function askForSecret(message: string, signal: AbortSignal): Promise<string> {
  const prompts = await import('@clack/prompts');
  const answer = await prompts.password({ message, signal });
  if (prompts.isCancel(answer)) throw new PlugboardError('CANCELLED', 'The question was cancelled.');
  return answer ?? '';
}

/** Asks for one of several texts. */
export async function askForChoice(
  message: string,
  choices: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const prompts = await import('@clack/prompts');
  const options = choices.map((value) => ({ value }));
  const answer = await prompts.select({ message, options, signal });
  if (prompts.isCancel(answer)) throw new PlugboardError('CANCELLED', 'The question was cancelled.');
  return answer;
}

/** Asks for one line of text. */
export async function askForText(message: string, signal: AbortSignal): Promise<string> {
  const prompts = await import('@clack/prompts');
  const answer = await prompts.text({ message, signal });
  if (prompts.isCancel(answer)) throw new PlugboardError('CANCELLED', 'The question was cancelled.');
  return answer;
}
