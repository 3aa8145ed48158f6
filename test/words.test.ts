import { expect, it } from 'vitest';
import { findWords } from '../scripts/words.mjs';

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
