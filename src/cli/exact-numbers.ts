/** Rejects integers that a JavaScript number cannot represent exactly, because a different number would be sent. */

import { PlugboardError } from '../errors.ts';

/** Numbers with fewer digits are exact. */
const MANY_DIGITS = /\d{16}/;

/** False for an integer that would change when parsed. */
export function isExact(text: string): boolean {
  if (!/^[+-]?\d+$/.test(text) || !MANY_DIGITS.test(text)) return true;
  const value = Number(text);
  return Number.isFinite(value) && BigInt(text.replace('+', '')) === BigInt(value);
}

/** @param json valid JSON, or one number */
export function refuseInexact(json: string): void {
  if (!MANY_DIGITS.test(json)) return;
  const inexact = numbersIn(json).find((number) => !isExact(number));
  if (inexact === undefined) return;
  throw new PlugboardError(
    'INVALID_ARGUMENTS',
    `${inexact} cannot be sent exactly: it has too many digits for a number.`,
    {
      hint: `Whole numbers are exact up to ${Number.MAX_SAFE_INTEGER}. Where the tool takes text, write it in quotes: key:='"${inexact}"'.`,
    },
  );
}

/** Skips digits inside strings. */
function numbersIn(json: string): string[] {
  const found: string[] = [];
  const number = /[+-]?\d[\d.eE+-]*/y;
  for (let at = 0; at < json.length; at++) {
    if (json[at] === '"') {
      for (at++; at < json.length && json[at] !== '"'; at++) if (json[at] === '\\') at++;
      continue;
    }
    number.lastIndex = at;
    const [text] = number.exec(json) ?? [];
    if (text === undefined) continue;
    found.push(text);
    at += text.length - 1;
  }
  return found;
}
