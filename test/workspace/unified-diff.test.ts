import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { unifiedDiff } from '../../src/workspace/unified-diff.ts';

const dir = mkdtempSync(join(tmpdir(), 'plugboard-diff-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 20 });
const someText = fc.tuple(lines, fc.boolean()).map(([all, ends]) => all.join('\n') + (ends ? '\n' : ''));
const aPiece = fc.constantFrom('a', 'a\n', '\na', 'a\nb', '\n', 'b\nc\n', 'c');

it('SRV-3: the diff of an edit is one that git can apply', () => {
  const file = join(dir, 'file.txt');
  fc.assert(
    fc.property(someText, aPiece, fc.constantFrom('', 'x', 'x\n', '\n', 'x\ny'), (text, piece, to) => {
      const at: number[] = [];
      for (let from = text.indexOf(piece); from !== -1; from = text.indexOf(piece, from + piece.length))
        at.push(from);
      fc.pre(at.length > 0);
      const expected = text.replaceAll(piece, () => to);
      fc.pre(expected !== text && expected !== '');
      writeFileSync(file, text);
      const diff = `${unifiedDiff('file.txt', text, { at, length: piece.length, to })}\n`;
      try {
        execFileSync('git', ['apply', '-'], {
          cwd: dir,
          input: diff,
          stdio: 'pipe',
        });
      } catch (cause) {
        throw new Error(`git does not take this:\n${diff}`, { cause });
      }
      expect(readFileSync(file, 'utf8')).toBe(expected);
    }),
    { numRuns: 100 },
  );
});

it('SRV-3: a long diff is cut between its hunks, with a note', () => {
  const text = Array.from({ length: 3_000 }, (_, at) =>
    at % 20 === 0 ? 'x' : 'a line that stays as it is',
  ).join('\n');
  const at = [...text.matchAll(/x/g)].map(({ index }) => index);
  const diff = unifiedDiff('file.txt', text, { at, length: 1, to: 'y' });
  expect([diff.length < 21_000, diff.split('\n').at(-1)]).toEqual([
    true,
    expect.stringMatching(/^\[The diff of \d+ more changes are left out; git_diff shows it all\.\]$/),
  ]);
});
