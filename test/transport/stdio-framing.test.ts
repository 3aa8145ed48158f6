import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameDecoder, type FrameSink } from '../../src/transport/framing.ts';
import { nestsDeeperThan, recoverId } from '../../src/transport/framing-rescue.ts';

type Event = ['message', unknown] | ['lost', unknown, string] | ['noise', string] | ['endless', string];

function decode(chunks: readonly Buffer[], maxLineBytes?: number): Event[] {
  const events: Event[] = [];
  const sink: FrameSink = {
    message: (message) => events.push(['message', message]),
    lost: (id, error) => events.push(['lost', id, error.code]),
    noise: (line) => events.push(['noise', line]),
    endless: (error) => events.push(['endless', error.code]),
  };
  const decoder = new FrameDecoder(sink, maxLineBytes);
  for (const chunk of chunks) decoder.push(chunk);
  decoder.end();
  return events;
}

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let from = 0;
  for (const size of sizes) {
    chunks.push(bytes.subarray(from, from + size));
    from += size;
  }
  return [...chunks, bytes.subarray(from)];
}

const anyFrame = fc.record({ jsonrpc: fc.constant('2.0'), id: fc.integer(), result: fc.jsonValue() });

describe('the frame decoder', () => {
  // Protocol: 25-transports-1, 26-transports-1
  it('F13: delivers the same frames however the bytes are cut and the lines end', () => {
    const property = fc.property(
      fc.array(anyFrame, { maxLength: 20 }),
      fc.constantFrom('\n', '\r\n', '\n\n'),
      fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 60 }),
      (frames, end, sizes) => {
        const bytes = Buffer.from(frames.map((frame) => JSON.stringify(frame) + end).join(''));
        const expected = frames.map((frame) => ['message', JSON.parse(JSON.stringify(frame))]);
        expect(decode(cut(bytes, sizes))).toEqual(expected);
      },
    );
    fc.assert(property, { numRuns: 300 });
  });

  it('F11: a message over the limit is reported by its id and its neighbours arrive, however the bytes are split', () => {
    const property = fc.property(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 400 }), fc.boolean()), { maxLength: 10 }),
      fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 20 }),
      (lines, sizes) => {
        const cap = 200;
        const frames = lines.map(([size, first], id) => {
          const text = 'x'.repeat(size);
          return first ? { jsonrpc: '2.0', id, result: text } : { result: text, jsonrpc: '2.0', id };
        });
        const bytes = Buffer.from(frames.map((frame) => `${JSON.stringify(frame)}\n`).join(''));
        const expected = frames.map((frame) =>
          JSON.stringify(frame).length <= cap ? ['message', frame] : ['lost', frame.id, 'LIMIT_EXCEEDED'],
        );
        expect(decode(cut(bytes, sizes), cap)).toEqual(expected);
      },
    );
    fc.assert(property, { numRuns: 300 });
  });

  it('F13: joins long lines from pieces of any size, with characters that pieces split', () => {
    const kilobyte = 1024;
    for (const [bytes, sizes] of [
      [200 * kilobyte, [7]],
      [200 * kilobyte, [1, 20 * kilobyte, 3, 40 * kilobyte]],
      [300 * kilobyte, [64 * kilobyte]],
      [9 * 1024 * kilobyte, [64 * kilobyte, 100]],
      [9 * 1024 * kilobyte, [8 * 1024 * kilobyte]],
    ] as const) {
      for (const part of ['ab\\n', 'aé€😀']) {
        const text = part.repeat(bytes / Buffer.byteLength(part));
        const frames = [{ id: 1, text }, { id: 2 }, { id: 3, text: 'short' }];
        const all = Buffer.from(frames.map((frame) => `${JSON.stringify(frame)}\n`).join(''));
        const cuts: number[] = [];
        for (let left = all.length; left > 0; left -= cuts.at(-1) ?? 0)
          cuts.push(sizes[cuts.length % sizes.length] ?? 1);
        expect(decode(cut(all, cuts))).toEqual(frames.map((frame) => ['message', frame]));
      }
    }
  });

  it('F14: no bytes at all make it throw', () => {
    const property = fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 10 }),
      (bytes, sizes) => {
        expect(Array.isArray(decode(cut(Buffer.from(bytes), sizes), 50))).toBe(true);
      },
    );
    fc.assert(property, { numRuns: 300 });
  });

  it('F12: a line without end is given up at four times the cap, and nothing after it is read', () => {
    const chunks = Array.from({ length: 10 }, () => Buffer.from('x'.repeat(50)));
    expect(decode([...chunks, Buffer.from('\n{"id":1}\n')], 100)).toEqual([['endless', 'LIMIT_EXCEEDED']]);
  });

  it('stops in the middle of a chunk', () => {
    const seen: unknown[] = [];
    const decoder: FrameDecoder = new FrameDecoder({
      message: (message) => {
        seen.push(message);
        decoder.stop();
      },
      lost: (id) => seen.push(id),
      noise: (line) => seen.push(line),
      endless: (error) => seen.push(error),
    });
    decoder.push(Buffer.from('{"id":1}\n{"id":2}\n{"id'));
    decoder.push(Buffer.from('":3}\n'));
    expect(seen).toEqual([{ id: 1 }]);
  });
});

describe('the depth of a frame', () => {
  it('F15: brackets count outside of strings only', () => {
    expect(nestsDeeperThan('[[[1]]]', 2)).toBe(true);
    expect(nestsDeeperThan('[[1],[2],{"a":{}}]', 3)).toBe(false);
    expect(nestsDeeperThan('["[[[[\\"[[[[", "\\\\", [1]]', 2)).toBe(false);
    expect(nestsDeeperThan('["never closed [[[[', 2)).toBe(false);
  });

  it('F15: never calls deep what is not, whatever the strings hold', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;
    const property = fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      const depth = depthOf(value);
      expect(nestsDeeperThan(text, depth)).toBe(false);
      if (depth > 0) expect(nestsDeeperThan(text, depth - 1)).toBe(true);
    });
    fc.assert(property, { numRuns: 300 });
  });
});

describe('the id of a frame that was not kept', () => {
  it.each([
    ['at the beginning', '{"jsonrpc":"2.0","id":7,"result":{"id":8,"text":"xx', 'xx"}}', 7],
    ['a string with quotes', '{"id":"a\\"b","result":"xx', 'xx"}', 'a"b'],
    ['at the end', '{"jsonrpc":"2.0","result":{"id":8,"text":"xx', 'xx"},"id":-7}', -7],
    ['at the end, before the version', '{"result":"xx', 'xx","id":7,"jsonrpc":"2.0"}\r', 7],
    ['deeper only', '{"jsonrpc":"2.0","result":{"id":8,"text":"xx', 'xx","id":9}}', undefined],
    ['inside a text only', '{"result":"{\\"id\\":8', 'xx', undefined],
    [
      "of a server's own request",
      '{"id":7,"method":"sampling/createMessage","params":{"x":"',
      'xx"}}',
      undefined,
    ],
    ['null', '{"id":null,"error":{"message":"xx', 'xx"}}', undefined],
    ['in a batch', '[{"id":7,"result":"xx', 'xx"}]', undefined],
  ])('%s', (_where, head, tail, id) => {
    expect(recoverId(head, tail)).toBe(id);
  });
});
