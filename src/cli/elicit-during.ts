/** Handles an elicitation during a command: asks at the terminal, also from the daemon, or cancels it with a note. */

import type { ElicitAnswer, Questioned } from '../connection/questions.ts';
import { clean } from '../policy/clean.ts';
import type { Context } from './cli-command.ts';

type Elicit = NonNullable<Questioned['elicit']>;

/** Shows one question at a time. `before`: clears text that is redrawn in place. */
export function elicitDuring(context: Context, before: () => void = () => {}): Elicit {
  const { output, elicit } = context;
  let last: Promise<unknown> = Promise.resolve();
  const ask: Elicit = async (request, id) => {
    before();
    if (elicit !== undefined) return elicit(request, id);
    const { questions } = output;
    if ('on' in questions) {
      const { askOrInterrupt } = await import('./elicit-form.ts');
      return askOrInterrupt(output, request);
    }
    const address = request.mode === 'url' ? ` and to open ${request.url ?? ''}` : '';
    const what = clean(`${request.server} asked ${JSON.stringify(request.message)}${address}`, {
      multiline: false,
    });
    output.note(
      `${output.notePaint.warn('note:')} ${what}, and no one can be asked here (${questions.why}): it was cancelled.`,
    );
    return { action: 'cancel' };
  };
  return (request, id) => {
    const asked = last.then(async (): Promise<ElicitAnswer> => ask(request, id));
    last = asked.catch(() => {});
    return asked;
  };
}

/** True if an elicitation can reach a person during this command. */
export function canBeAskedDuring({ output, elicit }: Context): boolean {
  return elicit !== undefined || 'on' in output.questions;
}
