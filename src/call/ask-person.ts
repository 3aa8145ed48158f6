/** Asks the person of a session about one action, and converts the answer to a permission or an error. */

import { withSignal } from '../connection/open-questions.ts';
import { forSurface, PlugboardError } from '../errors.ts';
import type { CallContext } from './call.ts';
import type { ApprovalAnswer, ApprovalRequest, Session } from './session.ts';
import { reasonFor } from './session-view.ts';

/** How long the approval is valid. */
export type Granted = Extract<ApprovalAnswer, 'allow' | 'allow-session' | 'allow-always'>;

export interface PersonQuestion {
  readonly request: Omit<ApprovalRequest, 'session' | 'signal'>;
  /** The id of the call that is asked about; other actions have none. */
  readonly call?: string;
  /** The subject of errors: `files__write` must be approved, `files__write` was not `called`. */
  readonly subject: string;
  readonly undone: 'called' | 'read' | 'used';
  /** Advice for the person if no person can be asked, from `howToAllow`. It is logged, and not part of the hint. */
  readonly advice: string;
  readonly signal: AbortSignal | undefined;
  /** Called with every answer, including a refusal. */
  readonly answered?: (answer: string) => void;
}

/** The only hint for a model: the file with the rule is named to the person only. */
const ONLY_THE_USER = "Only the user can allow it; Plugboard's log has the rule to change.";
/** For the author of a program without an `approve` callback. */
const ASK_IN_CODE = 'give createHost, or the session, an "approve" function that asks the user';

/** Returns how to allow `rule` without a question, as the end of a sentence: an `ask` rule overrides `allow`. */
export function howToAllow(
  rule: string,
  {
    askRule,
    allowIn = 'permissions.allow',
    inCode = ASK_IN_CODE,
  }: {
    readonly askRule?: string | undefined;
    readonly allowIn?: string | undefined;
    /** The same for the author of a program. */
    readonly inCode?: string | undefined;
  },
): string {
  return askRule === undefined
    ? forSurface({
        commands: `add ${JSON.stringify(rule)} to ${allowIn} in config.json`,
        library: inCode,
      })
    : `remove or narrow the rule ${JSON.stringify(askRule)} of permissions.ask in config.json`;
}

/** Resolves with an approval; rejects with DENIED, CANCELLED, or APPROVAL_REQUIRED if the session cannot be asked. */
export async function askPerson(
  context: Pick<CallContext, 'openQuestions' | 'log'>,
  session: Session,
  { request, call, subject, undone, advice, signal, answered }: PersonQuestion,
): Promise<Granted> {
  const { approve: put } = session;
  const { server, reason } = request;
  const refused = (message: string, why = 'No one can be asked here.'): PlugboardError => {
    context.log(server, 'warning', `${message}. To allow it, ${advice}.`, session.id);
    return new PlugboardError('APPROVAL_REQUIRED', message, {
      server,
      hint: {
        commands: `${why} ${ONLY_THE_USER}`,
        library: `${why} ${request.askRule === undefined ? sentence(advice) : ONLY_THE_USER}`,
      },
      detail: { advice, modelHint: `${why} ${ONLY_THE_USER}` },
    });
  };
  if (session.ended.reason !== undefined) throw session.ended.reason;
  if (put === undefined) {
    const shown = reasonFor(session, { kind: 'ask', reason, rule: request.askRule });
    throw refused(`${subject} must be approved: ${shown}`);
  }
  if (signal?.aborted === true) {
    throw new PlugboardError('CANCELLED', `${subject} was not ${undone}: it was cancelled before`, {
      server,
    });
  }
  const asked: Omit<ApprovalRequest, 'signal'> = { ...request, session: session.id };
  const question = context.openQuestions.put({ kind: 'approval', ...asked }, signal, call);
  let failed: PlugboardError | undefined;
  const given = async (): Promise<ApprovalAnswer> => {
    try {
      return await put(withSignal(asked, question, signal), question.id);
    } catch (thrown) {
      if (thrown instanceof PlugboardError) throw thrown;
      const why = thrown instanceof Error ? thrown.message : String(thrown);
      failed = new PlugboardError(
        'APPROVAL_REQUIRED',
        `${subject} was not ${undone}: approve() failed: ${why}`,
        { server, hint: 'It must return an answer instead of throwing if it cannot ask.', cause: thrown },
      );
      throw failed;
    }
  };
  const answer = await question.answered(given(), String).catch((thrown: unknown) => {
    const isRefusal = thrown instanceof PlugboardError && thrown.code === 'APPROVAL_REQUIRED';
    throw isRefusal && thrown !== failed ? refused(thrown.message, thrown.hint) : thrown;
  });
  answered?.(answer);
  switch (answer) {
    case 'allow':
    case 'allow-session':
    case 'allow-always':
      return answer;
    case 'deny':
      throw new PlugboardError('DENIED', `${subject} was not ${undone}: the user denied it`, { server });
    case 'cancel':
      throw new PlugboardError('CANCELLED', `${subject} was cancelled when it was asked about`, { server });
    default:
      throw new PlugboardError('DENIED', `approve() answered ${JSON.stringify(answer satisfies never)}`, {
        server,
        hint: "It must return 'allow', 'allow-session', 'allow-always', 'deny' or 'cancel'.",
      });
  }
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
