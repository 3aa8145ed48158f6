/** Steps of `up`, and the decision whether each is done, only shown, or skipped. */

import { confirm } from '../ask.ts';
import type { Context } from '../cli-command.ts';

export const STEPS = ['import', 'values', 'export', 'move', 'connect', 'login', 'page'] as const;
export type StepId = (typeof STEPS)[number];

/** `nothing`: nothing to do. `preview`: shown but not done. */
export type StepResult = 'done' | 'preview' | 'skipped' | 'nothing';

export interface ConsentOptions {
  readonly yes: boolean;
  readonly isDry: boolean;
  readonly skip: readonly string[];
}

/** Decides on each step: by flags or by asking at the terminal; if no one can be asked, the step is only shown. */
export class StepConsent {
  readonly results: Partial<Record<StepId, StepResult>> = {};
  readonly #context: Context;
  readonly #options: ConsentOptions;

  constructor(context: Context, options: ConsentOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** True if steps are only shown, because of `--dry-run` or because no one can be asked. */
  get isPreview(): boolean {
    return this.#options.isDry || !(this.#options.yes || this.#context.output.canAsk);
  }

  /** True if a change was only shown because `--yes` was missing. */
  get lacksYes(): boolean {
    const changing: readonly StepId[] = ['import', 'values', 'export', 'move'];
    return !this.#options.isDry && changing.some((step) => this.results[step] === 'preview');
  }

  isSkipped(step: StepId): boolean {
    return this.#options.skip.includes(step);
  }

  /** @param question asked at a terminal, after the change has been shown */
  async decide(step: StepId, question: string): Promise<boolean> {
    const result = await this.#result(step, question);
    this.results[step] = result;
    return result === 'done';
  }

  async #result(step: StepId, question: string): Promise<StepResult> {
    if (this.isSkipped(step)) return 'skipped';
    if (this.isPreview) return 'preview';
    if (this.#options.yes) return 'done';
    return (await confirm(this.#context, question)) ? 'done' : 'skipped';
  }
}
