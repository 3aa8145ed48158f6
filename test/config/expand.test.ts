import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServerEntry, ServerSpec } from '../../src/config/entry.ts';
import { expandEntry, expandText } from '../../src/config/expand.ts';
import { PlugboardError } from '../../src/errors.ts';

const PLACE = { server: 's', key: 'args' };

function spec(entry: ServerEntry): ServerSpec {
  return { name: 'docs', scope: 'user', entry, raw: {}, baseDir: '/base' };
}

function thrown(work: () => unknown): PlugboardError {
  try {
    work();
  } catch (error) {
    if (error instanceof PlugboardError) return error;
  }
  throw new Error('expected a PlugboardError');
}

describe('expandText: CFG-4', () => {
  it.each([
    ['${A}', 'one'],
    ['x-${A}-${B}', 'x-one-two'],
    ['${MISSING:-fall back}', 'fall back'],
    ['${EMPTY:-fallback}', 'fallback'],
    ['${EMPTY}', ''],
    ['${MISSING:-}', ''],
    ['${A:-other}', 'one'],
    ['$${A}', '${A}'],
    ['$$${A}', '$${A}'],
    ['$A $ {A} ${', '$A $ {A} ${'],
    ['${NESTED}', '${A}'],
    ['for f in *; do echo ${f%.*} ${f:0:3}; done', 'for f in *; do echo ${f%.*} ${f:0:3}; done'],
    ['${}', '${}'],
    ['${1}', '${1}'],
  ])('%s becomes %s', (text, expected) => {
    expect(expandText(text, { A: 'one', B: 'two', EMPTY: '', NESTED: '${A}' }, PLACE)).toBe(expected);
  });

  it.each(['__proto__', 'constructor', 'toString'])('%s is a variable like any other: not set', (name) => {
    expect(thrown(() => expandText(`\${${name}}`, {}, PLACE)).code).toBe('CONFIG_INVALID');
  });

  it('a text without references is itself; an escaped text is the text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const plain = text.replaceAll('${', '');
        expect(expandText(plain, {}, PLACE)).toBe(plain);
        expect(expandText(text.replaceAll('${', '$${'), {}, PLACE)).toBe(text);
      }),
    );
  });

  it('puts in exactly what the variable holds, once, and looks no further', () => {
    const tricky = fc.oneof(fc.string(), fc.constantFrom('${A}', '$${A}', '$&', '$1', '${A:-x}', "'", '\\'));
    fc.assert(
      fc.property(tricky, tricky, (value, around) => {
        const plain = around.replaceAll('$', '');
        expect(expandText(`${plain}\${A}${plain}\${A}`, { A: value }, PLACE)).toBe(
          `${plain}${value}${plain}${value}`,
        );
      }),
    );
  });
});

describe('expandEntry: CFG-4', () => {
  it('expands command, args, env and cwd of a process, and leaves the entry alone', () => {
    const entry = {
      command: '${BIN}',
      args: ['--port=${PORT:-80}', 'a'],
      env: { KEY: '${KEY}', constructor: 'x' },
      cwd: '${DIR}/x',
      enabled: true,
    };
    const before = structuredClone(entry);
    expect(expandEntry(spec(entry), { BIN: 'node', KEY: 'k', DIR: 'sub' })).toEqual({
      command: 'node',
      args: ['--port=80', 'a'],
      env: { KEY: 'k', constructor: 'x', PLUGBOARD_PROJECT_DIR: '/base' },
      cwd: '/base/sub/x',
      enabled: true,
    });
    expect(entry).toEqual(before);
  });

  it('expands url, headers and oauth of a remote server', () => {
    expect(
      expandEntry(
        spec({
          url: 'http://127.0.0.1:${PORT}/mcp',
          headers: { 'X-Key': 'Bearer ${KEY}' },
          oauth: { clientId: '${ID}', clientSecret: '${SECRET}', scopes: ['a'] },
        }),
        { PORT: '81', KEY: 'k', ID: 'i', SECRET: 's' },
      ),
    ).toEqual({
      url: 'http://127.0.0.1:81/mcp',
      headers: { 'X-Key': 'Bearer k' },
      oauth: { clientId: 'i', clientSecret: 's', scopes: ['a'] },
    });
  });

  it('a variable that is not set fails that server by name, with the name of the variable and what to do', () => {
    const error = thrown(() =>
      expandEntry(spec({ url: 'https://a/', headers: { 'X-Key': '${DOCS_KEY}' } }), {}),
    );
    expect(error.toJSON()).toEqual({
      code: 'CONFIG_INVALID',
      server: 'docs',
      message:
        'Server "docs" needs the environment variable DOCS_KEY (in "headers.X-Key"), and it is not set',
      hint: 'Set DOCS_KEY, or write ${input:docs-key} in its place and give createHost an "input" function.',
    });
    // F25: only what is not a secret gets the advice to write a default.
    expect(thrown(() => expandEntry(spec({ url: 'https://${REGION}.a/' }), {})).hint).toBe(
      'Set REGION, or write a default: ${REGION:-value}.',
    );
  });

  it('CFG-9: an answer takes the place of its question, and is not looked at again', () => {
    const entry = {
      command: 'x',
      args: ['--key=${input:key}'],
      env: { A: '${input:key}-${B}', C: '$${input:key}' },
    };
    expect(expandEntry(spec(entry), { B: 'b' }, new Map([['key', '${B}']]))).toEqual({
      command: 'x',
      args: ['--key=${B}'],
      env: { A: '${B}-b', C: '${input:key}' },
    });
  });

  it.each([
    [
      '${input:token}',
      'Server "docs" needs a value for ${input:token} (in "args"), which is not set',
      'Give createHost an "input" function that asks for it.',
    ],
    [
      '${env:TOKEN}',
      'Server "docs" uses ${env:TOKEN} (in "args"), which cannot be filled in',
      'Environment variables are written ${TOKEN}.',
    ],
  ])('%s is not taken for a variable', (text, message, hint) => {
    const error = thrown(() => expandEntry(spec({ command: 'x', args: [text] }), { 'input:token': 'x' }));
    expect(error.toJSON()).toEqual({ code: 'CONFIG_INVALID', server: 'docs', message, hint });
  });

  it.each([
    [{ url: '${BASE}/mcp' }, 'The "url" of server "docs" is not an http or https address'],
    [
      { url: 'http://a/', headers: { X: '${BASE}' } },
      'The header "X" of server "docs" has a line break in it',
    ],
  ])('A19: %j is checked again after expansion, and the value is not shown', (entry, message) => {
    const error = thrown(() => expandEntry(spec(entry), { BASE: 'javascript:secret\r\nX: y' }));
    expect({ code: error.code, message: error.message }).toEqual({ code: 'CONFIG_INVALID', message });
    expect(JSON.stringify(error)).not.toContain('secret');
  });
});
