/** Shortens a server's text to one line for a listing. */

import { clean } from '../policy/clean.ts';

/** A remainder this short is shown, because a note about it would take nearly as much space. */
const SLACK_CHARS = 80;

/** Truncates at a word after about `max` characters; undefined: the whole text. */
export function shortened(text: string, max: number | undefined): string {
  const whole = clean(text, { multiline: false });
  if (max === undefined || whole.length <= max + SLACK_CHARS) return whole;
  const space = whole.lastIndexOf(' ', max);
  const kept = clean(whole.slice(0, space > max / 2 ? space : max), { multiline: false });
  return `${kept}… (${whole.length - kept.length} more characters)`;
}
