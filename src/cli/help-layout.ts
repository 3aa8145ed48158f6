/** Fits help text to the terminal: in narrow terminals descriptions go below their terms, and words are not broken. */

import type { Help } from 'commander';
import { width, wrap } from './table.ts';

/** Minimum columns for a description next to its term; with fewer it goes below. */
const MIN_BESIDE = 30;
const ITEM_INDENT = '  ';
const BELOW_INDENT = '      ';
/** Indent of the following lines of a paragraph or a command. */
const HANGING = '    ';

/** Settings for commander's help; output to a pipe is formatted for 80 columns. */
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

/** Wraps lines that are still too wide: usage lines, and the text and examples at the end. */
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

/** Ends a continued command with a backslash, so that it can be copied. */
function fitLine(line: string, columns: number, isExample: boolean): string[] {
  const indent = /^ */.exec(line)?.[0] ?? '';
  const end = isExample ? ' \\' : '';
  const room = columns - indent.length - HANGING.length - end.length;
  // The first line has a smaller indent than the others.
  const [first = '', ...more] = wrap(line.trim(), Math.max(1, room));
  const lines = [indent + first, ...more.map((next) => indent + HANGING + next)];
  return lines.map((each, at) => (at < lines.length - 1 ? each + end : each));
}
