/** Parses the values of flags, each with its own error message. */

import { PlugboardError } from '../errors.ts';
import { durationMs } from '../lib/duration.ts';

/** Longest delay of a timer in milliseconds: Node fires longer ones immediately. */
const MAX_MS = 2 ** 31 - 1;
const MAX_PORT = 65_535;

export function milliseconds(flag: string, text: string): number {
  return wholeNumber(flag, text, { max: MAX_MS, example: `${flag} 30000` });
}

export function port(flag: string, text: string): number {
  return wholeNumber(flag, text, { max: MAX_PORT, example: `${flag} 8080` });
}

/** The error for flags or arguments that do not fit together. */
export function misuse(command: string, message: string): PlugboardError {
  return new PlugboardError('USAGE', message, { hint: `Run plugboard ${command} --help for details.` });
}

/** Parses a time such as 30d, 12h, 45m, 90s or 2w; returns milliseconds. */
export function duration(command: string, flag: string, text: string): number {
  const ms = durationMs(text);
  if (ms !== undefined) return ms;
  throw misuse(command, `${flag} needs a time such as 30d, not ${JSON.stringify(text)}`);
}

export function wholeNumber(
  flag: string,
  text: string,
  { min = 1, max, example }: { min?: number; max: number; example: string },
): number {
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new PlugboardError('USAGE', `${flag} needs a whole number from ${min} to ${max}, not "${text}"`, {
    hint: `For example ${example}.`,
  });
}

/** Parses `-e KEY=VALUE`, which may be repeated. */
export function environment(values: readonly string[]): Record<string, string> {
  const env: Record<string, string> = Object.create(null);
  for (const value of values) {
    const at = value.indexOf('=');
    if (at < 1) {
      const name = /^\w+$/.test(value) ? value : 'NAME';
      throw new PlugboardError('USAGE', `--env needs NAME=VALUE, not "${shortened(value)}"`, {
        hint: `Write -e ${name}=value, or -e '${name}=\${${name}}' to read it from your environment at use.`,
      });
    }
    env[value.slice(0, at)] = value.slice(at + 1);
  }
  return env;
}

/** Parses `-H "Name: value"`, which may be repeated. The error message omits the value: it may be a secret. */
export function headers(values: readonly string[]): Record<string, string> {
  const found: Record<string, string> = Object.create(null);
  for (const value of values) {
    const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\0]*)$/.exec(value);
    if (match?.[1] === undefined || match[2] === undefined) {
      throw new PlugboardError('USAGE', '--header needs "Name: value" on one line', {
        hint: `For example -H 'X-Key: \${DOCS_KEY}', which reads the value from your environment at use.`,
      });
    }
    found[match[1]] = match[2].trimEnd();
  }
  return found;
}

/** Truncates text for an error message, so that a mistyped `-e TOKEN abc` is not echoed whole. */
function shortened(text: string): string {
  const MAX = 24;
  return text.length > MAX ? `${text.slice(0, MAX)}…` : text;
}
