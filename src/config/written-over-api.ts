/** Decides which entries written over the management API a person must approve before they are used. */

import { canonicalJson } from '../lib/canonical-json.ts';
import { isRecord, type JsonObject } from '../lib/json.ts';

/** Keys that neither affect what runs or is contacted nor weaken a check. */
const PLAIN_KEYS: ReadonlySet<string> = new Set([
  'enabled',
  'disabled',
  'unapproved',
  'required',
  'startupTimeoutMs',
  'toolTimeoutMs',
  'maxTotalMs',
  'maxOutputTokens',
  'maxConcurrentCalls',
  'backgroundAfter',
  'enabledTools',
  'disabledTools',
  'alwaysLoad',
  'lifecycle',
]);
/** Allowed for a remote server, if they use nothing from the environment. */
const REMOTE_KEYS: ReadonlySet<string> = new Set(['type', 'url', 'headers', 'oauth']);

/**
 * Marks an entry as unapproved, unless it only names a URL, or changes nothing relevant in the approved entry that it
 * replaces. `before`: that entry; `hides`: whether another scope has an entry of this name.
 */
export function markUnapproved(entry: JsonObject, before: unknown, hides: boolean): JsonObject {
  const { unapproved: _claimed, ...raw } = entry;
  const isApproved =
    isRecord(before) &&
    before['unapproved'] !== true &&
    canonicalJson(deciding(before)) === canonicalJson(deciding(raw));
  if (isApproved || (before === undefined && !hides && isOnlyAnAddress(raw))) return raw;
  return { ...raw, unapproved: true };
}

function deciding(entry: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(entry).filter(([key]) => !PLAIN_KEYS.has(key)));
}

function isOnlyAnAddress(entry: JsonObject): boolean {
  const rest = deciding(entry);
  const { oauth } = rest;
  return (
    typeof rest['url'] === 'string' &&
    Object.keys(rest).every((key) => REMOTE_KEYS.has(key)) &&
    // References are expanded with values from the environment and the keyring.
    !JSON.stringify(rest).includes('${') &&
    !(isRecord(oauth) && 'grant' in oauth)
  );
}
