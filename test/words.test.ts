import { expect, it } from 'vitest';
import { findInCode, findPageWords, findWords } from '../scripts/words.mjs';
import { parsed } from '../scripts/words-code.mjs';

it('the check of words finds them in every kind of comment, and nowhere else', () => {
  const code = [
    '/** Tells nobody. */',
    '/**',
    ' * Returns the tools that a client wants.',
    ' */',
    "const url = 'https://somebody.invalid/'; // asked anew",
    '  // Beside the server.',
    'const told = "nobody"; // `told` is a name, and "nobody" is quoted',
    'export function wants(): void {}',
  ].join('\n');
  expect(findWords(code, 'src/a.ts').map((line) => line.replace(/ \(.*/, ''))).toEqual([
    'src/a.ts:1: "nobody"',
    'src/a.ts:1: "Tells"',
    'src/a.ts:3: "wants"',
    'src/a.ts:5: "anew"',
    'src/a.ts:6: "Beside"',
  ]);
});

const found = (file: string, ...code: string[]): string[] =>
  findInCode(parsed(code.join('\n'), file), file).map(({ kind, text }) => `${kind} ${text}`);

it('the check of words finds avoided words in strings that people read, by line', () => {
  expect(
    found(
      'src/a.ts',
      "const hint = 'Ask anew';",
      "const text = 'The server told nobody about it';",
      'const help = `First line of help',
      'Second line that ${name} wants`;',
      'const fine = \'Say "nobody" if you want to\';',
      "const told = lookUp('nobody');",
    ),
  ).toEqual([
    'words src/a.ts:2: "nobody" (name the person or program, or use "no one")',
    'words src/a.ts:2: "told" (reports, sends, returns, notifies)',
    'words src/a.ts:4: "wants" (requires, requests, expects)',
  ]);
});

it('the check of words finds messages and hints of another form, also through a function that makes the error', () => {
  const of = (...code: string[]): string[] =>
    found('src/a.ts', ...code).map((line) => line.replace(/^.*?a\.ts:/, ''));
  expect(
    of(
      "throw new PlugboardError('USAGE', 'the name is missing', { hint: 'Give one.' });",
      "throw new PlugboardError('USAGE', `The name ${name} is taken.`, { hint: `use ${other}` });",
      "throw new PlugboardError('USAGE', isLong ? 'Too long' : 'Too short.', { hint: 'Run plugboard list' });",
      "throw new PlugboardError('USAGE', `${name} is taken`, { hint: `Did you mean ${other}?` });",
      "throw new PlugboardError('USAGE', 'tools/list failed: ' + why);",
      "throw new RpcFailure(-32602, 'No task. It has ended.');",
      "function usage(message: string, hint: string) { return new PlugboardError('USAGE', message, { hint }); }",
      "throw usage('One too many.', 'give one');",
    ),
  ).toEqual([
    '1: "the name is missing" (a message begins with a capital letter)',
    '2: "The name ${…} is taken." (a message of one sentence has no period)',
    '2: "use ${…}" (a hint begins with a capital letter)',
    '3: "Too short." (a message of one sentence has no period)',
    '3: "Run plugboard list" (a hint ends with a period)',
    '8: "One too many." (a message of one sentence has no period)',
    '8: "give one" (a hint begins with a capital letter)',
  ]);
});

it('the check of words finds names of tests that do not state behaviour, and variables named as vitest names its functions', () => {
  expect(
    found(
      'test/a.test.ts',
      "it('F19: rejects a long line', async () => { const it = world(); });",
      "describe('what a server says', () => {});",
      "it.each(rows)('CFG-3, CFG-4: tells %s about it', ({ test }) => {});",
    ),
  ).toEqual([
    'test names test/a.test.ts:2: "says" (reports, returns, states)',
    'test names test/a.test.ts:2: "what" (begin with the subject)',
    'test names test/a.test.ts:3: "tells" (reports, sends, returns, notifies)',
    'shadowed test/a.test.ts:1: "it" (a name of vitest)',
    'shadowed test/a.test.ts:3: "test" (a name of vitest)',
  ]);
});

it('the check of words finds them in the prose of a page, not in code, quotations or generated tables', () => {
  const page = [
    '# What is it?',
    'What a server offers. Nobody calls `nobody` or "somebody".',
    '<!-- generated: keys -->',
    '| told |',
    '<!-- /generated -->',
    '```console',
    '$ echo told',
    '```',
    'See [the page](told.md). It takes over.',
  ].join('\n');
  expect(findPageWords(page, 'docs/a.md').map((line) => line.replace(/ \(.*/, ''))).toEqual([
    'docs/a.md:2: "Nobody"',
    'docs/a.md:2: "What"',
    'docs/a.md:9: "takes over"',
  ]);
});
