/** Pipeline stage: counts a call against the budgets of its session and of all sessions, and refuses it if one is used up. */

import { asPlugboardError, PlugboardError } from '../errors.ts';
import { durationText } from '../lib/duration-text.ts';
import { type BudgetAccount, type BudgetRefusal, limitText, Reservation } from '../policy/budgets.ts';
import type { Call, CallContext, Handler, Stage } from './call.ts';
import { costOf } from './cut.ts';
import { namesOf, toolOf } from './resolved-call.ts';
import type { Session } from './session.ts';

export const budget: Stage = (context, next) => (call) => {
  const accounts = accountsOf(context, call.session);
  return accounts === undefined ? next(call) : counted(context, call, accounts, next);
};

/** Returns the accounts that pay for a session; undefined if nothing is counted. */
export function accountsOf(
  { budgets, settings }: Pick<CallContext, 'budgets' | 'settings'>,
  { account }: Pick<Session, 'account'>,
): readonly BudgetAccount[] | undefined {
  const everyone = budgets.everyone(settings().budgets);
  if (everyone === undefined) return account === undefined ? undefined : [account];
  return account === undefined ? [everyone] : [everyone, account];
}

async function counted(
  context: CallContext,
  call: Call,
  accounts: readonly BudgetAccount[],
  next: Handler,
): ReturnType<Handler> {
  const { server, tool } = toolOf(call);
  const reserved = context.budgets.reserve(accounts, { server, tool, names: namesOf(context, call) });
  if (!(reserved instanceof Reservation)) throw rateLimited(reserved, call.name, server);
  try {
    const result = await next(call);
    if (reserved.countsTokens && result.task === undefined) reserved.charge(costOf(result).tokens);
    return result;
  } catch (thrown) {
    const error = asPlugboardError(thrown);
    if (error.detail.notSent === true) reserved.release();
    throw error;
  }
}

/** Returns the error for an action that a budget refuses. */
export function rateLimited(
  { budget: used, retryAfterSeconds }: BudgetRefusal,
  subject: string,
  server: string,
): PlugboardError {
  return new PlugboardError(
    'RATE_LIMITED',
    `${subject} was refused: the budget of ${limitText(used)} is used up`,
    {
      server,
      hint: `Try again in ${durationText(retryAfterSeconds)}.`,
      detail: { retryAfterSeconds },
    },
  );
}
