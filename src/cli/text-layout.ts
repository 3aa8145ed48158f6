/** Text layout for terminals: measures width, truncates, wraps, labels, and aligns columns. */

import { clean, oneLine } from '../policy/clean.ts';
import type { Output } from './output.ts';

/** Space between two columns. */
const GAP = '  ';

// These expressions are created in functions: to parse them takes half a millisecond, and most output is ASCII.

/** Characters that take two cells: East Asian wide and fullwidth forms. */
const wide = (): RegExp =>
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const combining = (): RegExp => /\p{Mark}|\ufe0f/gu;
/**
 * Emoji of several code points, which take two cells together: with a skin tone, a variation selector, a keycap or
 * joiners, and flags. Written out because `\p{RGI_Emoji}` and `Intl.Segmenter` take more than 10 ms at their first use.
 */
const sequence = (): RegExp =>
  /\p{Emoji}(?:\p{Emoji_Modifier}|\ufe0f\u20e3?|\u200d\p{Emoji}\ufe0f?)+|\p{Regional_Indicator}{2}/u;
/** One emoji sequence, or one code point. */
const units = (): RegExp => new RegExp(`${sequence().source}|.`, 'gsu');
const WIDE_CHAR = '宽';
const ASCII = /^[\x20-\x7e]*$/;

/** Returns the number of terminal cells of a clean text (without control characters and colours). */
export function width(text: string): number {
  if (ASCII.test(text)) return text.length;
  let cells = 0;
  const chars = text.replace(new RegExp(sequence(), 'gu'), WIDE_CHAR).replace(combining(), '');
  const isWide = wide();
  for (const char of chars) cells += isWide.test(char) ? 2 : 1;
  return cells;
}

/** Truncates text to the given number of cells, ending with an ellipsis. */
export function cut(text: string, cells: number): string {
  if (width(text) <= cells) return text;
  let out = '';
  let used = 0;
  for (const unit of text.match(units()) ?? []) {
    const next = width(unit);
    if (used + next > cells - 1) break;
    out += unit;
    used += next;
  }
  return `${out.trimEnd()}…`;
}

export function padEnd(text: string, cells: number): string {
  return text + ' '.repeat(Math.max(0, cells - width(text)));
}

function padStart(text: string, cells: number): string {
  return ' '.repeat(Math.max(0, cells - width(text))) + text;
}

interface Column {
  readonly align?: 'left' | 'right';
  /** Maximum width of the column on any terminal, in cells. */
  readonly max?: number;
  /** Colours a cell after layout; receives the row's index. */
  readonly paint?: (cell: string, row: number) => string;
}

interface LayoutOptions {
  readonly columns: readonly Column[];
  /** Maximum width of a line, in cells; undefined: unlimited. */
  readonly total: number | undefined;
}

/** Returns rows as aligned lines. If they do not fit, the last column shrinks first; empty columns are omitted. */
export function layOut(rows: readonly (readonly string[])[], options: LayoutOptions): string[] {
  const widths = options.columns.map((column, index) => {
    const widest = Math.max(0, ...rows.map((row) => width(row[index] ?? '')));
    return Math.min(widest, column.max ?? widest);
  });
  const used = widths.map((cells, index) => ({ cells, index })).filter(({ cells }) => cells > 0);
  const last = used.at(-1);
  if (options.total !== undefined && last !== undefined) {
    const others = used.slice(0, -1).reduce((sum, { cells }) => sum + cells + GAP.length, 0);
    last.cells = Math.min(last.cells, Math.max(MIN_LAST_COLUMN, options.total - others));
  }
  return rows.map((row, at) =>
    used
      .map(({ cells, index }) => {
        const column = options.columns[index];
        const text = cut(row[index] ?? '', cells);
        const padded = column?.align === 'right' ? padStart(text, cells) : padEnd(text, cells);
        return column?.paint === undefined ? padded : column.paint(padded, at);
      })
      .join(GAP)
      .trimEnd(),
  );
}

const MIN_LAST_COLUMN = 12;

export function indent(text: string, by: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? line : by + line))
    .join('\n');
}

/** Wraps text at spaces into lines of at most the given number of cells. */
export function wrap(text: string, cells: number | undefined): string[] {
  if (cells === undefined) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && width(line) + 1 + width(word) > cells) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines;
}

/** Formats a note with a label, its following lines aligned with the first: `error: …`, `hint:  …`. */
interface Label {
  readonly text: string;
  readonly paint: (text: string) => string;
  /** Width of the label including the space after it, so that several notes align. */
  readonly cells: number;
}

export function labelled(
  { text: label, paint, cells }: Label,
  text: string,
  { noteColumns }: Output,
): string {
  const room = noteColumns === undefined ? undefined : noteColumns - cells;
  const gap = ' '.repeat(cells - width(label));
  return `${paint(label)}${gap}${wrap(clean(text), room).join(`\n${' '.repeat(cells)}`)}`;
}

/** A remainder this short is shown, because a note about it would take nearly as much space. */
const SLACK_CHARS = 80;

/** Truncates at a word after about `max` characters; undefined: the whole text. */
export function shortened(text: string, max: number | undefined): string {
  const whole = oneLine(text);
  if (max === undefined || whole.length <= max + SLACK_CHARS) return whole;
  const space = whole.lastIndexOf(' ', max);
  const kept = oneLine(whole.slice(0, space > max / 2 ? space : max));
  return `${kept}… (${whole.length - kept.length} more characters)`;
}
