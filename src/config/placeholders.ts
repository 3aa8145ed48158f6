/** Finds placeholder values from a README that the user has to fill in: `<YOUR_TOKEN>`, `your-api-key-here`. */

import { isRecord, type JsonObject } from '../lib/json.ts';

export interface Placeholder {
  /** The key for `set`: `env.TOKEN`, `args.2`. */
  readonly key: string;
  readonly text: string;
}

const IN_BRACKETS = /<[A-Za-z][\w .-]{1,60}>/;
const YOURS =
  /(?<![A-Za-z])(?:your|my|insert|enter)[-_ ](?:[a-z0-9]+[-_ ]){0,4}(?:key|token|secret|password|here|pat)(?![A-Za-z])/i;
const BLANK = /^(?:change[-_ ]?me|x{3,}|\.{3}|…)$/i;
/** A longer text is not a placeholder. */
const MAX_CHARS = 500;

/**
 * Returns the placeholders in the values of an entry.
 *
 * @example
 * placeholdersIn({ command: 'x', env: { TOKEN: '<YOUR_TOKEN>' } }); // [{ key: 'env.TOKEN', text: '<YOUR_TOKEN>' }]
 */
export function placeholdersIn(raw: JsonObject): Placeholder[] {
  const { env, headers, args, url } = raw;
  const members = (key: string, value: unknown): [string, unknown][] =>
    isRecord(value) || Array.isArray(value)
      ? Object.entries(value).map(([name, text]) => [`${key}.${name}`, text])
      : [];
  const values: [string, unknown][] = [
    ...members('env', env),
    ...members('headers', headers),
    ...members('args', args),
    ['url', url],
  ];
  return values.flatMap(([key, value]) => {
    if (typeof value !== 'string' || value.length > MAX_CHARS || value.includes('${')) return [];
    const text = [IN_BRACKETS, YOURS, BLANK].map((shape) => shape.exec(value)?.[0]).find(Boolean);
    return text === undefined ? [] : [{ key, text }];
  });
}
