/** Answers questions during a command: approvals of calls, and elicitations of servers. */

import type { Approve } from '../call/session.ts';
import type { Questioned } from '../connection/questions.ts';
import { oneLine, reveal } from '../policy/clean.ts';
import { confirm } from './ask.ts';
import type { Context } from './cli-command.ts';
import type { Need } from './with-host.ts';

/** Undefined if no one can answer; calls that need approval are then rejected. */
function approveCall(context: Context, yes: boolean, before: () => void): Approve | undefined {
  if (yes) return () => 'allow';
  if ('why' in context.output.questions) return undefined;
  return inTurn(async ({ server, tool, arguments: given, reason }) => {
    before();
    const shown = reveal(JSON.stringify(given));
    context.output.note(`${reveal(server)} ${reveal(tool)} ${shown}\n${reveal(reason)}`);
    return (await confirm(context, `Call ${reveal(tool)} of ${reveal(server)}?`)) ? 'allow' : 'deny';
  });
}

type Elicit = NonNullable<Questioned['elicit']>;

/** Shows one question at a time. `before`: clears text that is redrawn in place. */
export function elicitDuring(context: Context, before: () => void = () => {}): Elicit {
  const { output, elicit } = context;
  const ask: Elicit = async (request, id) => {
    before();
    if (elicit !== undefined) return elicit(request, id);
    const { questions } = output;
    if ('on' in questions) {
      const { askOrInterrupt } = await import('./elicit-form.ts');
      return askOrInterrupt(output, request);
    }
    const address = request.mode === 'url' ? ` and to open ${request.url ?? ''}` : '';
    const what = oneLine(`${request.server} asked ${JSON.stringify(request.message)}${address}`);
    output.remark(`${what}, and no one can answer here (${questions.why}), so it was cancelled.`);
    return { action: 'cancel' };
  };
  return inTurn(ask);
}

/** Returns a function that asks one question at a time. */
function inTurn<Given extends unknown[], Answer>(
  ask: (...given: Given) => Answer | PromiseLike<Answer>,
): (...given: Given) => Promise<Answer> {
  let last: Promise<unknown> = Promise.resolve();
  return (...given) => {
    const asked = last.then(() => ask(...given));
    last = asked.catch(() => {});
    return asked;
  };
}

/** What a command needs to ask its person while it uses servers. */
export function askingDuring(
  context: Context,
  { yes = false, before = () => {} }: { readonly yes?: boolean; readonly before?: () => void } = {},
): Pick<Need, 'approve' | 'elicit' | 'canBeAsked'> {
  const { output, elicit } = context;
  return {
    approve: approveCall(context, yes, before),
    elicit: elicitDuring(context, before),
    canBeAsked: () => elicit !== undefined || 'on' in output.questions,
  };
}
