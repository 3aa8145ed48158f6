/** Validates an entry before it is written, and extracts its client secret. */

import { PlugboardError } from '../errors.ts';
import { isRecord, type JsonObject } from '../lib/json.ts';
import type { ServerSpec } from './entry.ts';
import { type Environment, expandEntry } from './expand.ts';
import type { Fault } from './fault.ts';
import { checkServerName, parseEntry, specFromCode } from './parse.ts';
import type { EditableScope } from './scopes.ts';

/** Throws for a fatal problem; returns the warnings. */
export function checkNewEntry(
  name: string,
  raw: unknown,
  scope: EditableScope,
  done: 'added' | 'changed' = 'added',
): readonly Fault[] {
  const bad = checkServerName(name);
  if (bad !== undefined) {
    throw new PlugboardError('USAGE', bad, { hint: 'Choose a short name such as "files" or "my-server".' });
  }
  const { entry, faults } = parseEntry(name, raw, scope);
  refuseTwins(name, raw);
  if (entry !== undefined) return faults;
  const worst = faults.find(({ fatal }) => fatal) ?? faults[0];
  throw new PlugboardError(
    'CONFIG_INVALID',
    `Server "${name}" cannot be ${done}: ${worst?.message ?? 'its entry is not valid.'}`,
    {
      server: name,
      hint: worst?.hint ?? 'Nothing was written; correct the entry and try again.',
      detail: worst === undefined ? {} : { place: { path: worst.path.map(String) } },
    },
  );
}

/** Header names are case-insensitive; only one of two would be sent. */
function refuseTwins(name: string, raw: unknown): void {
  const headers = isRecord(raw) && isRecord(raw['headers']) ? Object.keys(raw['headers']) : [];
  const twin = headers.find((header, at) =>
    headers.slice(0, at).some((other) => other.toLowerCase() === header.toLowerCase()),
  );
  if (twin === undefined) return;
  throw new PlugboardError('CONFIG_INVALID', `The header ${twin} is given twice for "${name}"`, {
    server: name,
    hint: 'Upper and lower case are the same in headers: keep one of them.',
  });
}

/**
 * Expands the URL and OAuth settings of an entry that is about to be written: its client secret is stored under them.
 */
export function expandedSpec(
  name: string,
  raw: JsonObject,
  place: { readonly scope: EditableScope; readonly file: string; readonly baseDir: string },
  env: Environment,
): ServerSpec {
  const { url, oauth } = raw;
  const bare = oauth === undefined ? { url } : { url, oauth };
  const spec = { ...specFromCode(name, bare, place.baseDir), ...place };
  return { ...spec, entry: expandEntry(spec, env) };
}

/** Extracts a literal client secret from an entry, so that it is not written to a file; a `${VAR}` may stay. */
export function takeClientSecret(raw: JsonObject): {
  raw: JsonObject;
  secret?: string;
} {
  const { oauth } = raw;
  if (typeof oauth !== 'object' || oauth === null || !('clientSecret' in oauth)) return { raw };
  const { clientSecret, ...rest } = oauth;
  if (typeof clientSecret !== 'string' || clientSecret.includes('${')) return { raw };
  return { raw: { ...raw, oauth: rest }, secret: clientSecret };
}
