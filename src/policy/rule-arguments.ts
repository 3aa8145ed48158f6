/** Finds conditions of rules on arguments that a tool does not have: names of arguments are compared exactly. */

import { parseRule } from '../config/rule-syntax.ts';
import { isRecord } from '../lib/json.ts';
import { nearest } from '../lib/nearest.ts';
import { ruleMatcher, type Spellings } from './approval.ts';

export interface AbsentArgument {
  readonly rule: string;
  readonly argument: string;
  /** The argument of the tool that was probably meant. */
  readonly near: string | undefined;
}

const GLOB = /[*?[\](){}!@+]/;

/**
 * Returns the arguments in rules for a tool that its schema does not have. A rule for many tools is reported only if the
 * name differs in case, `-` or `_` from an argument that the tool has.
 */
export function absentArguments(
  rules: readonly string[],
  names: Spellings,
  inputSchema: Readonly<Record<string, unknown>>,
): readonly AbsentArgument[] {
  const { properties } = inputSchema;
  const known = isRecord(properties) ? Object.keys(properties) : [];
  if (known.length === 0) return [];
  return [...new Set(rules)].flatMap((rule) => {
    const parsed = parseRule(rule);
    if ('fault' in parsed || parsed.conditions.length === 0 || !ruleMatcher(parsed.name)(names)) return [];
    const isForMany = GLOB.test(parsed.name);
    const absent = parsed.conditions.flatMap(({ argument: [first] }) =>
      first === 'all' || known.includes(first.member) ? [] : [first.member],
    );
    return [...new Set(absent)].flatMap((argument) => {
      const alike = known.find((name) => plain(name) === plain(argument));
      if (isForMany && alike === undefined) return [];
      return [{ rule, argument, near: alike ?? nearest(argument, known)[0] }];
    });
  });
}

function plain(name: string): string {
  return name.replaceAll(/[-_]/g, '').toLowerCase();
}
