/** What a project's file must not decide about the person who opened it. */

import { isRecord } from '../lib/json-rpc.ts';
import type { Scope } from './entry.ts';
import { type JsonPath, noEffect, type Report } from './fault.ts';

/** Takes out of an entry what has no effect in a project's or plugin's file, and says so. */
export function dropPrivileges(entry: Record<string, unknown>, scope: Scope, report: Report): void {
  const withoutEffect = (path: JsonPath): ReturnType<typeof noEffect> =>
    noEffect(
      path,
      scope === 'plugin' ? "in a plugin's file" : 'in a project file',
      'Set it in your own scope: plugboard add --scope local or user.',
    );
  const drop = (key: string): void => {
    delete entry[key];
    report(withoutEffect([key]));
  };
  if (entry['trusted'] === true) drop('trusted');
  if (entry['inheritEnv'] === true) drop('inheritEnv');
  if (entry['approval'] === 'approve') drop('approval');
  if (entry['pins'] !== undefined && entry['pins'] !== 'hold') drop('pins');
  // Having none is the default, so any sandbox that is asked for is at least as strong; switching it off is not.
  if ('sandbox' in entry && isOff(entry['sandbox'])) drop('sandbox');
  if (!isRecord(entry['tools'])) return;
  for (const [tool, settings] of Object.entries(entry['tools'])) {
    if (!isRecord(settings) || settings['approval'] !== 'approve') continue;
    delete settings['approval'];
    report(withoutEffect(['tools', tool, 'approval']));
  }
}

function isOff(sandbox: unknown): boolean {
  if (isRecord(sandbox)) return sandbox['enabled'] === false;
  return !sandbox || sandbox === 'off' || sandbox === 'none';
}
