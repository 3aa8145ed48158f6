/** Decides whether a call passes, is asked about, or is denied. Pure; the tables are in the contract ("Who may do what"). */

import picomatch from 'picomatch';
import type { Approval, Permissions } from '../config/entry.ts';

/** Names whose rule is remembered: tools are called again and again. */
const MAX_KNOWN_NAMES = 10_000;

/** Hints a server gives about its tool; they count only when the user marked the server as trusted. */
export interface Hints {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly openWorldHint?: boolean;
}

export interface ApprovalInput {
  /** The name rules are written against, and nobody else's: `mcp__server__tool`. */
  readonly name: string;
  /**
   * The name before it was made unique. A rule that forbids or asks holds for it too, so that a collision
   * cannot lift the rule; a rule that allows does not, or a collision could borrow it (A23).
   */
  readonly plainName: () => string;
  readonly approval: Approval;
  readonly permissions: Permissions;
  readonly hints: Hints | undefined;
  readonly trusted: boolean;
  /** Rules that a person gave for this session. */
  readonly sessionAllows: ReadonlySet<string>;
}

export type ApprovalDecision =
  | { readonly kind: 'pass'; readonly reason: string }
  /** `explicit`: a person wrote down that this is to be asked; typing a command does not answer it. */
  | { readonly kind: 'ask'; readonly explicit: boolean; readonly reason: string }
  | { readonly kind: 'deny'; readonly reason: string };

export function decideApproval(input: ApprovalInput): ApprovalDecision {
  const { name, permissions } = input;
  const { deny, ask, allow } = permissions;
  const plainName = deny === undefined && ask === undefined ? name : input.plainName();
  const denied = matching(deny, name) ?? matching(deny, plainName);
  if (denied !== undefined) return { kind: 'deny', reason: `the rule ${JSON.stringify(denied)} denies it` };
  if (input.sessionAllows.has(name)) return { kind: 'pass', reason: 'allowed for this session' };
  const asked = matching(ask, name) ?? matching(ask, plainName);
  if (asked !== undefined) {
    return { kind: 'ask', explicit: true, reason: `the rule ${JSON.stringify(asked)} wants it asked about` };
  }
  const allowed = matching(allow, name);
  if (allowed !== undefined) return { kind: 'pass', reason: `the rule ${JSON.stringify(allowed)} allows it` };
  return byMode(input);
}

function byMode({ approval, hints, trusted }: ApprovalInput): ApprovalDecision {
  switch (approval) {
    case 'approve':
      return { kind: 'pass', reason: 'its approval mode is "approve"' };
    case 'prompt':
      return { kind: 'ask', explicit: true, reason: 'its approval mode is "prompt"' };
    case 'auto':
    case 'writes': {
      if (!trusted) {
        const reason = 'its server is not marked as trusted, so what it says about its tools does not count';
        return { kind: 'ask', explicit: false, reason };
      }
      if (hints?.readOnlyHint === true) return { kind: 'pass', reason: 'it is read-only' };
      if (approval === 'writes')
        return { kind: 'ask', explicit: false, reason: 'it is not marked read-only' };
      if (hints?.destructiveHint === false && hints.openWorldHint === false) {
        return { kind: 'pass', reason: 'it is neither destructive nor open-world' };
      }
      return { kind: 'ask', explicit: false, reason: 'it may destroy something or reach the outside world' };
    }
    default:
      return approval satisfies never;
  }
}

/** The rule of a list that a name falls under, if there is one. */
type Matcher = (name: string) => string | undefined;

/** Compiled once for each list of rules: a list comes from a configuration and is looked at in every call. */
const compiled = new WeakMap<readonly string[], Matcher>();

function compile(rules: readonly string[]): Matcher {
  const globs = rules.map((rule) => ({ rule, matches: picomatch(rule, { dot: true }) }));
  const known = new Map<string, string | undefined>();
  return (name) => {
    if (known.has(name)) return known.get(name);
    const found = globs.find(({ rule, matches }) => name === rule || matches(name))?.rule;
    if (known.size >= MAX_KNOWN_NAMES) known.clear();
    known.set(name, found);
    return found;
  };
}

function matching(rules: readonly string[] | undefined, name: string): string | undefined {
  if (rules === undefined || rules.length === 0) return undefined;
  let match = compiled.get(rules);
  if (match === undefined) {
    match = compile(rules);
    compiled.set(rules, match);
  }
  return match(name);
}
