/** Terminal prompts in two forms: drawn in place if the terminal supports it, else in plain lines. */

import type { Output } from './output.ts';

/** Returned if the person cancels: Ctrl-C, Escape, or the end of the input. */
export const CANCELLED: unique symbol = Symbol('cancelled');

export type Answer<T> = T | typeof CANCELLED;

interface Asked {
  readonly message: string;
  readonly signal?: AbortSignal | undefined;
}

export interface Choice<T extends string = string> {
  readonly value: T;
  readonly label: string;
}

export interface Prompter {
  confirm(question: Asked & { readonly initial?: boolean | undefined }): Promise<Answer<boolean>>;
  /** `fault` returns one sentence if the answer is invalid; the question is then asked again. */
  text(
    question: Asked & {
      readonly initial?: string | undefined;
      readonly fault?: ((value: string) => string | undefined) | undefined;
    },
  ): Promise<Answer<string>>;
  /** Asks for one line that is hidden while it is typed. */
  secret(question: Asked): Promise<Answer<string>>;
  choice<T extends string>(
    question: Asked & { readonly choices: readonly Choice<T>[]; readonly initial?: T | undefined },
  ): Promise<Answer<T>>;
  choices<T extends string>(
    question: Asked & {
      readonly choices: readonly Choice<T>[];
      readonly initial?: readonly T[] | undefined;
      readonly required: boolean;
    },
  ): Promise<Answer<readonly T[]>>;
}

/** Opens the prompter that fits the terminal; the modules are loaded on demand. */
export async function openPrompter({
  canDraw,
  asksOnStderr,
}: Pick<Output, 'canDraw' | 'asksOnStderr'>): Promise<Prompter> {
  if (canDraw)
    return (await import('./prompter-drawn.ts')).drawnPrompter(
      asksOnStderr ? process.stderr : process.stdout,
    );
  return (await import('./prompter-plain.ts')).plainPrompter();
}
