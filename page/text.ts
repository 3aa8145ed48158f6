/** Converts values to text that is safe to show, and formats numbers, sizes and durations. */

import { replaceUnseen, withoutHidden } from '../src/policy/hidden-text.ts';

const MAX_FOLDER_PARTS = 2;

/** Returns a value as text without hidden characters, as defined in `src/policy/hidden-text.ts`. */
export function plain(value: unknown): string {
  return withoutHidden(asText(value));
}

/** Returns a value as text with hidden characters escaped, for values that a person has to judge. */
export function revealed(value: unknown): string {
  return replaceUnseen(asText(value), (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Converts a value to text; objects become JSON, because `String()` would use members that a server sent. */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  if (typeof value !== 'object') return String(value);
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '(a value that cannot be shown)';
  }
}

/** Truncates a text without splitting a surrogate pair. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max).replace(/[\ud800-\udbff]$/, '')} …`;
}

/** Returns a text in one line, truncated. */
export function oneLine(text: unknown, max = 300): string {
  const whole = asText(text);
  return (whole.length > max ? `${whole.slice(0, max)}…` : whole).replace(/\s+/g, ' ');
}

export function count(number: number): string {
  if (number < 1_000) return String(number);
  const [value, unit] = number < 1_000_000 ? [number / 1_000, 'k'] : [number / 1_000_000, 'M'];
  return `${value < 10 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)}${unit}`;
}

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

export function duration(ms: number | undefined): string {
  if (ms === undefined) return '';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

export function size(bytes: number): string {
  if (bytes < 1024) return `${Math.round(bytes)} bytes`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}

/** Returns the end of a folder's path, which distinguishes folders. */
export function folderName(path: string): string {
  const parts = path.split(/[\\/]/).filter((part) => part !== '');
  return parts.length <= MAX_FOLDER_PARTS ? path : `…/${parts.slice(-MAX_FOLDER_PARTS).join('/')}`;
}

/** Returns the local time of day. Not with Intl, whose first formatter takes longer than the rest of the page. */
export function clockTime(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}

export function exactTime(at: number): string {
  return `${clockTime(at)}.${String(new Date(at).getMilliseconds()).padStart(3, '0')}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sept', 'Oct', 'Nov', 'Dec'] as const;

export function dayOf(at: number): string {
  const date = new Date(at);
  return `${date.getDate()} ${MONTHS[date.getMonth()]} ${date.getFullYear()}`;
}
