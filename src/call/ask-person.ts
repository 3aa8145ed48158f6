/** Asks the person of a session about one action, and turns the answer into a permission or an error. */

import { PlugboardError } from '../errors.ts';
import type { CallContext } from './call.ts';
import type { ApprovalAnswer, ApprovalRequest, Session } from './session.ts';

/** How long the person's yes holds. */
export type Granted = Extract<ApprovalAnswer, 'allow' | 'allow-session' | 'allow-always'>;

export interface PersonQuestion {
  readonly request: Omit<ApprovalRequest, 'session' | 'signal'>;
  /** The id of the call that is asked about; other actions have none. */
  readonly call?: string;
  /** What it is about, for errors: `files__write` has to be approved, `files__write` was not `called`. */
  readonly subject: string;
  readonly undone: 'called' | 'read' | 'used';
  /** What the person can do where no one can be asked, from `howToAllow`. It is logged, and not part of the hint. */
  readonly advice: string;
  readonly signal: AbortSignal | undefined;
  /** Called with every answer, also with a no. */
  readonly answered?: (answer: string) => void;
}

/** All that a model is given about it: which file has the rule is for the person to know. */
const ONLY_THE_USER = "Only the user can allow it; Plugboard's log has the rule to change.";

/** What makes `rule` pass without a question, as the end of a sentence: an `ask` rule is stronger than `allow`. */
export function howToAllow(
  rule: string,
  {
    askRule,
    allowIn = 'permissions.allow',
  }: { readonly askRule?: string | undefined; readonly allowIn?: string | undefined },
): string {
  return askRule === undefined
    ? `add ${JSON.stringify(rule)} to ${allowIn} in config.json`
    : `remove or narrow the rule ${JSON.stringify(askRule)} of permissions.ask in config.json`;
}

/** Resolves with a yes; rejects with DENIED, CANCELLED, or APPROVAL_REQUIRED if the session cannot be asked. */
export async function askPerson(
  { board, log }: Pick<CallContext, 'board' | 'log'>,
  session: Session,
  { request, call, subject, undone, advice, signal, answered }: PersonQuestion,
): Promise<Granted> {
  const { approve: put } = session;
  const { server, reason } = request;
  const refused = (message: string, why = 'No one can be asked here.'): PlugboardError => {
    log(server, 'warning', `${message}. To allow it, ${advice}.`, session.id);
    return new PlugboardError('APPROVAL_REQUIRED', message, {
      server,
      hint: `${why} ${ONLY_THE_USER}`,
      detail: { advice },
    });
  };
  if (put === undefined) throw refused(`${subject} has to be approved: ${reason}`);
  const asked: ApprovalRequest = { ...request, session: session.id };
  const question = board.put({ kind: 'approval', ...asked }, signal, call);
  const given = async (): Promise<ApprovalAnswer> =>
    put(signal === undefined ? asked : { ...asked, signal }, question.id);
  const answer = await question.answered(given(), String).catch((thrown: unknown) => {
    if (!(thrown instanceof PlugboardError) || thrown.code !== 'APPROVAL_REQUIRED') throw thrown;
    throw refused(thrown.message, thrown.hint);
  });
  answered?.(answer);
  switch (answer) {
    case 'allow':
    case 'allow-session':
    case 'allow-always':
      return answer;
    case 'deny':
      throw new PlugboardError('DENIED', `${subject} was not ${undone}: you denied it`, { server });
    case 'cancel':
      throw new PlugboardError('CANCELLED', `${subject} was cancelled when it was asked about`, { server });
    default:
      throw new PlugboardError('DENIED', `approve() answered ${JSON.stringify(answer satisfies never)}`, {
        server,
        hint: "It has to answer 'allow', 'allow-session', 'allow-always', 'deny' or 'cancel'.",
      });
  }
}
