/** Text layout for terminals: measures width, truncates, wraps, and aligns columns. */

/** Space between two columns. */
const GAP = '  ';

/** Characters that take two cells: East Asian wide and fullwidth forms. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
const COMBINING = /\p{Mark}|\ufe0f/gu;
const ASCII = /^[\x20-\x7e]*$/;

/** Returns the number of terminal cells of a clean text (without control characters and colours). */
export function width(text: string): number {
  if (ASCII.test(text)) return text.length;
  let cells = 0;
  for (const char of text.replace(COMBINING, '')) cells += WIDE.test(char) ? 2 : 1;
  return cells;
}

/** Truncates text to the given number of cells, ending with an ellipsis. */
export function cut(text: string, cells: number): string {
  if (width(text) <= cells) return text;
  let out = '';
  let used = 0;
  for (const char of text) {
    const next = width(char);
    if (used + next > cells - 1) break;
    out += char;
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

export interface Column {
  readonly align?: 'left' | 'right';
  /** Maximum width of the column on any terminal, in cells. */
  readonly max?: number;
  /** Colours a cell after layout; receives the row's index. */
  readonly paint?: (cell: string, row: number) => string;
}

export interface LayoutOptions {
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
