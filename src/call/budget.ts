/** Pipeline stage: counts a call against the budgets of its session and of all sessions, and refuses it if one is used up. */

import { asPlugboardError, PlugboardError } from '../errors.ts';
import { durationText } from '../lib/duration-text.ts';
import {
  type BudgetAccount,
  type BudgetRefusal,
  type Countable,
  isRefusal,
  limitText,
  type Reservation,
  type SharedCounters,
} from '../policy/budgets.ts';
import type { Call, CallContext, Handler, Stage } from './call.ts';
import { costOf } from './cut.ts';
import { namesOf, toolOf } from './resolved-call.ts';
import type { Session } from './session.ts';
import type { ShapedResult } from './shape.ts';

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

/** Without `async`, like every stage that each call passes. */
function counted(
  context: CallContext,
  call: Call,
  accounts: readonly BudgetAccount[],
  next: Handler,
): ReturnType<Handler> {
  const { server, tool } = toolOf(call);
  const counts = { server, tool, names: namesOf(context, call) };
  const { shared } = context.budgets;
  if (shared !== undefined)
    return reserveShared(context, shared, accounts, counts, call.name).then((reserved) =>
      paid(reserved, call, next),
    );
  const reserved = context.budgets.reserve(accounts, counts);
  if (isRefusal(reserved)) throw rateLimited(reserved, call.name, server);
  return paid(reserved, call, next);
}

/** Counts an action in counters of several processes. Rejects if a budget is used up. */
export async function reserveShared(
  { budgets, settings }: Pick<CallContext, 'budgets' | 'settings'>,
  shared: SharedCounters,
  accounts: readonly BudgetAccount[],
  counts: Countable,
  subject: string,
): Promise<Reservation> {
  const onLost = settings().cluster?.onLost ?? 'local';
  const reserved = await budgets.reserveShared(shared, accounts, counts, onLost);
  if (reserved === 'away') throw uncounted(subject, counts.server);
  if (isRefusal(reserved)) throw rateLimited(reserved, subject, counts.server);
  return reserved;
}

/** Makes a call that was counted. */
function paid(reserved: Reservation, call: Call, next: Handler): ReturnType<Handler> {
  const failed = (thrown: unknown): never => {
    const error = asPlugboardError(thrown);
    if (error.detail.notSent === true) reserved.release();
    throw error;
  };
  const charged = (result: ShapedResult): ShapedResult => {
    if (result.task === undefined) reserved.charge(costOf(result).tokens);
    return result;
  };
  try {
    return reserved.countsTokens ? next(call).then(charged, failed) : next(call).catch(failed);
  } catch (thrown) {
    return failed(thrown);
  }
}

function uncounted(subject: string, server: string): PlugboardError {
  return new PlugboardError(
    'RATE_LIMITED',
    `${subject} was refused: its budget cannot be checked without Redis`,
    {
      server,
      hint: 'Try again in a second.',
      detail: { retryAfterSeconds: 1 },
    },
  );
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
