/** Answers questions during a command: approvals of calls, and elicitations of servers. */

import type { Approve } from '../call/session.ts';
import type { ElicitAnswer, Questioned } from '../connection/questions.ts';
import { clean, reveal } from '../policy/clean.ts';
import { confirm } from './ask.ts';
import type { Context } from './cli-command.ts';

/** Undefined if no one can answer; calls that need approval are then rejected. */
export function approveCall(context: Context, yes: boolean): Approve | undefined {
  if (yes) return () => 'allow';
  if ('why' in context.output.questions) return undefined;
  return async ({ server, tool, arguments: given, reason }) => {
    const shown = reveal(JSON.stringify(given));
    context.output.note(`${reveal(server)} ${reveal(tool)} ${shown}\n${reveal(reason)}`);
    return (await confirm(context, `Call ${reveal(tool)} of ${reveal(server)}?`)) ? 'allow' : 'deny';
  };
}

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
      `${output.notePaint.warn('note:')} ${what}, and no one can answer here (${questions.why}), so it was cancelled.`,
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
