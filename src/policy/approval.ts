/** Decides whether a call passes, is asked about, or is denied. Pure; the tables are in the contract ("Who may do what"). */

import picomatch from 'picomatch';
import type { Approval, Permissions } from '../config/entry.ts';

/** Hints a server gives about its tool; they count only when the user marked the server as trusted. */
export interface Hints {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly openWorldHint?: boolean;
}

export interface ApprovalInput {
  /** The name rules are written against: `mcp__server__tool`. */
  readonly name: string;
  readonly approval: Approval;
  readonly permissions: Permissions;
  readonly hints: Hints | undefined;
  readonly trusted: boolean;
  /** Rules that a person gave for this session. */
  readonly sessionAllows: ReadonlySet<string>;
}

export type ApprovalDecision =
  | { readonly kind: 'pass' }
  /** `explicit`: a person wrote down that this is to be asked; typing a command does not answer it. */
  | { readonly kind: 'ask'; readonly explicit: boolean; readonly reason: string }
  | { readonly kind: 'deny'; readonly reason: string };

export function decideApproval(input: ApprovalInput): ApprovalDecision {
  const { name, permissions } = input;
  const denied = matching(permissions.deny, name);
  if (denied !== undefined) return { kind: 'deny', reason: `the rule ${JSON.stringify(denied)} denies it` };
  if (input.sessionAllows.has(name)) return { kind: 'pass' };
  const asked = matching(permissions.ask, name);
  if (asked !== undefined) {
    return { kind: 'ask', explicit: true, reason: `the rule ${JSON.stringify(asked)} wants it asked about` };
  }
  if (matching(permissions.allow, name) !== undefined) return { kind: 'pass' };
  return byMode(input);
}

function byMode({ approval, hints, trusted }: ApprovalInput): ApprovalDecision {
  switch (approval) {
    case 'approve':
      return { kind: 'pass' };
    case 'prompt':
      return { kind: 'ask', explicit: true, reason: 'its approval mode is "prompt"' };
    case 'auto':
    case 'writes': {
      if (!trusted) {
        const reason = 'its server is not marked as trusted, so what it says about its tools does not count';
        return { kind: 'ask', explicit: false, reason };
      }
      if (hints?.readOnlyHint === true) return { kind: 'pass' };
      if (approval === 'writes')
        return { kind: 'ask', explicit: false, reason: 'it is not marked read-only' };
      if (hints?.destructiveHint === false && hints.openWorldHint === false) return { kind: 'pass' };
      return { kind: 'ask', explicit: false, reason: 'it may destroy something or reach the outside world' };
    }
    default:
      return approval satisfies never;
  }
}

function matching(rules: readonly string[] | undefined, name: string): string | undefined {
  return rules?.find((rule) => rule === name || picomatch.isMatch(name, rule, { dot: true }));
}
