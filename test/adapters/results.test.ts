/** What becomes of text, images, files, structure, silence and errors at each provider. */

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { adapterHost, PDF, PIXEL } from '../world/adapter-host.ts';
import { text } from '../world/content.ts';
import { CALLERS, type Caller } from './callers.ts';

const PNG = `data:image/png;base64,${PIXEL}`;
const PDF_URL = `data:application/pdf;base64,${PDF}`;
const left = (what: string, type: string): string =>
  `[${what} (${type}, 8 bytes) left out, because this model does not take ${type}; saved as FILE]`;
const PDF_NOTE = left('resource file:///a.pdf', 'application/pdf');
const WAV_NOTE = left('audio', 'audio/wav');
const PIXEL_NOTE =
  '[image (image/png, 70 bytes) left out, because this model does not take image/png; saved as FILE]';
const LINK = '[resource b.md at file:///b.md]';
const EMBEDDED = '[resource file:///c.md]\nc';
const REST = [LINK, EMBEDDED];
const NOTHING = '[the tool answered with nothing]';

const inputText = (value: string): { type: 'input_text'; text: string } => ({
  type: 'input_text',
  text: value,
});
const lines = (...values: string[]): string => values.join('\n');

async function answers(provider: string): Promise<unknown[]> {
  const { host } = await adapterHost();
  const caller = CALLERS[provider]?.(host) as Caller;
  const names = ['picture', 'paper', 'silent', 'structured', 'broken'];
  return Promise.all(names.map(async (name) => withoutPaths(await caller.call(`mcp__s__${name}`, {}))));
}

/** With FILE in place of paths, whose files have to have the bytes. */
function withoutPaths(answer: unknown): unknown {
  const json = JSON.stringify(answer).replaceAll(/saved as ([^\]]+)\]/g, (_note, path: string) => {
    expect(readFileSync(path).length).toBeGreaterThan(0);
    return 'saved as FILE]';
  });
  return JSON.parse(json);
}

it('AI SDK: images and files as data, errors as error text', async () => {
  expect(await answers('AI SDK')).toEqual([
    {
      type: 'content',
      value: [text('a pixel'), { type: 'image-data', data: PIXEL, mediaType: 'image/png' }],
    },
    {
      type: 'content',
      value: [
        { type: 'file-data', data: PDF, mediaType: 'application/pdf' },
        text(WAV_NOTE),
        ...REST.map(text),
      ],
    },
    { type: 'text', value: NOTHING },
    { type: 'text', value: '{"answer":42}' },
    { type: 'error-text', value: 'Error: the disk is full' },
  ]);
});

it('OpenAI Responses: images and PDFs as input parts', async () => {
  const output = (value: unknown): unknown => ({
    type: 'function_call_output',
    call_id: 'call_1',
    output: value,
  });
  expect(await answers('OpenAI Responses')).toEqual([
    output([inputText('a pixel'), { type: 'input_image', image_url: PNG, detail: 'auto' }]),
    output([
      { type: 'input_file', filename: 'a.pdf', file_data: PDF_URL },
      inputText(WAV_NOTE),
      ...REST.map(inputText),
    ]),
    output(NOTHING),
    output('{"answer":42}'),
    output('Error: the disk is full'),
  ]);
});

it('OpenAI Chat Completions: text in the tool message, images in one that follows', async () => {
  const message = (content: string): unknown => ({ role: 'tool', tool_call_id: 'call_1', content });
  expect(await answers('OpenAI Chat Completions')).toEqual([
    [
      message('a pixel\n[image/png: in the message that follows]'),
      {
        role: 'user',
        content: [
          text('[shown by mcp__s__picture, call call_1]'),
          { type: 'image_url', image_url: { url: PNG } },
        ],
      },
    ],
    [message(lines(PDF_NOTE, WAV_NOTE, ...REST))],
    [message(NOTHING)],
    [message('{"answer":42}')],
    [message('Error: the disk is full')],
  ]);
});

it('Anthropic: images and PDFs as sources, errors flagged', async () => {
  const result = (...content: unknown[]): unknown => ({
    type: 'tool_result',
    tool_use_id: 'call_1',
    content,
  });
  const source = (type: string, data: string): unknown => ({ type: 'base64', media_type: type, data });
  expect(await answers('Anthropic')).toEqual([
    result(text('a pixel'), { type: 'image', source: source('image/png', PIXEL) }),
    result({ type: 'document', source: source('application/pdf', PDF) }, text(WAV_NOTE), ...REST.map(text)),
    result(text(NOTHING)),
    result(text('{"answer":42}')),
    { ...(result(text('the disk is full')) as object), is_error: true },
  ]);
});

it('Gemini: output and error apart, bytes as parts', async () => {
  const response = (name: string, rest: object): unknown => ({
    functionResponse: { id: 'call_1', name: `mcp__s__${name}`, ...rest },
  });
  const inline = (mimeType: string, data: string): unknown => ({ inlineData: { mimeType, data } });
  expect(await answers('Gemini')).toEqual([
    response('picture', { response: { output: 'a pixel' }, parts: [inline('image/png', PIXEL)] }),
    response('paper', {
      response: { output: lines(WAV_NOTE, ...REST) },
      parts: [inline('application/pdf', PDF)],
    }),
    response('silent', { response: { output: NOTHING } }),
    response('structured', { response: { output: { answer: 42 } } }),
    response('broken', { response: { error: 'the disk is full' } }),
  ]);
});

it('LangChain: a tool message with the whole answer as its artifact', async () => {
  const messages = await answers('LangChain');
  expect(messages).toMatchObject([
    { status: 'success', content: lines('a pixel', PIXEL_NOTE) },
    { status: 'success', content: lines(PDF_NOTE, WAV_NOTE, ...REST) },
    { status: 'success', content: NOTHING },
    { status: 'success', content: '{"answer":42}' },
    {
      role: 'tool',
      name: 'mcp__s__broken',
      tool_call_id: 'call_1',
      status: 'error',
      content: 'Error: the disk is full',
      artifact: { content: [text('the disk is full')], isError: true },
    },
  ]);
});

it('pi: text and images, with the whole answer as details', async () => {
  const content = (await answers('pi')).map((answer) => (answer as { content: unknown }).content);
  expect(content).toEqual([
    [text('a pixel'), { type: 'image', data: PIXEL, mimeType: 'image/png' }],
    [PDF_NOTE, WAV_NOTE, ...REST].map(text),
    [text(NOTHING)],
    [text('{"answer":42}')],
    [text('Error: the disk is full')],
  ]);
});
