/** Decides by the managed rules whether a server may run, and names the rule. Denies if in doubt. */

import { isRemote, isStdio, type ServerEntry, type ServerSpec } from '../config/entry.ts';
import { type Environment, expandEntry } from '../config/expand.ts';
import type { Managed, ManagedMatcher, ManagedRule } from '../config/managed.ts';
import { exceedsGrants } from './managed-grants.ts';
import { matchesUrl } from './url-pattern.ts';

/** Returns the text of the rule that blocks a server; undefined if none does. */
export function blockingRule(spec: ServerSpec, managed: Managed, env: Environment): string | undefined {
  if (managed.closed !== undefined) return managed.closed;
  const forms = formsOf(spec, env);
  const denied = managed.denied.find((rule) =>
    forms.some((entry) => matches(rule, spec.name, entry, 'deny')),
  );
  if (denied !== undefined) return `${denied.shown} in ${managed.policyFile} denies it`;
  if (managed.exclusive !== undefined && spec.scope !== 'managed') {
    return `${managed.exclusive} is exclusive and does not list it`;
  }
  if (managed.allowed === undefined) return undefined;
  // Permission is checked against the program that really runs: the last form, with its variables expanded.
  const real = forms.at(-1) ?? spec.entry;
  const fitting = managed.allowed.filter((rule) => matches(rule, spec.name, real, 'allow'));
  let why: string | undefined;
  for (const { matcher, shown } of fitting) {
    const exceeds = exceedsGrants(matcher, spec, real, env);
    if (exceeds === undefined) return undefined;
    why ??= `${shown} in ${managed.policyFile} does not allow ${exceeds}`;
  }
  return why ?? `allowedServers in ${managed.policyFile} does not list it`;
}

/** Returns an entry as written and as expanded, so that a variable cannot be used to evade a rule. */
function formsOf(spec: ServerSpec, env: Environment): readonly ServerEntry[] {
  try {
    return [spec.entry, expandEntry(spec, env)];
  } catch {
    return [spec.entry]; // A variable is missing, so it cannot start either.
  }
}

function matches(
  { matcher }: ManagedRule,
  name: string,
  entry: ServerEntry,
  effect: 'allow' | 'deny',
): boolean {
  if (matcher.kind === 'name') return matcher.name === name;
  return (matcher.name ?? name) === name && matchesEntry(matcher, entry, effect);
}

function matchesEntry(
  matcher: Exclude<ManagedMatcher, { kind: 'name' }>,
  entry: ServerEntry,
  effect: 'allow' | 'deny',
): boolean {
  if (matcher.kind === 'url') return isRemote(entry) && matchesUrl(matcher.pattern, entry.url, effect);
  if (!isStdio(entry)) return false;
  const words = [entry.command, ...(entry.args ?? [])];
  return words.length === matcher.words.length && words.every((word, at) => word === matcher.words[at]);
}
