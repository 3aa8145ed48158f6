/** Answers `sampling/createMessage` with the person's own model. */

import type { ModelMessage } from 'ai';
import type { SampleRequest } from '../connection/questions.ts';
import { isRecord } from '../lib/json.ts';
import type { OpenModel } from './chat-model.ts';
import { importSdk } from './chat-model.ts';
import { modelFailure } from './model-failure.ts';

/** The protocol's create-message result. */
export interface Sampled {
  readonly role: 'assistant';
  readonly content: { readonly type: 'text'; readonly text: string };
  readonly model: string;
  readonly stopReason: 'endTurn' | 'maxTokens';
}

export async function sampleWith(model: OpenModel, { params, signal }: SampleRequest): Promise<Sampled> {
  const { generateText } = await importSdk();
  const { systemPrompt, maxTokens, temperature, stopSequences } = params;
  try {
    const { text, finishReason } = await generateText({
      model: model.model,
      messages: messagesOf(params['messages']),
      ...(typeof systemPrompt === 'string' ? { system: systemPrompt } : {}),
      ...(typeof maxTokens === 'number' ? { maxOutputTokens: maxTokens } : {}),
      ...(typeof temperature === 'number' ? { temperature } : {}),
      ...(Array.isArray(stopSequences) ? { stopSequences: stopSequences.map(String) } : {}),
      ...(signal === undefined ? {} : { abortSignal: signal }),
    });
    const stopReason = finishReason === 'length' ? 'maxTokens' : 'endTurn';
    return { role: 'assistant', content: { type: 'text', text }, model: model.name, stopReason };
  } catch (thrown) {
    throw modelFailure(thrown, model.name);
  }
}

/** Converts messages with one or several blocks; a block that cannot be sent is replaced by its type. */
function messagesOf(messages: unknown): ModelMessage[] {
  return (Array.isArray(messages) ? messages : []).filter(isRecord).map(({ role, content }): ModelMessage => {
    const blocks = (Array.isArray(content) ? content : [content]).filter(isRecord);
    if (role === 'assistant') return { role, content: blocks.map(textOf).join('\n') };
    return {
      role: 'user',
      content: blocks.map((block) =>
        block['type'] === 'image'
          ? { type: 'image', image: String(block['data']), mediaType: String(block['mimeType']) }
          : { type: 'text', text: textOf(block) },
      ),
    };
  });
}

function textOf(block: Record<string, unknown>): string {
  return block['type'] === 'text' ? String(block['text']) : `[${String(block['type'])}]`;
}
