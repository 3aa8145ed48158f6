/** Which entries that a program writes have to be approved by a person before they are used. */

import { canonicalJson } from '../lib/canonical-json.ts';
import { isRecord } from '../lib/json-rpc.ts';

type Entry = Readonly<Record<string, unknown>>;

/** Keys that neither decide what runs or is contacted nor make a check weaker. */
const PLAIN_KEYS: ReadonlySet<string> = new Set([
  'enabled',
  'disabled',
  'unapproved',
  'required',
  'startupTimeoutMs',
  'toolTimeoutMs',
  'maxTotalMs',
  'maxOutputTokens',
  'enabledTools',
  'disabledTools',
  'alwaysLoad',
  'lifecycle',
]);
/** Of a remote server, if they take nothing from the environment. */
const REMOTE_KEYS: ReadonlySet<string> = new Set(['type', 'url', 'headers', 'oauth']);

/**
 * Marks an entry as not approved yet, unless it only names an address, or changes nothing that matters in the approved
 * entry that it replaces. `before`: that entry; `hides`: whether another scope has an entry of this name.
 */
export function markUnapproved(entry: Entry, before: unknown, hides: boolean): Entry {
  const { unapproved: _claimed, ...raw } = entry;
  const isApproved =
    isRecord(before) &&
    before['unapproved'] !== true &&
    canonicalJson(deciding(before)) === canonicalJson(deciding(raw));
  if (isApproved || (before === undefined && !hides && isOnlyAnAddress(raw))) return raw;
  return { ...raw, unapproved: true };
}

function deciding(entry: Entry): Entry {
  return Object.fromEntries(Object.entries(entry).filter(([key]) => !PLAIN_KEYS.has(key)));
}

function isOnlyAnAddress(entry: Entry): boolean {
  const rest = deciding(entry);
  const { oauth } = rest;
  return (
    typeof rest['url'] === 'string' &&
    Object.keys(rest).every((key) => REMOTE_KEYS.has(key)) &&
    // References are filled in with values of the environment and of the keyring.
    !JSON.stringify(rest).includes('${') &&
    !(isRecord(oauth) && 'grant' in oauth)
  );
}
