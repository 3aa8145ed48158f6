/** Prompts and resources as messages of providers, which their packages' types accept. */

import type Anthropic from '@anthropic-ai/sdk';
import type { ModelMessage } from 'ai';
import type OpenAI from 'openai';
import { expect, it } from 'vitest';
import { type MessageSource, toMessages } from '../../src/adapters/index.ts';
import { PDF, PIXEL } from '../world/adapter-host.ts';

const PROMPT: MessageSource = {
  messages: [
    { role: 'user', content: { type: 'text', text: 'Look.' } },
    { role: 'user', content: { type: 'image', data: PIXEL, mimeType: 'image/png' } },
    { role: 'user', content: { type: 'image', data: PIXEL, mimeType: 'image/bmp' } },
    { role: 'assistant', content: { type: 'text', text: 'I see.' } },
  ],
};
const RESOURCE: MessageSource = {
  contents: [
    { uri: 'file:///a.md', text: 'a' },
    { uri: 'file:///b.pdf', mimeType: 'application/pdf', blob: PDF },
  ],
};
const BMP = '[image/bmp, 70 bytes: cannot be shown to this model]';
const A = '[resource file:///a.md]\na';

it('writes messages for the AI SDK', () => {
  const messages: ModelMessage[] = toMessages(PROMPT, 'ai-sdk');
  expect(messages).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
    { role: 'user', content: [{ type: 'image', image: PIXEL, mediaType: 'image/png' }] },
    { role: 'user', content: [{ type: 'text', text: BMP }] },
    { role: 'assistant', content: 'I see.' },
  ]);
});

it('writes messages for Anthropic', () => {
  const messages: Anthropic.MessageParam[] = toMessages(RESOURCE, 'anthropic');
  const source = { type: 'base64', media_type: 'application/pdf', data: PDF };
  expect(messages).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: A },
        { type: 'document', source },
      ],
    },
  ]);
  expect(toMessages(PROMPT, 'anthropic').at(-1)).toEqual({
    role: 'assistant',
    content: [{ type: 'text', text: 'I see.' }],
  });
});

it('writes messages for both APIs of OpenAI', () => {
  const items: OpenAI.Responses.ResponseInput = toMessages(RESOURCE, 'openai-responses');
  const url = `data:application/pdf;base64,${PDF}`;
  expect(items).toEqual([
    {
      role: 'user',
      content: [
        { type: 'input_text', text: A },
        { type: 'input_file', filename: 'b.pdf', file_data: url },
      ],
    },
  ]);
  const messages: OpenAI.ChatCompletionMessageParam[] = toMessages(PROMPT, 'openai-chat');
  expect(messages[1]).toEqual({
    role: 'user',
    content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } }],
  });
});

it('writes contents for Gemini', () => {
  expect(toMessages(RESOURCE, 'gemini')).toEqual([
    { role: 'user', parts: [{ text: A }, { inlineData: { mimeType: 'application/pdf', data: PDF } }] },
  ]);
  expect(toMessages(PROMPT, 'gemini').at(-1)).toEqual({ role: 'model', parts: [{ text: 'I see.' }] });
});
