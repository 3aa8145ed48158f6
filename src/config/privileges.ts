/** Removes keys from entries of projects and plugins that only the user may set. */

import { isRecord } from '../lib/json.ts';
import { type JsonPath, noEffect, type Report } from './fault.ts';
import { type Scope, supplierOf } from './scopes.ts';

/** The keys of an entry that only the user may set, or may set to every value. */
type Privileged = {
  [Key in 'trusted' | 'inheritEnv' | 'approval' | 'pins' | 'sandbox' | 'tools']?: unknown;
};

/** Removes the keys of an entry that have no effect in a project's or plugin's file, and reports them. */
export function dropPrivileges(entry: Privileged, scope: Scope, report: Report): void {
  const withoutEffect = (path: JsonPath): ReturnType<typeof noEffect> =>
    noEffect(
      path,
      supplierOf({ scope }) === 'plugin' ? "in a plugin's file" : 'in a project file',
      'Set it in your own scope: plugboard add --scope local or user.',
    );
  const drop = (key: keyof Privileged): void => {
    delete entry[key];
    report(withoutEffect([key]));
  };
  if (entry.trusted === true) drop('trusted');
  if (entry.inheritEnv === true) drop('inheritEnv');
  if (entry.approval === 'approve') drop('approval');
  if (entry.pins !== undefined && entry.pins !== 'hold') drop('pins');
  // No sandbox is the default, so any requested sandbox is at least as strong; disabling it is not.
  if ('sandbox' in entry && isOff(entry.sandbox)) drop('sandbox');
  if (!isRecord(entry.tools)) return;
  for (const [tool, settings] of Object.entries(entry.tools)) {
    if (!isRecord(settings) || settings['approval'] !== 'approve') continue;
    delete settings['approval'];
    report(withoutEffect(['tools', tool, 'approval']));
  }
}

function isOff(sandbox: unknown): boolean {
  if (isRecord(sandbox)) return sandbox['enabled'] === false;
  return !sandbox || sandbox === 'off' || sandbox === 'none';
}
