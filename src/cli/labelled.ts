/** Formats a note with a label, its following lines aligned with the first: `error: …`, `hint:  …`. */

import { clean } from '../policy/clean.ts';
import type { Output } from './output.ts';
import { width, wrap } from './table.ts';

export interface Label {
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
