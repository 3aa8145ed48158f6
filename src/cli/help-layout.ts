/** Help that fits its terminal: descriptions under their terms where there is little room, no broken words. */

import type { Help } from 'commander';
import { width, wrap } from './table.ts';

/** Columns that a description needs beside its term; with fewer it goes below it. */
const MIN_BESIDE = 30;
const ITEM_INDENT = '  ';
const BELOW_INDENT = '      ';
/** Further lines of a paragraph or a command. */
const HANGING = '    ';

/** Settings for commander's help; a pipe gets the lines of 80 columns. */
export const HELP_LAYOUT: Partial<Help> = {
  showGlobalOptions: true,
  minWidthToWrap: 20,
  formatItem(this: Help, term: string, termWidth: number, description: string): string {
    const columns = this.helpWidth ?? DEFAULT_COLUMNS;
    const beside = columns - ITEM_INDENT.length - termWidth - ITEM_INDENT.length;
    if (description === '') return `${ITEM_INDENT}${term}`;
    if (beside >= MIN_BESIDE) {
      const [first = '', ...more] = wrap(description, beside);
      const indent = ' '.repeat(columns - beside);
      const gap = ' '.repeat(termWidth - width(term) + ITEM_INDENT.length);
      return [`${ITEM_INDENT}${term}${gap}${first}`, ...more.map((line) => indent + line)].join('\n');
    }
    const below = wrap(description, columns - BELOW_INDENT.length);
    return [`${ITEM_INDENT}${term}`, ...below.map((line) => BELOW_INDENT + line)].join('\n');
  },
};

export const DEFAULT_COLUMNS = 80;

/** Wraps what is still too wide: usage lines, and the text and examples at the end. */
export function fitHelp(text: string, columns: number | undefined): string {
  if (columns === undefined) return text;
  let isExample = false;
  return text
    .split('\n')
    .flatMap((line) => {
      if (/^\S/.test(line)) isExample = /^Examples?:$/.test(line);
      return width(line) <= columns ? [line] : fitLine(line, columns, isExample);
    })
    .join('\n');
}

/** A command that is continued ends with a backslash, so that it can be copied. */
function fitLine(line: string, columns: number, isExample: boolean): string[] {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const end = isExample ? ' \\' : '';
  const room = columns - indent.length - HANGING.length - end.length;
  // The first line may begin further left than the others.
  const [first = '', ...more] = wrap(line.trim(), Math.max(1, room));
  const lines = [indent + first, ...more.map((next) => indent + HANGING + next)];
  return lines.map((each, at) => (at < lines.length - 1 ? each + end : each));
}
