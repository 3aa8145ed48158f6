/** Prompts drawn in place by the prompt library. */

import * as prompts from '@clack/prompts';
import { type Answer, CANCELLED, type Prompter } from './prompter.ts';

/** `output`: the stream to draw on. */
export function drawnPrompter(output: NodeJS.WriteStream): Prompter {
  const until = (signal: AbortSignal | undefined): { output: NodeJS.WriteStream; signal?: AbortSignal } => ({
    output,
    ...(signal === undefined ? {} : { signal }),
  });
  return {
    async confirm({ message, initial = true, signal }) {
      return given(await prompts.confirm({ message, initialValue: initial, ...until(signal) }));
    },
    async text({ message, initial, fault, signal }) {
      const answer = await prompts.text({
        message,
        ...(initial === undefined ? {} : { initialValue: initial }),
        ...(fault === undefined ? {} : { validate: (value = '') => fault(value) }),
        ...until(signal),
      });
      return given(answer ?? '');
    },
    async secret({ message, signal }) {
      return given((await prompts.password({ message, ...until(signal) })) ?? '');
    },
    async choice<T extends string>({ message, choices, initial, signal }: Parameters<Prompter['choice']>[0]) {
      const answer = await prompts.select<string>({
        message,
        options: [...choices],
        ...(initial === undefined ? {} : { initialValue: initial }),
        ...until(signal),
      });
      return given(answer) as Answer<T>;
    },
    async choices<T extends string>({
      message,
      choices,
      initial,
      required,
      signal,
    }: Parameters<Prompter['choices']>[0]) {
      const answer = await prompts.multiselect<string>({
        message,
        options: [...choices],
        required,
        ...(initial === undefined ? {} : { initialValues: initial }),
        ...until(signal),
      });
      return given(answer) as Answer<readonly T[]>;
    },
  };
}

function given<T>(answer: T): Answer<Exclude<T, symbol>> {
  return prompts.isCancel(answer) ? CANCELLED : (answer as Exclude<T, symbol>);
}
