/** Keys of other agents' entries that are not supported, each with its replacement: always reported. */

import { noEffect, type Report } from './fault.ts';

const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['cmd', 'Write "command".'],
  ['environment', 'Write "env".'],
  ['envFile', 'Files of variables are not read: name each variable in "env" or "envVars".'],
  ['serverUrl', 'Write "url".'],
  ['httpUrl', 'Write "url".'],
  [
    'timeout',
    'Write "startupTimeoutMs" or "toolTimeoutMs", in milliseconds: other agents mean one or the other.',
  ],
  ['autoApprove', 'Write "tools": { "<tool>": { "approval": "approve" } }.'],
  ['alwaysAllow', 'Write "tools": { "<tool>": { "approval": "approve" } }.'],
  ['includeTools', 'Write "enabledTools".'],
  ['excludeTools', 'Write "disabledTools".'],
]);

/** Returns the replacement for another agent's key; undefined for other keys. */
export function otherAgentsHint(name: string): string | undefined {
  return INSTEAD.get(name);
}

export function reportOtherAgentsKey(name: string, report: Report): void {
  const instead = INSTEAD.get(name);
  if (instead !== undefined) report(noEffect([name], 'here', instead));
}
