/** Decides by the managed rules whether a server may run, and names the rule. In doubt it is no. */

import { isRemote, isStdio, type ServerEntry, type ServerSpec } from '../config/entry.ts';
import { type Environment, expandEntry } from '../config/expand.ts';
import type { Managed, ManagedMatcher, ManagedRule } from '../config/managed.ts';
import { exceedsGrants } from './managed-grants.ts';
import { matchesUrl } from './url-pattern.ts';

/** The rule that blocks a server, in words; undefined when none does. */
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
  // What is allowed is what would really run, so the last form, with its variables filled in, counts.
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

/** An entry as it is written, and as it would run: a rule cannot be dodged by writing a word as a variable. */
function formsOf(spec: ServerSpec, env: Environment): readonly ServerEntry[] {
  try {
    return [spec.entry, expandEntry(spec, env)];
  } catch {
    return [spec.entry]; // A variable is missing: it cannot start either.
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
