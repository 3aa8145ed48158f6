/** A server given in code, checked like one from a file. */

import { PlugboardError } from '../errors.ts';
import type { ServerSpec } from './entry.ts';
import { parseEntry } from './parse.ts';

/** Throws CONFIG_INVALID with the first thing that is wrong: code has no list of problems to show. */
export function specFromCode(name: string, value: unknown, baseDir: string): ServerSpec {
  const { entry, raw, faults } = parseEntry(name, value, 'code');
  if (entry !== undefined) return { name, scope: 'code', entry, raw, baseDir };
  const fault = faults.find(({ fatal }) => fatal) ?? faults[0];
  throw new PlugboardError('CONFIG_INVALID', `${name}: ${fault?.message ?? 'not a server'}`, {
    server: name,
    hint: fault?.hint,
  });
}
