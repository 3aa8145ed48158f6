/** A server's question while a command runs: asked at the terminal, also from the daemon; else cancelled, with a note. */

import type { ElicitAnswer, Questioned } from '../connection/questions.ts';
import { clean } from '../policy/clean.ts';
import type { Context } from './verb.ts';

type Elicit = NonNullable<Questioned['elicit']>;

/** One question at a time. `before`: clears what is redrawn in place. */
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

/** Whether a question of a server reaches a person during this command. */
export function canBeAskedDuring({ output, elicit }: Context): boolean {
  return elicit !== undefined || 'on' in output.questions;
}
