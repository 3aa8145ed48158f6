/** Media by its bytes: wrong labels are corrected, and what an API would refuse becomes a file or a note. */

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type MessageSource, toAnthropic, toGemini, toMessages } from '../../src/adapters/index.ts';
import { adapterHost, PDF, PIXEL } from '../world/adapter-host.ts';

const MB = 1024 * 1024;
const base64 = (...bytes: (string | number[])[]): string =>
  Buffer.concat(
    bytes.map((part) => (typeof part === 'string' ? Buffer.from(part) : Uint8Array.from(part))),
  ).toString('base64');
const JPEG = base64([0xff, 0xd8, 0xff, 0xe0], 'JFIF');
const GIF = base64('GIF89a', [1, 0, 1, 0]);
const SVG = base64('<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>');
const WAV = base64('RIFF', [9, 0, 0, 0], 'WAVEfmt ');
const HEIF = base64([0, 0, 0, 24], 'ftypmif1');
/** A valid head with any number of bytes behind it. */
const pngOf = (chars: number): string => PIXEL.slice(0, 64).padEnd(chars, 'A');
const pngOfSize = (width: number, height: number): string => {
  const bytes = Buffer.from(PIXEL, 'base64');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes.toString('base64');
};
const jpegOfSize = (width: number, height: number): string =>
  base64(
    [0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 17, 8],
    [height >> 8, height & 255, width >> 8, width & 255, 3, 0, 0, 0, 0],
  );
const image = (mimeType: string, data: string): MessageSource => ({
  messages: [{ role: 'user', content: { type: 'image', data, mimeType } }],
});

it.each([
  ['JPEG labelled PNG', 'image/png', JPEG, 'image/jpeg'],
  ['PNG labelled WebP', 'image/webp', PIXEL, 'image/png'],
  ['GIF labelled PNG', 'image/png', GIF, 'image/gif'],
  ['a PDF labelled PNG', 'image/png', PDF, 'application/pdf'],
  ['PNG labelled as bytes', 'application/octet-stream', PIXEL, 'image/png'],
  ['JPEG without a label', '', JPEG, 'image/jpeg'],
  ['GIF labelled as any image', 'image/*', GIF, 'image/gif'],
  ['a label with parameters', 'Image/JPG; q=1', JPEG, 'image/jpeg'],
])('a wrong label is corrected: %s', (_what, label, data, type) => {
  const [message] = toMessages(image(label, data), 'anthropic');
  expect(message?.content).toMatchObject([{ source: { media_type: type, data } }]);
});

it.each([
  ['SVG labelled PNG', 'image/png', SVG, 'its bytes are image/svg+xml, which this model does not take'],
  ['text labelled PNG', 'image/png', base64('hello'), 'its bytes are not image/png'],
  ['text labelled PDF', 'application/pdf', base64('hello'), 'its bytes are not application/pdf'],
  ['no base64', 'image/png', '§§§§', 'its bytes are not image/png'],
  ['empty data', 'image/png', '', 'it is empty'],
  ['a large image', 'image/png', pngOf(5 * MB + 4), 'this model takes images of at most 5 MB in base64'],
  ['a long PNG', 'image/png', pngOfSize(1280, 8001), 'this model takes images of at most 8000 pixels a side'],
  [
    'a wide JPEG',
    'image/jpeg',
    jpegOfSize(9000, 10),
    'this model takes images of at most 8000 pixels a side',
  ],
])('media that the API rejects becomes a note with the reason: %s', (_what, label, data, why) => {
  const [message] = toMessages(image(label, data), 'anthropic');
  expect(message?.content).toEqual([
    {
      type: 'text',
      text: expect.stringMatching(/^\[\S+, -?\d+ bytes: cannot be shown to this model, because /),
    },
  ]);
  expect(JSON.stringify(message)).toContain(`because ${why}]`);
});

it('each family has its own types and limits, and two names of one container are the same', () => {
  const shown = (label: string, data: string): unknown =>
    toMessages(image(label, data), 'gemini')[0]?.parts[0];
  expect(shown('image/heic', HEIF)).toEqual({ inlineData: { mimeType: 'image/heic', data: HEIF } });
  expect(shown('audio/mpeg', WAV)).toEqual({ inlineData: { mimeType: 'audio/wav', data: WAV } });
  expect(shown('image/png', pngOf(6 * MB))).toHaveProperty('inlineData');
  expect(shown('image/png', pngOf(20 * MB + 4))).not.toHaveProperty('inlineData');
  expect(shown('image/png', GIF)).not.toHaveProperty('inlineData');
});

it('results: files keep the bytes, and all media of a result is limited together', async () => {
  const { host } = await adapterHost({
    tools: {
      mixed: () => ({
        content: [
          { type: 'image', data: JPEG, mimeType: 'image/png' },
          { type: 'image', data: SVG, mimeType: 'image/png' },
          { type: 'image', data: '', mimeType: 'image/png' },
          { type: 'resource', resource: { uri: 'x:y', mimeType: 'image/jpeg', blob: PIXEL } },
        ],
      }),
      two: () => ({
        content: [11, 11].map((size) => ({ type: 'image', data: pngOf(size * MB), mimeType: 'image/png' })),
      }),
    },
  });
  const call = { type: 'tool_use', id: 'a', input: {} } as const;
  const { content } = await toAnthropic(host).execute({ ...call, name: 'mcp__s__mixed' });
  const note = (content[1] as { text: string }).text;
  expect(content).toMatchObject([
    { type: 'image', source: { media_type: 'image/jpeg', data: JPEG } },
    { type: 'text' },
    { type: 'text', text: '[image (image/png) left out, because it is empty]' },
    { type: 'image', source: { media_type: 'image/png', data: PIXEL } },
  ]);
  const [, why, file = ''] = /left out, because (.*); saved as (.*)\]$/.exec(note) ?? [];
  expect(why).toBe('its bytes are image/svg+xml, which this model does not take');
  expect(file.endsWith('.svg') && readFileSync(file).toString('base64') === SVG).toBe(true);

  const { functionResponse } = await toGemini(host).execute({ name: 'mcp__s__two' });
  expect(functionResponse.parts).toHaveLength(1);
  expect(functionResponse.response).toEqual({
    output: expect.stringContaining('because this model takes at most 20 MB of media in base64; saved as'),
  });
  // Programs that do not name what their model takes get results as they are.
  expect((await host.call('mcp__s__mixed')).content[1]).toMatchObject({ type: 'image', data: SVG });
});

it('tools of the author are checked in the same way', async () => {
  const { host } = await adapterHost();
  const own = {
    execute: () => ({ content: [{ type: 'image', data: base64('hello'), mimeType: 'image/png' }] }),
  };
  const { content } = await toAnthropic(host, { tools: { own } }).execute({
    type: 'tool_use',
    id: 'a',
    name: 'own',
    input: {},
  });
  expect(content).toEqual([
    {
      type: 'text',
      text: '[image/png, 5 bytes: cannot be shown to this model, because its bytes are not image/png]',
    },
  ]);
});
