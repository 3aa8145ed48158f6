/** Rules that a person is offered for a call, and whether a tool looks destructive. */

import { dirname } from 'node:path';
import { isRecord } from '../lib/json.ts';
import { compileRule, type RuleSubject } from './rule-conditions.ts';

/** More conditions than these are not read by a person. */
const MAX_CONDITIONS = 3;
const MAX_VALUE_CHARS = 200;

/** Words in the names of tools that delete or overwrite. */
const DESTRUCTIVE_NAME =
  /(?:^|[^a-z])(?:delete|remove|drop|destroy|wipe|erase|purge|truncate|kill|terminate|reset|revoke|uninstall|overwrite|force|format|rm)(?![a-z])/;

interface MarkedTool {
  readonly tool: string;
  readonly annotations?: { readonly readOnlyHint?: boolean; readonly destructiveHint?: boolean } | undefined;
}

/**
 * True if a tool is marked as destructive, or its name is that of one that deletes. Only a trusted server's claim that
 * it is harmless is believed; a claim that it is destructive always is.
 */
export function isDestructive({ tool, annotations }: MarkedTool, isTrusted: boolean): boolean {
  if (annotations?.destructiveHint === true && annotations.readOnlyHint !== true) return true;
  const isHarmless = annotations?.readOnlyHint === true || annotations?.destructiveHint === false;
  if (isTrusted && isHarmless) return false;
  return DESTRUCTIVE_NAME.test(tool.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toLowerCase());
}

/**
 * Returns rules that allow a call, most general first: its tool, its tool for everything in the folder of a path, and
 * its tool with these arguments.
 *
 * @example
 * suggestedRules('mcp__fs__write', { arguments: { path: '/a/b.txt' }, projectDir: '/a', folders: [] });
 * // ['mcp__fs__write', 'mcp__fs__write(path="/a/**")', 'mcp__fs__write(path="/a/b.txt")']
 */
export function suggestedRules(rule: string, subject: RuleSubject): readonly string[] {
  const { arguments: args } = subject;
  const members = Object.entries(isRecord(args) ? args : {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1].length <= MAX_VALUE_CHARS,
  );
  const paths = members.filter(([, value]) => /^\/[^/]/.test(value));
  const folders = paths.flatMap(([name, value]) => {
    const folder = dirname(value);
    return folder === '/' ? [] : [`${rule}(${condition(name, folder, '/**')})`];
  });
  const chosen = members.slice(0, MAX_CONDITIONS);
  const exact =
    chosen.length === 0
      ? []
      : [`${rule}(${chosen.map(([name, value]) => condition(name, value)).join(', ')})`];
  const narrower = [...folders, ...exact].filter((each) => {
    const { test } = compileRule(each, 'allow');
    return test !== undefined && test !== 'never' && test(subject);
  });
  return [...new Set([rule, ...narrower])];
}

/** Characters of globs are escaped, so that a value matches itself only. */
function condition(name: string, value: string, tail = ''): string {
  const member = /^[\p{L}\p{N}_$@-]+$/u.test(name) ? name : JSON.stringify(name);
  const escaped = value.replaceAll(/[\\*?[\]{}]/g, '\\$&').replaceAll('"', '\\"');
  return `${member}="${escaped}${tail}"`;
}
