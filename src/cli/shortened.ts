/** The beginning of a text of a server, on one line, for a listing. */

import { clean } from '../policy/clean.ts';

/** A rest of so few characters is shown: saying that it is left out would take nearly as much room. */
const SLACK_CHARS = 80;

/** Cut at a word after about `max` characters; undefined: the whole text. */
export function shortened(text: string, max: number | undefined): string {
  const whole = clean(text, { multiline: false });
  if (max === undefined || whole.length <= max + SLACK_CHARS) return whole;
  const space = whole.lastIndexOf(' ', max);
  const kept = clean(whole.slice(0, space > max / 2 ? space : max), { multiline: false });
  return `${kept}… (${whole.length - kept.length} more characters)`;
}
