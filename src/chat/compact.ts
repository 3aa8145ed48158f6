/** Summarizes a conversation that is too long for its model. */

import type { ModelMessage } from 'ai';
import type { OpenModel } from './chat-model.ts';
import { modelFailure } from './model-failure.ts';
import { importSdk } from './packages.ts';

export const DEFAULT_COMPACT_PROMPT: string = `Summarise this conversation for yourself, so that you can go on without it: what the person wants, what was
decided, what was done with which tools and with what result (names, paths, numbers), and what is still open.`;

export interface SummariseOptions {
  readonly model: OpenModel;
  readonly messages: readonly ModelMessage[];
  readonly prompt: string;
  readonly signal: AbortSignal;
}

export async function summarise({
  model,
  messages,
  prompt,
  signal,
}: SummariseOptions): Promise<ModelMessage[]> {
  const { generateText } = await importSdk();
  try {
    const { text } = await generateText({
      model: model.model,
      messages: [...messages, { role: 'user', content: prompt }],
      abortSignal: signal,
    });
    return [{ role: 'user', content: `What happened so far, summarised:\n\n${text}` }];
  } catch (thrown) {
    throw modelFailure(thrown, model.name);
  }
}
