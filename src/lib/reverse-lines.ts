/** Reverts one known change in a text that was edited since, line by line, and keeps the other edits. */

/** Limit on the comparison table: about 16 MB and a few milliseconds. */
const MAX_CELLS = 4_000_000;

/** Lines `[from, to)` of the changed text were `lines` before. */
interface Hunk {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

/**
 * Returns `now` with the change from `before` to `after` reversed wherever its lines are still intact; undefined
 * if no part of it can be reversed or the texts differ too much to compare. The caller has to check the result:
 * a part that others edited stays.
 *
 * @example
 * reverseLines('a\nb\n', 'a\nX\nb\n', 'new\na\nX\nb\n'); // 'new\na\nb\n'
 */
export function reverseLines(before: string, after: string, now: string): string | undefined {
  const old = linesOf(before);
  const changed = linesOf(after);
  const current = linesOf(now);
  const toOld = matchLines(changed, old);
  const toCurrent = matchLines(changed, current);
  if (toOld === undefined || toCurrent === undefined) return undefined;
  let reversed = 0;
  const result = [...current];
  // From the end, so that earlier positions stay valid.
  for (const hunk of hunksOf(toOld, old).toReversed()) {
    const at = placeOf(hunk, toCurrent, current.length);
    if (at === undefined) continue;
    result.splice(at, hunk.to - hunk.from, ...hunk.lines);
    reversed++;
  }
  return reversed === 0 ? undefined : result.join('');
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

/** Returns for each line of `a` the matching line of `b`, or -1 (longest common subsequence). */
function matchLines(a: readonly string[], b: readonly string[]): Int32Array | undefined {
  const match = new Int32Array(a.length).fill(-1);
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) match[start] = start++;
  let end = 0;
  const room = Math.min(a.length, b.length) - start;
  while (end < room && a[a.length - 1 - end] === b[b.length - 1 - end]) {
    match[a.length - 1 - end] = b.length - 1 - end;
    end++;
  }
  const rows = a.length - start - end;
  const columns = b.length - start - end;
  if (rows * columns > MAX_CELLS) return undefined;
  const width = columns + 1;
  const lengths = new Uint32Array((rows + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = rows - 1; row >= 0; row--) {
    for (let column = columns - 1; column >= 0; column--) {
      const isSame = a[start + row] === b[start + column];
      lengths[row * width + column] = isSame
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  for (let row = 0, column = 0; row < rows && column < columns; ) {
    if (a[start + row] === b[start + column]) match[start + row++] = start + column++;
    else if (at(row + 1, column) >= at(row, column + 1)) row++;
    else column++;
  }
  return match;
}

function hunksOf(toOld: Int32Array, old: readonly string[]): Hunk[] {
  const hunks: Hunk[] = [];
  let from = 0;
  let oldFrom = 0;
  for (let line = 0; line <= toOld.length; line++) {
    const oldLine = line === toOld.length ? old.length : (toOld[line] ?? -1);
    if (oldLine === -1) continue;
    if (line > from || oldLine > oldFrom) hunks.push({ from, to: line, lines: old.slice(oldFrom, oldLine) });
    from = line + 1;
    oldFrom = oldLine + 1;
  }
  return hunks;
}

/** Returns the current position of a hunk's lines; undefined unless all of them exist and are adjacent. */
function placeOf({ from, to }: Hunk, toCurrent: Int32Array, length: number): number | undefined {
  if (from === to) {
    if (from === 0) return 0;
    const previous = toCurrent[from - 1] ?? -1;
    if (previous !== -1) return previous + 1;
    if (from === toCurrent.length) return length;
    const next = toCurrent[from] ?? -1;
    return next === -1 ? undefined : next;
  }
  const first = toCurrent[from] ?? -1;
  if (first === -1) return undefined;
  for (let line = from; line < to; line++) if (toCurrent[line] !== first + line - from) return undefined;
  return first;
}
