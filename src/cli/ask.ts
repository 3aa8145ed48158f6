/** Prompts that commands show at the terminal; cancelling one ends the command. */

import { PlugboardError } from '../errors.ts';
import type { Context } from './cli-command.ts';
import { type Answer, CANCELLED, openPrompter } from './prompter.ts';

type ServerWork = Pick<Context, 'output' | 'signal'>;

/** Asks yes or no; Ctrl-C and Escape cancel the command. */
export async function confirm(
  { output, signal }: ServerWork,
  message: string,
  { initial = false }: { readonly initial?: boolean } = {},
): Promise<boolean> {
  return answered(await (await openPrompter(output)).confirm({ message, initial, signal }));
}

/** Returns whether the command may continue, by `--yes` or by asking; throws if no one can be asked. */
export async function isAgreed(
  context: ServerWork,
  message: string,
  { yes }: { readonly yes: boolean },
): Promise<boolean> {
  if (yes) return true;
  if (context.output.canAsk) return confirm(context, message);
  throw new PlugboardError(
    'APPROVAL_REQUIRED',
    'Nothing was changed, because there is no terminal for questions',
    {
      hint: 'Use --dry-run to see what would be done, and --yes to do it.',
    },
  );
}

/** Asks for one line that is hidden while it is typed. */
export async function askForSecret({ output, signal }: ServerWork, message: string): Promise<string> {
  return answered(await (await openPrompter(output)).secret({ message, signal }));
}

/** Asks for one of several texts. */
export async function askForChoice(
  { output, signal }: ServerWork,
  message: string,
  texts: readonly string[],
): Promise<string> {
  const choices = texts.map((value) => ({ value, label: value }));
  return answered(await (await openPrompter(output)).choice({ message, choices, signal }));
}

/** Asks for one line of text. */
export async function askForText({ output, signal }: ServerWork, message: string): Promise<string> {
  return answered(await (await openPrompter(output)).text({ message, signal }));
}

function answered<T>(answer: Answer<T>): T {
  if (answer === CANCELLED) throw new PlugboardError('CANCELLED', 'The question was cancelled');
  return answer;
}
