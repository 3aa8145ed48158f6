/** The steps of `up`, and whether each of them is done, shown only, or skipped. */

import { confirm } from '../ask.ts';
import type { Context } from '../verb.ts';

export const STEPS = ['import', 'values', 'export', 'move', 'connect', 'login', 'page'] as const;
export type StepId = (typeof STEPS)[number];

/** `nothing`: there is nothing to do. `preview`: shown, and not done. */
export type StepResult = 'done' | 'preview' | 'skipped' | 'nothing';

export interface ConsentOptions {
  readonly yes: boolean;
  readonly isDry: boolean;
  readonly skip: readonly string[];
}

/** Decides about each step: by flags, by asking at the terminal, or, where no one can be asked, not at all. */
export class StepConsent {
  readonly results: Partial<Record<StepId, StepResult>> = {};
  readonly #context: Context;
  readonly #options: ConsentOptions;

  constructor(context: Context, options: ConsentOptions) {
    this.#context = context;
    this.#options = options;
  }

  /** True if steps can only be shown, because of `--dry-run` or because no one can be asked. */
  get isPreview(): boolean {
    return this.#options.isDry || !(this.#options.yes || this.#context.output.canAsk);
  }

  /** True if a change was shown that only `--yes` could have made. */
  get lacksYes(): boolean {
    const changing: readonly StepId[] = ['import', 'values', 'export', 'move'];
    return !this.#options.isDry && changing.some((step) => this.results[step] === 'preview');
  }

  isSkipped(step: StepId): boolean {
    return this.#options.skip.includes(step);
  }

  /** @param question asked at a terminal; the change has to be on the screen by then */
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
