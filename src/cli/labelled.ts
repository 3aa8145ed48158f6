/** A note with a label in front, its further lines under the first one's text: `error: …`, `hint:  …`. */

import { clean } from '../policy/clean.ts';
import type { Output } from './output.ts';
import { width, wrap } from './table.ts';

export interface Label {
  readonly text: string;
  readonly paint: (text: string) => string;
  /** Cells that the label takes with the space behind it, so that several notes stand under each other. */
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
