import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { acceptCallResult, type ContentBlock } from '../../src/catalog/accept-result.ts';
import { text } from '../world/content.ts';

// Protocol: 25-tools-18c, 26-tools-36c
describe('F57: acceptCallResult', () => {
  // Protocol: 25-base-23, 25-tools-18c, 26-base-45, 26-tools-36c
  it('leaves a good result as it is', () => {
    const result = {
      content: [
        text('a'),
        { type: 'image', data: 'aGk=', mimeType: 'image/png', annotations: { audience: ['user'] } },
        { type: 'audio', data: '', mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'a://b', text: 'x', mimeType: 'text/plain' }, _meta: { k: 1 } },
        { type: 'resource', resource: { uri: 'a://b', blob: 'aGk=' } },
        { type: 'resource_link', uri: 'a://c', name: 'c', size: 3 },
      ],
      structuredContent: { a: 1 },
      isError: false,
      _meta: { m: 1 },
    };
    expect(acceptCallResult({ ...result, resultType: 'complete' })).toEqual({ result, warnings: [] });
  });

  it.each([
    ['null', null, { content: [], isError: false }, ['the result is null, not an object']],
    ['a string', 'hi', { content: [text('hi')], isError: false }, ['the result is a string, not an object']],
    ['content null', { content: null }, { content: [], isError: false }, ['content is null: taken as empty']],
    [
      'content missing beside data',
      { structuredContent: { a: 1 } },
      { content: [text('{"a":1}')], structuredContent: { a: 1 }, isError: false },
      ['content is missing: taken as empty'],
    ],
    [
      'content as a string',
      { content: 'hi' },
      { content: [text('hi')], isError: false },
      ['content is a string, not a list: taken as its only block'],
    ],
    [
      'content as one block',
      { content: text('hi') },
      { content: [text('hi')], isError: false },
      ['content is an object, not a list: taken as its only block'],
    ],
    ['toolResult of 2024-10-07', { toolResult: 5 }, { content: [text('5')], isError: false }, []],
    [
      'F59: is_error',
      { content: [], is_error: true },
      { content: [], isError: true },
      ['is_error is taken as isError'],
    ],
    [
      'isError null',
      { content: [], isError: null },
      { content: [], isError: false },
      ['isError is null: taken as false'],
    ],
    [
      'isError as text',
      { content: [], isError: 'true' },
      { content: [], isError: true },
      ['isError is a string: taken as true'],
    ],
    [
      'structuredContent null',
      { content: [], structuredContent: null },
      { content: [], isError: false },
      ['structuredContent is null: left out'],
    ],
    [
      'structuredContent as a list',
      { content: [], structuredContent: [1] },
      { content: [], structuredContent: [1], isError: false },
      ['structuredContent is an array'],
    ],
    [
      '_meta null',
      { content: [], _meta: null },
      { content: [], isError: false },
      ['_meta is null: left out'],
    ],
  ])('reads a result with %s', (_, raw, result, warnings) => {
    expect(acceptCallResult(raw)).toEqual({ result, warnings });
  });

  it.each([
    ['null', null, text('null'), 'a content block is null: taken as text'],
    ['a string', 'hi', text('hi'), 'a content block is a string: taken as text'],
    [
      'of an unknown type',
      { type: 'video', x: 1 },
      { ...text('{"type":"video","x":1}'), original: { type: 'video', x: 1 } },
      'a content block of type "video" is not understood: kept as JSON text',
    ],
    [
      'without type',
      { text: 'x' },
      text('{"text":"x"}'),
      'a content block of type undefined is not understood: kept as JSON text',
    ],
    ['a text of null', { type: 'text', text: null }, text('null'), 'the text of a block is null'],
    ['a text without text', { type: 'text' }, text(''), 'the text of a block is missing'],
    [
      'an image of bad base64',
      { type: 'image', data: '%%%', mimeType: 'image/png' },
      text('[image left out: the server sent data that is not base64]'),
      'the data of an image is not base64: left out',
    ],
    [
      'an image without type',
      { type: 'image', data: 'aGk=' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      'mimeType of an image block is missing: taken as image/png',
    ],
    [
      'a resource of bad base64',
      { type: 'resource', resource: { uri: 'a://b', blob: '*' } },
      {
        type: 'resource',
        resource: { uri: 'a://b', text: '[left out: the server sent data that is not base64]' },
      },
      'the blob of a resource is not base64: left out',
    ],
    [
      'a resource without contents',
      { type: 'resource', resource: { uri: 'a' } },
      text('{"type":"resource","resource":{"uri":"a"}}'),
      'a content block of type "resource" is not understood: kept as JSON text',
    ],
  ])('reads a block that is %s', (_, raw, block, warning) => {
    expect(acceptCallResult({ content: [raw] })).toEqual({
      result: { content: [block], isError: false },
      warnings: [warning],
    });
  });

  it.each([
    ['a data URL', 'data:image/png;base64,aGk=', 'aGk='],
    ['lines', 'aG\r\nk=\n', 'aGk='],
    ['the URL-safe alphabet', '-_-_', '+/+/'],
    ['missing padding', 'aGk', 'aGk='],
  ])('repairs base64 with %s', (_, data, repaired) => {
    const { result } = acceptCallResult({ content: [{ type: 'image', data, mimeType: 'image/png' }] });
    expect(result.content).toEqual([{ type: 'image', data: repaired, mimeType: 'image/png' }]);
  });

  it('bounds its warnings, and survives what cannot be serialised', () => {
    let deep: unknown = 1;
    for (let i = 0; i < 50_000; i++) deep = [deep];
    const { result, warnings } = acceptCallResult({
      content: [{ type: 'x', deep }, ...new Array(1_000).fill(null)],
    });
    expect(result.content[0]).toEqual(text('[left out: nested too deep]'));
    expect(result.content).toHaveLength(1_001);
    expect(warnings).toHaveLength(20);
  });

  it('never throws, and what it gives is accepted again unchanged', () => {
    const block = fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          type: fc.constantFrom('text', 'image', 'audio', 'resource', 'resource_link', 'tool_use'),
          text: fc.jsonValue(),
          data: fc.oneof(fc.jsonValue(), fc.base64String()),
          mimeType: fc.jsonValue(),
          resource: fc.oneof(
            fc.jsonValue(),
            fc.record({ uri: fc.string(), text: fc.jsonValue(), blob: fc.jsonValue() }),
          ),
          uri: fc.jsonValue(),
          annotations: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
    );
    const raw = fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          content: fc.oneof(fc.jsonValue(), fc.array(block)),
          isError: fc.jsonValue(),
          structuredContent: fc.jsonValue(),
          _meta: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(raw, (value) => {
        const { extra, ...result } = acceptCallResult(value).result;
        const content = result.content.map(withoutOriginal);
        const again = acceptCallResult({ ...extra, ...result, content });
        expect(again.result).toEqual({ ...result, content, ...(extra === undefined ? {} : { extra }) });
        expect(again.warnings.filter((warning) => !warning.startsWith('structuredContent'))).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** A block of an unknown type is only text when it is read a second time. */
function withoutOriginal(block: ContentBlock): ContentBlock {
  if (block.type !== 'text') return block;
  const { original: _original, ...rest } = block;
  return rest;
}
