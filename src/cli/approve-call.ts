/** Answers the approval of a `call`: by `--yes`, or by asking the person at the terminal. */

import type { Approve } from '../call/session.ts';
import { reveal } from '../policy/clean.ts';
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
