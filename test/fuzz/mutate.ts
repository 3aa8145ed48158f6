/** Inputs that are nearly right: real ones, damaged in a few steps that fast-check can repeat from a seed and shrink. */

import fc from 'fast-check';

/** What grows is cut here: past this, it is the caps of each edge that are tried, and those have tests of their own. */
export const MAX_INPUT_BYTES: number = 128 * 1024;
const MAX_STEPS = 6;
const DEEP = 3_000;
const LONG = 16 * 1024;

/** One way to do damage. The numbers say where and with what; every pair of them is allowed. */
type Step = (input: Buffer, at: number, what: number) => Buffer;

/** Bytes that have broken parsers before. */
const BYTES: readonly Buffer[] = [
  ...[
    '\0',
    '\n',
    '\r\n',
    '\r',
    '\t',
    ' ',
    '"',
    "'",
    '\\',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '/',
    '//',
    '/*',
    '=',
  ],
  ...['\u2028', '\u2029', '\u0085', '\ufeff', '\u200d', '\u202e', '\u{e0041}', '\u{1f600}', 'é', 'ﬀ', '％'],
  ...['\u001b[2J', '\u001b]0;x\u0007', '\u009b1m', '\u0007', '\b', '\u007f', '\\u0000', '\\ud800', '\\u001b'],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'length', 'then', '$ref', '#/'],
  ...[
    'null',
    'true',
    '-0',
    '1e999',
    '9007199254740993',
    '-1',
    '0x10',
    'NaN',
    '${HOME}',
    '${',
    '%00',
    '%',
    '..',
  ],
  ...['../../etc/passwd', 'file:///etc/passwd', 'http://[::1', 'http://169.254.169.254/', '\\\\host\\share'],
  ...[
    '{{',
    '{+a}',
    '{a}{b}',
    '*',
    '?',
    '(a+)+$',
    '(',
    '[^',
    '--',
    '-',
    '--json',
    '@',
    '#',
    ';',
    '|',
    '&',
    '`',
  ],
  ...[
    'data: ',
    'event: ',
    'id: ',
    'retry: 0',
    ':',
    '\n\n',
    '\r\n\r\n',
    'Content-Length: 0',
    '\r\n 0\r\n\r\n',
  ],
]
  .map((text) => Buffer.from(text))
  .concat([
    Buffer.from([0xff]),
    Buffer.from([0xc3]),
    Buffer.from([0xed, 0xa0, 0x80]),
    Buffer.from([0xf0, 0x9f]),
    Buffer.from([0xc0, 0x80]),
    Buffer.from([0x80, 0x80]),
  ]);

/** Values where another kind was expected; a function makes what no constant should hold. */
const VALUES: readonly (() => unknown)[] = [
  ...[
    null,
    true,
    false,
    0,
    -0,
    -1,
    1,
    0.5,
    1e308,
    -1e308,
    2 ** 31,
    2 ** 32,
    2 ** 53,
    -(2 ** 63),
    1e-7,
    65_536,
  ],
  ...[
    '',
    ' ',
    '0',
    '-1',
    '1e3',
    '\0',
    '\n',
    '\u001b[31m',
    '\u202e',
    '\ud800',
    '\udfff',
    '\u2028',
    '__proto__',
  ],
  ...['constructor', 'toString', '#', '#/', '#/$defs/a', 'object', 'string', 'integer', '2.0', '2026-07-28'],
  ...[
    '(a+)+$',
    '[',
    '^(?:a|a)*$',
    '${X}',
    '${X:-y}',
    '${input:x}',
    'file:///',
    'http://',
    '%zz',
    'a'.repeat(300),
  ],
  ...[[], {}, [[]], [null], [{}], { a: {} }, { length: 1e9 }, { toString: 1 }, { valueOf: null }],
  ...[{ $ref: '#' }, { $ref: '#/properties' }, { type: [] }, { enum: [] }, { const: null }, { allOf: [{}] }],
  ...[{ jsonrpc: '2.0', id: 1, method: 'ping' }, { toJSON: 1 }, { type: 'text' }, { 0: 1 }, { '': '' }],
]
  .map(
    (value): (() => unknown) =>
      () =>
        value,
  )
  .concat([
    () => nested(DEEP, (inner) => [inner]),
    () => nested(100, (inner) => ({ a: inner })),
    () => Array.from({ length: 2_000 }, (_, index) => index),
    () => Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, index])),
    () => 'x'.repeat(LONG),
    () => JSON.parse('{"then":1,"toJSON":1}'),
    () => JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'),
  ]);

const KEYS: readonly string[] = [
  ...['__proto__', 'constructor', 'toString', 'length', 'then', '', '0', '$ref', 'a\nb', '\u202ex', 'ｎame'],
];

const STEPS: readonly Step[] = [
  // One bit, one byte.
  (input, at, what) => changed(input, at, (byte) => byte ^ (1 << (what % 8))),
  (input, at, what) => changed(input, at, () => what % 256),
  // Parts are removed, repeated or moved.
  (input, at) => input.subarray(0, at % (input.length + 1)),
  (input, at, what) => spliced(input, at, 1 + (what % 16), NOTHING),
  (input, at, what) => spliced(input, at, 1 + (what % input.length || 1), NOTHING),
  (input, at, what) => spliced(input, at, 0, part(input, what)),
  (input, at, what) => spliced(input, what, 0, repeated(part(input, at), what)),
  // What has broken others.
  (input, at, what) => spliced(input, at, 0, pick(BYTES, what)),
  (input, at, what) => spliced(input, at, 1, pick(BYTES, what)),
  (input, at, what) => spliced(input, at, 0, repeated(pick(BYTES, what), at)),
  (input, at, what) => spliced(input, at, 0, Buffer.from('[{"a":'.repeat(1 + (what % DEEP)))),
  (input, at, what) => spliced(input, at, 0, Buffer.alloc(1 + (what % LONG), pick(BYTES, at))),
  // The same number, at an edge.
  (input, at, what) => renumbered(input, at, what),
  // Sound JSON that means something else.
  ...Array.from(
    { length: 4 },
    (): Step => (input, at, what) =>
      inJson(input, at, (root, nodes) => {
        return replaced(root, pick(nodes, at), pick(VALUES, what)());
      }),
  ),
  (input, at, what) =>
    inJson(input, at, (root, nodes) => replaced(root, pick(nodes, at), pick(nodes, what).value)),
  (input, at, what) =>
    inJson(input, at, (root, nodes) => {
      const { value } = pick(nodes, at);
      const fields = isObject(value) ? Object.entries(value) : [];
      const extra: [string, unknown] = [pick(KEYS, what), pick(VALUES, what + at)()];
      return replaced(root, pick(nodes, at), Object.fromEntries([...fields, extra]));
    }),
  (input, at, what) =>
    inJson(input, at, (root, nodes) => {
      const { value } = pick(nodes, at);
      if (!isObject(value)) return replaced(root, pick(nodes, at), [value, value]);
      const fields = Object.entries(value);
      return replaced(
        root,
        pick(nodes, at),
        Object.fromEntries(fields.filter((_, n) => n !== what % fields.length)),
      );
    }),
];

const NOTHING: Buffer = Buffer.alloc(0);

/** Any input of the corpus after a few of the steps; it shrinks to fewer of them. */
export function mutated(corpus: readonly Buffer[]): fc.Arbitrary<Buffer> {
  const step = fc.tuple(fc.nat(STEPS.length - 1), fc.nat(), fc.nat());
  return fc
    .tuple(fc.nat(corpus.length - 1), fc.array(step, { maxLength: MAX_STEPS, size: 'max' }))
    .map(([from, steps]) => damaged(pick(corpus, from), steps));
}

function damaged(input: Buffer, steps: readonly (readonly [number, number, number])[]): Buffer {
  return steps.reduce(
    (now, [step, at, what]) => pick(STEPS, step)(now, at, what).subarray(0, MAX_INPUT_BYTES),
    input,
  );
}

function pick<T>(list: readonly T[], at: number): T {
  return list[at % list.length] as T;
}

function changed(input: Buffer, at: number, change: (byte: number) => number): Buffer {
  const copy = Buffer.from(input);
  if (copy.length > 0) copy[at % copy.length] = change(copy[at % copy.length] ?? 0);
  return copy;
}

function spliced(input: Buffer, at: number, remove: number, insert: Buffer): Buffer {
  const from = at % (input.length + 1);
  return Buffer.concat([input.subarray(0, from), insert, input.subarray(from + remove)]);
}

function part(input: Buffer, at: number): Buffer {
  const from = at % (input.length + 1);
  return input.subarray(from, from + 1 + ((at >>> 8) % 64));
}

function repeated(bytes: Buffer, times: number): Buffer {
  return Buffer.concat(Array.from({ length: 1 + (times % 200) }, () => bytes));
}

function renumbered(input: Buffer, at: number, what: number): Buffer {
  const text = input.toString('latin1');
  const numbers = [...text.matchAll(/-?\d+/g)];
  if (numbers.length === 0) return input;
  const { index, 0: found } = pick(numbers, at);
  const edges = [
    '0',
    '-1',
    '4294967296',
    '9007199254740993',
    '1e400',
    '00',
    '1.5',
    `${found}0`,
    '2147483648',
    '',
  ];
  return spliced(input, index, found.length, Buffer.from(pick(edges, what)));
}

interface Place {
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

/** Changes the JSON that the input is, or that one of its lines is; what is neither stays as it was. */
function inJson(
  input: Buffer,
  at: number,
  change: (root: unknown, nodes: readonly Place[]) => unknown,
): Buffer {
  const text = input.toString('utf8');
  const whole = json(text);
  if (whole !== undefined) return written(change(whole.value, placesIn(whole.value)), input);
  const lines = text.split('\n');
  const readable = lines.flatMap((line, index) => {
    const prefix = line.startsWith('data: ') ? 'data: ' : '';
    const found = json(line.slice(prefix.length));
    return found === undefined || !isObject(found.value) ? [] : [{ index, prefix, value: found.value }];
  });
  if (readable.length === 0) return input;
  const { index, prefix, value } = pick(readable, at >>> 4);
  lines[index] = prefix + written(change(value, placesIn(value)), Buffer.from(lines[index] ?? '')).toString();
  return Buffer.from(lines.join('\n'));
}

function json(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** JSON.stringify gives up on what nests deeper than the stack. */
function written(value: unknown, instead: Buffer): Buffer {
  try {
    return Buffer.from(JSON.stringify(value));
  } catch {
    return instead;
  }
}

function placesIn(root: unknown): readonly Place[] {
  const places: Place[] = [{ path: [], value: root }];
  for (let next = 0; next < places.length && places.length < 5_000; next += 1) {
    const { path, value } = places[next] as Place;
    if (path.length > 50 || typeof value !== 'object' || value === null) continue;
    for (const [key, member] of Object.entries(value)) {
      places.push({ path: [...path, Array.isArray(value) ? Number(key) : key], value: member });
    }
  }
  return places;
}

function replaced(root: unknown, { path }: Place, value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const inside = { path: rest, value: undefined };
  if (Array.isArray(root))
    return root.map((member, n) => (n === key ? replaced(member, inside, value) : member));
  // From entries: a key called __proto__ is a key here.
  const entries = Object.entries(root as object);
  return Object.fromEntries(
    entries.map(([name, member]) => [name, name === key ? replaced(member, inside, value) : member]),
  );
}

function nested(depth: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 0;
  for (let level = 0; level < depth; level += 1) value = wrap(value);
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
