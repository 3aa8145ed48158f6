/** Creates the unified diff of a replacement with known positions, without a diff algorithm. */

const CONTEXT_LINES = 3;
const MAX_DIFF_CHARS = 20_000;

export interface Replacement {
  /** Start offsets of the replaced texts, in order. */
  readonly at: readonly number[];
  /** The length of each. */
  readonly length: number;
  readonly to: string;
}

/** Lines that change together; 0-based, the end is exclusive. */
interface Block {
  readonly first: number;
  end: number;
  readonly places: number[];
}

/** Returns the change in the format of `diff -u`, truncated with a note if it is long. */
export function unifiedDiff(shown: string, text: string, replacement: Replacement): string {
  const starts = lineStarts(text);
  const lineOf = (offset: number): number => lastAtMost(starts, offset);
  const lineText = (line: number): string => text.slice(starts[line], starts[line + 1] ?? text.length);
  const out = [`--- a/${shown}\n`, `+++ b/${shown}\n`];
  let [size, drift, done] = [0, 0, 0];
  for (const block of blocksOf(text, replacement, lineOf)) {
    const before = range(block.first, block.end).map(lineText);
    const after = linesOf(
      rewritten(text, replacement, block, starts[block.first] ?? 0, starts[block.end] ?? text.length),
    );
    const lead = range(Math.max(block.first - CONTEXT_LINES, 0), block.first).map(lineText);
    const tail = range(block.end, Math.min(block.end + CONTEXT_LINES, starts.length)).map(lineText);
    const around = lead.length + tail.length;
    const from = block.first - lead.length + 1;
    const hunk = [
      `@@ -${span(from, before.length + around)} +${span(from + drift, after.length + around)} @@\n`,
      ...lead.map((line) => row(' ', line)),
      ...before.map((line) => row('-', line)),
      ...after.map((line) => row('+', line)),
      ...tail.map((line) => row(' ', line)),
    ].join('');
    size += hunk.length;
    if (size > MAX_DIFF_CHARS) {
      const rest = replacement.at.length - done;
      return `${out.join('')}[The diff of ${rest} more ${rest === 1 ? 'change is' : 'changes are'} left out; git_diff shows it all.]`;
    }
    out.push(hunk);
    done += block.places.length;
    drift += after.length - before.length;
  }
  return out.join('').slice(0, -1);
}

/** Merges changes whose context lines touch into one hunk. */
function blocksOf(
  text: string,
  { at, length, to }: Replacement,
  lineOf: (offset: number) => number,
): readonly Block[] {
  const blocks: Block[] = [];
  for (const place of at) {
    const first = lineOf(place);
    const next = place + length;
    const isLineStart = place === 0 || text[place - 1] === '\n';
    // Removing a line ending joins the next line to this one, unless whole lines are removed.
    const joins =
      text[next - 1] === '\n' && next < text.length && !to.endsWith('\n') && !(to === '' && isLineStart);
    const end = lineOf(joins ? next : next - 1) + 1;
    const last = blocks.at(-1);
    if (last !== undefined && first <= last.end + 2 * CONTEXT_LINES) {
      last.end = Math.max(end, last.end);
      last.places.push(place);
    } else {
      blocks.push({ first, end, places: [place] });
    }
  }
  return blocks;
}

function rewritten(
  text: string,
  { length, to }: Replacement,
  block: Block,
  from: number,
  end: number,
): string {
  let [out, at] = ['', from];
  for (const place of block.places) {
    out += text.slice(at, place) + to;
    at = place + length;
  }
  return out + text.slice(at, end);
}

/** Formats a range; an empty one starts at the line before it. */
function span(line: number, count: number): string {
  return `${count === 0 ? line - 1 : line},${count}`;
}

function row(mark: string, line: string): string {
  return line.endsWith('\n') ? `${mark}${line}` : `${mark}${line}\n\\ No newline at end of file\n`;
}

function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function lineStarts(text: string): readonly number[] {
  const starts = text === '' ? [] : [0];
  for (let at = text.indexOf('\n'); at !== -1 && at + 1 < text.length; at = text.indexOf('\n', at + 1))
    starts.push(at + 1);
  return starts;
}

function lastAtMost(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

function range(from: number, end: number): readonly number[] {
  return Array.from({ length: Math.max(end - from, 0) }, (_, index) => from + index);
}
