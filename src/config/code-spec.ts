/** Validates servers given in code, like those from a file. */

import { PlugboardError } from '../errors.ts';
import { ENTRY_KEYS } from './config-keys.ts';
import type { Problem, ServerSpec } from './entry.ts';
import { IN_PROCESS_KEY } from './in-process.ts';
import { otherAgentsHint } from './other-agents-keys.ts';
import { parseEntry } from './parse.ts';

/**
 * Parses an entry from a program, whose author can correct it: a misspelt key throws too, and other keys without effect
 * are passed to `warn`.
 */
export function givenSpec(
  name: string,
  value: unknown,
  baseDir: string,
  warn: (problem: Pick<Problem, 'message' | 'hint'>) => void,
): ServerSpec {
  const { faults, raw } = parseEntry(name, value, 'code');
  const typo = faults.find((fault) => fault.typo);
  const spec = specFromCode(name, value, baseDir);
  if (typo !== undefined) {
    const message = typo.message.replace(/ and has no effect\.$/, '');
    throw new PlugboardError('CONFIG_INVALID', `${name}: ${message}`, { server: name, hint: typo.hint });
  }
  for (const { message, hint } of faults) warn(hint === undefined ? { message } : { message, hint });
  for (const key of unknownKeys(raw))
    warn({ message: `${JSON.stringify(key)} is not a known key and has no effect.` });
  return spec;
}

/** Keys of other agents already have a fault. */
function unknownKeys(raw: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(raw).filter(
    (key) =>
      !ENTRY_KEYS.has(key) &&
      key !== IN_PROCESS_KEY &&
      !key.startsWith('x-') &&
      otherAgentsHint(key) === undefined,
  );
}

/** Throws CONFIG_INVALID with the first problem, because code has no problem list to show. */
export function specFromCode(name: string, value: unknown, baseDir: string): ServerSpec {
  const { entry, raw, faults } = parseEntry(name, value, 'code');
  if (entry !== undefined) return { name, scope: 'code', entry, raw, baseDir };
  const fault = faults.find(({ fatal }) => fatal) ?? faults[0];
  throw new PlugboardError('CONFIG_INVALID', `${name}: ${fault?.message ?? 'not a server'}`, {
    server: name,
    hint: fault?.hint,
  });
}
