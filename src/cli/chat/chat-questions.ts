/** Asks the person during a turn: approvals of calls, elicitations, and sampling requests. */

import type { ApprovalAnswer, ApprovalRequest } from '../../call/session.ts';
import type { OpenModel } from '../../chat/chat-model.ts';
import { sampleWith } from '../../chat/sample.ts';
import type { ElicitAnswer, ElicitRequest, SampleRequest } from '../../connection/questions.ts';
import { PlugboardError } from '../../errors.ts';
import { reveal, revealLines } from '../../policy/clean.ts';
import { askElicitation } from '../elicit-form.ts';
import type { Output } from '../output.ts';
import { CANCELLED, openPrompter } from '../prompter.ts';

const MAX_SHOWN_CHARS = 2_000;
const ALWAYS = { value: 'allow-always', label: 'Always allow' } as const;

export interface QuestionsOptions {
  readonly output: Output;
  readonly model: OpenModel;
  /** Called around every question, which uses the keyboard and the status line. */
  readonly pause: () => void;
  readonly resume: () => void;
}

/** Shows one question at a time; the others are queued. */
export class Questions {
  readonly #options: QuestionsOptions;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  approve(request: ApprovalRequest): Promise<ApprovalAnswer> {
    return this.#ask(async () => {
      const { output } = this.#options;
      const prompter = await openPrompter(output);
      const args = revealLines(JSON.stringify(request.arguments, null, 2)).slice(0, MAX_SHOWN_CHARS);
      output.line(
        `${output.paint.strong(reveal(request.name))} ${args}\n${output.paint.faint(reveal(request.reason))}`,
      );
      const answer = await prompter.choice<ApprovalAnswer>({
        message: `Allow ${reveal(request.tool)} of ${reveal(request.server)}?`,
        choices: [
          { value: 'allow', label: 'Allow once' },
          { value: 'allow-session', label: 'Allow for this session' },
          // A permanent rule would have no effect against an `ask` rule.
          ...(request.askRule === undefined ? [ALWAYS] : []),
          { value: 'deny', label: 'Deny' },
        ],
        // Pressing Enter must not allow a destructive call.
        ...(mayDestroy(request) ? { initial: 'deny' } : {}),
        signal: request.signal,
      });
      return answer === CANCELLED ? 'cancel' : answer;
    });
  }

  elicit(request: ElicitRequest): Promise<ElicitAnswer> {
    return this.#ask(() => askElicitation(this.#options.output, request));
  }

  /** Asks before every sampling request, because the person pays for the model. */
  async sample(request: SampleRequest): Promise<unknown> {
    const { output, model } = this.#options;
    const allowed = await this.#ask(async () => {
      const prompter = await openPrompter(output);
      const wanted = revealLines(JSON.stringify(request.params['messages'], null, 2)).slice(
        0,
        MAX_SHOWN_CHARS,
      );
      output.line(
        `${output.paint.strong(reveal(request.server))} requests a completion from your model:\n${wanted}`,
      );
      const answer = await prompter.confirm({
        message: `Let ${reveal(request.server)} use ${model.name}?`,
        initial: false,
        signal: request.signal,
      });
      return answer === true;
    });
    if (!allowed) throw new PlugboardError('DENIED', 'The user did not allow it', { server: request.server });
    return sampleWith(model, request);
  }

  #ask<T>(question: () => Promise<T>): Promise<T> {
    const { pause, resume } = this.#options;
    const asked = this.#last.then(async () => {
      pause();
      try {
        return await question();
      } finally {
        resume();
      }
    });
    this.#last = asked.catch(() => {});
    return asked;
  }
}

/** By the protocol's defaults, a tool may be destructive unless annotated as read-only or as non-destructive. */
function mayDestroy({ annotations }: ApprovalRequest): boolean {
  return annotations?.readOnlyHint !== true && annotations?.destructiveHint !== false;
}
