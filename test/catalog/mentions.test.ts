import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findMentions, MAX_ATTACHED_CHARS, MAX_ATTACHED_RESOURCES } from '../../src/catalog/mentions.ts';
import { contentServer, count, type Era, hostOver } from './content-host.ts';

const SERVERS = ['docs', 'docs:v2', 'my server'];

/** What is found, and the text that is left. */
const found = (text: string): readonly string[] =>
  findMentions(text, SERVERS).mentions.map(({ text: each }) => each);

describe('mentions', () => {
  it.each([
    ['several', '@docs:file:///a.md and @docs:b://c', ['@docs:file:///a.md', '@docs:b://c']],
    ['without the end of the sentence', 'See @docs:file:///a.md.', ['@docs:file:///a.md']],
    ['without an ellipsis', 'Hm, @docs:file:///a.md...', ['@docs:file:///a.md']],
    ['in brackets', '(see @docs:file:///a.md), [@docs:b://c]', ['@docs:file:///a.md', '@docs:b://c']],
    ['with brackets of their own', '@docs:w://Mercury_(planet)', ['@docs:w://Mercury_(planet)']],
    ['in quotes and backticks', '"@docs:a://b" `@docs:c://d`', ['@docs:a://b', '@docs:c://d']],
    ['with query and fragment', '@docs:https://x.y/z?a=1&b=@c#d!', ['@docs:https://x.y/z?a=1&b=@c#d']],
    ['with any scheme of a known server', '@docs:note:1', ['@docs:note:1']],
    [
      'of servers with spaces and colons',
      '@my server:a://b @docs:v2:a://b',
      ['@my server:a://b', '@docs:v2:a://b'],
    ],
    ['of servers that nobody knows', '@x:y://z', ['@x:y://z']],
    ['right behind text that has no spaces', '看@docs:a://b。', ['@docs:a://b']],
    ['not in addresses', 'mail me@docs:file:///a.md or a.b+c@docs.com', []],
    ['not people, packages and decorators', '@docs @docs: @scope/pkg:1 @x:y @Input() a@b', []],
    ['not a bare scheme', '@docs:file: @docs:x:.', []],
    ['not when escaped', 'literally \\@docs:file:///a.md', []],
  ])('CAT-9: %s', (_, text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  it('CAT-9: an escaped one stays as a plain @; other backslashes stay as they are', () => {
    expect(findMentions('\\@docs:a://b \\@x:y://z \\@home C:\\@docs', SERVERS)).toEqual({
      text: '@docs:a://b @x:y://z \\@home C:\\@docs',
      mentions: [],
    });
  });

  it('every mention is in the text at the reported place, for any text', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '@',
        '\\@',
        'docs:',
        'docs:v2:',
        'a://',
        'b',
        ' ',
        '.',
        ')',
        '(',
        'é',
        '\u{1f600}',
        'my server:',
      ),
      fc.string({ maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join('');
        const { text: left, mentions } = findMentions(text, SERVERS);
        for (const { server, uri, text: written } of mentions) {
          expect(written).toBe(`@${server}:${uri}`);
          expect(left).toContain(written);
        }
        if (!text.includes('\\')) expect(left).toBe(text);
      }),
    );
  });

  it('A18: text made to be slow is not', () => {
    const evil = [
      '@docs:a:'.repeat(100_000),
      `@docs:a://${')'.repeat(500_000)}`,
      '@x:'.repeat(200_000),
      '@'.repeat(500_000),
    ];
    for (const text of evil) expect(findMentions(text, SERVERS).text).toBe(text);
  });
});

describe.each<Era>(['legacy', 'modern'])('expand with a %s server', (era) => {
  const user = (content: object): object => ({ role: 'user', content });
  const attached = (uri: string, text: string): object =>
    user({ type: 'resource', resource: { uri, mimeType: 'text/plain', text } });

  it('CAT-9: gives the text and each resource once, and reports what leads nowhere', async () => {
    const docs = contentServer({ era, files: { 'file:///a.md': 'A', 'x://b': 'B' } });
    const { host, complaints } = await hostOver({ docs });
    const text = 'look at @docs:file:///a.md, @docs:x://b, @docs:file:///a.md, @docs:x://no and @y:z://w.';
    expect(await host.expand(text)).toEqual({
      messages: [user({ type: 'text', text }), attached('file:///a.md', 'A'), attached('x://b', 'B')],
      unknown: ['@docs:x://no', '@y:z://w'],
    });
    expect(count(docs, 'resources/read')).toBe(3);
    expect(complaints).toEqual([
      'docs: x://no was not attached: docs has no resource "x://no": No x://no here',
    ]);
  });

  it('CAT-9: text without mentions stays as it is and causes no request', async () => {
    const docs = contentServer({ era });
    const { host } = await hostOver({ docs }, { connect: 'none' });
    expect(await host.expand('mail me@docs.com, \\@docs:x://y')).toEqual({
      messages: [user({ type: 'text', text: 'mail me@docs.com, @docs:x://y' })],
      unknown: [],
    });
    expect(docs.connections).toBe(0);
  });
});

describe('attachments', () => {
  it('are bounded in number', async () => {
    const uris = Array.from({ length: MAX_ATTACHED_RESOURCES + 2 }, (_, at) => `x://${at}`);
    const docs = contentServer({ files: Object.fromEntries(uris.map((uri) => [uri, 'x'])) });
    const { host } = await hostOver({ docs });
    const { messages, unknown } = await host.expand(uris.map((uri) => `@docs:${uri}`).join(' '));
    expect(count(docs, 'resources/read')).toBe(MAX_ATTACHED_RESOURCES);
    expect(unknown).toEqual([]);
    expect(messages.at(-1)?.content).toEqual({
      type: 'text',
      text: `[@docs:x://32, @docs:x://33 not attached: at most ${MAX_ATTACHED_RESOURCES} at once]`,
    });
  });

  it('are bounded in size: text is cut and bytes are left out, with a notice', async () => {
    const files = {
      'x://a': 'a'.repeat(MAX_ATTACHED_CHARS - 4),
      'x://b': 'bbbbbbbb',
      'x://c': [{ uri: 'x://c', blob: 'AAAA' }],
    };
    const { host } = await hostOver({ docs: contentServer({ files }) });
    const { messages } = await host.expand('@docs:x://a @docs:x://b @docs:x://c');
    const limit = `attachments may have ${MAX_ATTACHED_CHARS} characters together`;
    expect(messages.slice(2).map(({ content }) => content)).toEqual([
      {
        type: 'resource',
        resource: {
          uri: 'x://b',
          mimeType: 'text/plain',
          text: `bbbb\n[Cut after 4 of 8 characters: ${limit}.]`,
        },
      },
      { type: 'text', text: `[@docs:x://c (4 characters) not attached: ${limit}]` },
    ]);
  });

  it('A10: a server that is off is not contacted, and its mention is reported', async () => {
    const off = contentServer({ files: { 'x://a': 'A' } });
    const { host } = await hostOver({ off }, { servers: { off: { command: 'scripted', enabled: false } } });
    expect((await host.expand('@off:x://a')).unknown).toEqual(['@off:x://a']);
    expect(off.received).toEqual([]);
  });

  it('an abort ends the reading and rejects', async () => {
    const docs = contentServer();
    docs.on(
      'resources/read',
      ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
    );
    const { host } = await hostOver({ docs });
    const controller = new AbortController();
    const expansion = host
      .expand('@docs:x://a', { signal: controller.signal })
      .catch((error: unknown) => error);
    await docs.seen('resources/read');
    controller.abort();
    expect(await expansion).toMatchObject({ code: 'CANCELLED', server: 'docs' });
  });
});
