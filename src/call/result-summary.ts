/** Describes a stored result in a few words: kind, size, names of members, number of rows (CAL-8). */

import { isRecord } from '../lib/json.ts';
import { dataOf } from './result-store.ts';

const MAX_CHARS = 400;
const MAX_DEPTH = 3;
const MAX_NAMES = 12;
const MAX_NAME_CHARS = 40;

/**
 * Returns the shape of a text.
 *
 * @example shapeOfText('{"items":[{"id":1}],"total":1}'); // 'JSON {items: {id: number}[1], total: number}'
 */
export function shapeOfText(text: string): string {
  const data = dataOf(text);
  if (typeof data === 'string') return `text, ${count(lineCount(text), 'line')}`;
  for (let depth = MAX_DEPTH; depth > 0; depth -= 1) {
    const shape = `JSON ${shapeOf(data, depth)}`;
    if (shape.length <= MAX_CHARS) return shape;
  }
  return `JSON ${shapeOf(data, 0)}`;
}

function shapeOf(value: unknown, depth: number): string {
  if (Array.isArray(value)) {
    const [first] = value;
    return value.length === 0 || depth === 0
      ? `array[${value.length}]`
      : `${shapeOf(first, depth - 1)}[${value.length}]`;
  }
  if (!isRecord(value)) return value === null ? 'null' : typeof value;
  const names = Object.keys(value);
  if (depth === 0) return `object(${names.length})`;
  const shown = names
    .slice(0, MAX_NAMES)
    .map((name) => `${nameText(name)}: ${shapeOf(value[name], depth - 1)}`);
  const more = names.length > MAX_NAMES ? [`… ${names.length - MAX_NAMES} more`] : [];
  return `{${[...shown, ...more].join(', ')}}`;
}

function nameText(name: string): string {
  const short = name.slice(0, MAX_NAME_CHARS);
  return /^[A-Za-z_]\w*$/.test(short) ? short : JSON.stringify(short);
}

function lineCount(text: string): number {
  let lines = text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

function count(number: number, noun: string): string {
  return number === 1 ? `1 ${noun}` : `${number} ${noun}s`;
}
