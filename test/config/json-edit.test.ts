import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EditError, editJson } from '../../src/config/json-edit.ts';
import { jsonOf, parseJsonc, propertyOf } from '../../src/config/jsonc.ts';

/** The text of an example: without the first line break and the indentation of the test. */
function example(text: string): string {
  return text.replace(/^\n/, '').replace(/^ {6}/gm, '').trimEnd().concat('\n');
}

describe('editJson: CFG-5, edits keep comments, order and unknown keys', () => {
  const file = example(`
      // servers of the team
      {
        "mcpServers": {
          // reads files
          "files": {
            "command": "npx", // from npm
            "args": ["-y", "files"]
          }, // keep
          // the docs
          "docs": { "url": "https://example.com/mcp" } // slow
          // more to come
        },
        "x-note": 1e2
      }`);

  it('adds a key after the comments of the last one', () => {
    expect(editJson(file, ['mcpServers', 'new'], { command: 'run', args: ['a', 'b'] })).toBe(
      example(`
      // servers of the team
      {
        "mcpServers": {
          // reads files
          "files": {
            "command": "npx", // from npm
            "args": ["-y", "files"]
          }, // keep
          // the docs
          "docs": { "url": "https://example.com/mcp" }, // slow
          "new": {
            "command": "run",
            "args": ["a", "b"]
          }
          // more to come
        },
        "x-note": 1e2
      }`),
    );
  });

  it('removes a key and leaves the comments of its neighbours', () => {
    expect(editJson(file, ['mcpServers', 'files'], undefined)).toBe(
      example(`
      // servers of the team
      {
        "mcpServers": {
          // reads files
          // keep
          // the docs
          "docs": { "url": "https://example.com/mcp" } // slow
          // more to come
        },
        "x-note": 1e2
      }`),
    );
  });

  it('removes the last key with the comma before it', () => {
    expect(editJson(file, ['mcpServers', 'docs'], undefined)).toBe(
      example(`
      // servers of the team
      {
        "mcpServers": {
          // reads files
          "files": {
            "command": "npx", // from npm
            "args": ["-y", "files"]
          } // keep
          // the docs
          // slow
          // more to come
        },
        "x-note": 1e2
      }`),
    );
  });

  it('replaces an entry key by key', () => {
    expect(
      editJson(file, ['mcpServers', 'files'], { command: 'node', args: ['-y', 'files'], enabled: false }),
    ).toBe(
      file
        .replace('"npx"', '"node"')
        .replace('"args": ["-y", "files"]', '"args": ["-y", "files"],\n      "enabled": false'),
    );
  });

  it('changes nothing when the value is there already', () => {
    expect(editJson(file, ['mcpServers', 'docs'], { url: 'https://example.com/mcp' })).toBe(file);
  });

  it.each([
    ['an empty text', '', '{\n  "a": {\n    "b": 1\n  }\n}\n'],
    ['an empty object', '{}\n', '{\n  "a": {\n    "b": 1\n  }\n}\n'],
    ['nothing but a comment', '// soon\n', '// soon\n{\n  "a": {\n    "b": 1\n  }\n}\n'],
    ['an object with a comment in it', '{\n  // soon\n}', '{\n  // soon\n  "a": {\n    "b": 1\n  }\n}'],
    ['one line', '{"a":{}}', '{"a":{ "b": 1 }}'],
    ['one line with more in it', '{"a":{"c":2},"d":3}', '{"a":{"c":2, "b": 1},"d":3}'],
    [
      'a trailing comma',
      '{\n  "a": {\n    "c": 2,\n  },\n}',
      '{\n  "a": {\n    "c": 2,\n    "b": 1,\n  },\n}',
    ],
    ['tabs', '{\n\t"c": 2\n}', '{\n\t"c": 2,\n\t"a": {\n\t\t"b": 1\n\t}\n}'],
    ['four spaces', '{\n    "c": 2\n}', '{\n    "c": 2,\n    "a": {\n        "b": 1\n    }\n}'],
    ['CRLF', '{\r\n  "c": 2\r\n}\r\n', '{\r\n  "c": 2,\r\n  "a": {\r\n    "b": 1\r\n  }\r\n}\r\n'],
    ['a byte order mark', '\uFEFF{\n  "a": { "b": 2 }\n}', '\uFEFF{\n  "a": { "b": 1 }\n}'],
    ['a key that stands twice', '{"a":{"b":1},"a":{"b":2}}', '{"a":{"b":1},"a":{"b":1}}'],
  ])('writes into %s', (_, before, after) => {
    expect(editJson(before, ['a', 'b'], 1)).toBe(after);
  });

  it.each([
    ['the only key', '{\n  "a": 1\n}\n', '{}\n'],
    ['a key on one line', '{ "a": 1, "b": 2 }', '{ "b": 2 }'],
    ['the last key on one line', '{ "b": 2, "a": 1 }', '{ "b": 2 }'],
    ['a key before a trailing comma', '{\n  "b": 2,\n  "a": 1,\n}', '{\n  "b": 2,\n}'],
    ['a key that stands twice', '{ "a": 1, "b": 2, "a": 3 }', '{ "b": 2 }'],
    [
      'a key with a comment before its comma',
      '{\n  "a": 1 // one\n  ,\n  "b": 2\n}',
      '{\n  // one\n  "b": 2\n}',
    ],
    ['a key that is not there', '{ "b": 2 }', '{ "b": 2 }'],
  ])('removes %s', (_, before, after) => {
    expect(editJson(before, ['a'], undefined)).toBe(after);
  });

  it('takes __proto__ and constructor for what they are: keys', () => {
    const text = ['__proto__', 'constructor'].reduce(
      (now, key) => editJson(now, ['s', key], { command: key }),
      '{}',
    );
    expect(JSON.parse(text)).toEqual(
      JSON.parse('{"s":{"__proto__":{"command":"__proto__"},"constructor":{"command":"constructor"}}}'),
    );
    expect(editJson(text, ['s', '__proto__'], undefined)).toBe(
      '{\n  "s": {\n    "constructor": {\n      "command": "constructor"\n    }\n  }\n}',
    );
  });

  it.each([
    ['{ "a": [1] }', ['a', 'b'], '"a" is not an object'],
    ['[]', ['a'], 'it does not hold a JSON object'],
    ['{ "a": 1', ['a'], 'unexpected end of file: a closing brace is missing here'],
  ])('refuses to change %s', (text, path, message) => {
    expect(() => editJson(text, path, 1)).toThrow(new EditError(message));
  });
});

describe('editJson: any document, any edit', () => {
  it('gives back the same values when it is parsed, with every comment outside the edited value still there', () => {
    fc.assert(
      fc.property(
        documents,
        fc.nat(),
        fc.option(plainValues, { nil: undefined }),
        fc.boolean(),
        (text, pick, value, isNew) => {
          const before = parse(text);
          const paths = pathsOf(before.value);
          const at = paths[pick % paths.length] ?? [];
          const path = isNew && isObject(valueAt(before.value, at)) ? [...at, 'added'] : at;
          fc.pre(path.length > 0);

          const edited = editJson(text, path, value);
          const after = parse(edited);
          expect(after.value).toEqual(withValue(before.value, path, value));
          const inside = commentsIn(textAt(text, path));
          expect(commentsIn(edited)).toEqual(
            expect.arrayContaining(commentsIn(text).filter((c) => !inside.includes(c))),
          );
          // Doing it again changes nothing.
          expect(editJson(edited, path, value)).toBe(edited);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

type Path = string[];

/** A document with comments, blank lines and trailing commas wherever they are allowed. */
const documents = fc
  .record({
    value: fc.dictionary(
      keyNames(),
      fc.letrec((tie) => ({
        any: fc.oneof(
          { maxDepth: 3 },
          fc.jsonValue({ maxDepth: 0 }),
          fc.array(tie('any'), { maxLength: 3 }),
          fc.dictionary(keyNames(), tie('any'), { maxKeys: 4 }),
        ),
      })).any,
      { minKeys: 1, maxKeys: 4 },
    ),
    seeds: fc.array(fc.nat(11), { minLength: 20, maxLength: 60 }),
  })
  .map(({ value, seeds }) => decorate(value, seeds));

const plainValues = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.string(), { maxLength: 3 }),
  fc.dictionary(keyNames(), fc.oneof(fc.string(), fc.array(fc.integer(), { maxLength: 3 })), { maxKeys: 4 }),
);

function keyNames(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom('a', 'b', 'mcpServers', '__proto__', 'constructor', 'a/b', '//', '/*'),
    fc.string({ maxLength: 6 }),
  );
}

function decorate(value: unknown, seeds: readonly number[]): string {
  let step = 0;
  const next = (): number => seeds[step++ % seeds.length] ?? 0;
  const trivia = (): string => {
    switch (next()) {
      case 0:
        return ` // c${step}\n  `;
      case 1:
        return ` /* c${step} */ `;
      case 2:
        return '\n  ';
      case 3:
        return `\n  // c${step}\n    `;
      case 4:
        return '\t';
      case 5:
        return `/* c${step}\n */`;
      default:
        return next() % 2 ? '' : ' ';
    }
  };
  const write = (node: unknown): string => {
    if (typeof node !== 'object' || node === null) return JSON.stringify(node);
    const items = Array.isArray(node)
      ? node.map(write)
      : Object.entries(node).map(
          ([key, member]) => `${JSON.stringify(key)}${trivia()}:${trivia()}${write(member)}`,
        );
    const [open, close] = Array.isArray(node) ? ['[', ']'] : ['{', '}'];
    const inner = items.map((item) => trivia() + item + trivia()).join(',');
    const tail = items.length > 0 && next() === 7 ? `,${trivia()}` : '';
    return open + (inner || trivia()) + tail + close;
  };
  return trivia() + write(value) + trivia();
}

function parse(text: string): { value: unknown } {
  const { tree, fault } = parseJsonc(text);
  expect({ fault, text }).toEqual({ fault: undefined, text });
  return { value: tree && jsonOf(tree) };
}

/** Paths of keys to every member of every object. */
function pathsOf(value: unknown, at: Path = []): Path[] {
  if (!isObject(value)) return [at];
  return [at, ...Object.entries(value).flatMap(([key, member]) => pathsOf(member, [...at, key]))];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (now, key) => (isObject(now) && Object.hasOwn(now, key) ? now[key] : undefined),
    value,
  );
}

function withValue(value: unknown, [key, ...rest]: Path, wanted: unknown): unknown {
  if (key === undefined) return wanted;
  const members = isObject(value) ? Object.entries(value) : [];
  const isThere = members.some(([name]) => name === key);
  const changed = isThere
    ? members.map(
        ([name, member]) => [name, name === key ? withValue(member, rest, wanted) : member] as const,
      )
    : [...members, [key, wanted] as const];
  return Object.fromEntries(changed.filter(([, member]) => member !== undefined));
}

/** The source of the property at a path, its key included. */
function textAt(text: string, path: Path): string {
  let node = parseJsonc(text).tree;
  for (const [depth, key] of path.entries()) {
    const property = propertyOf(node, key);
    if (depth === path.length - 1 && property)
      return text.slice(property.offset, property.offset + property.length);
    node = property?.children?.[1];
  }
  return '';
}

function commentsIn(text: string): string[] {
  return [...text.matchAll(/\/[/*] (c\d+)/g)].map((match) => match[1] ?? '');
}
