/** Decides whether a call is allowed, needs approval, or is denied. Pure. See docs/security.md, "Who may do what". */

import picomatch from 'picomatch';
import type { Approval, Permissions, ServerSpec, Settings } from '../config/entry.ts';
import { isForeign } from '../config/scopes.ts';
import { getOrMake } from '../lib/get-or-make.ts';

/** Annotations of a server's tool; used only if the user marked the server as trusted. */
export interface Hints {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** Names of one tool in both spellings that rules may use. */
export interface Spellings {
  /** `mcp__server__tool` */
  readonly long: readonly string[];
  /** `server__tool` */
  readonly short: readonly string[];
  /** Names of the server alone, for rules that apply to all of its tools. */
  readonly server?: readonly string[];
}

/** The names of one tool for rule matching. Created once per tool, so that results can be cached by it. */
export interface RuleNames {
  /** The rule that allows exactly this tool: saved when a user answers "always". */
  readonly rule: string;
  /** The unique name in each spelling. */
  readonly assigned: Spellings;
  /**
   * Also includes the names before they were made unique. A rule that denies or asks applies to them too, so that a
   * collision cannot lift the rule; a rule that allows does not, or a collision could reuse it (A23).
   */
  readonly all: Spellings;
}

export interface ApprovalInput {
  readonly names: RuleNames;
  readonly approval: Approval;
  readonly permissions: Permissions;
  readonly hints: Hints | undefined;
  readonly trusted: boolean;
  /** Rules that the user gave for this session, in the form of `sessionRule`. */
  readonly sessionAllows: ReadonlySet<string>;
  /** Permanent rules given while this host runs, in the same form: its configuration is not reloaded yet. */
  readonly alwaysAllows?: ReadonlySet<string>;
  /** The owner of the server, from `entryOwner`; default: the user. */
  readonly owner?: string;
}

/** Returns a session rule bound to the server's owner, so that another server with the same name does not get it. */
export function sessionRule({ rule }: Pick<RuleNames, 'rule'>, owner: string): string {
  return owner === '' ? rule : `${rule} ${owner}`;
}

const STRICTNESS: readonly Approval[] = ['approve', 'auto', 'writes', 'prompt'];

/** Returns the approval mode of a tool. A project's or plugin's entry can only be stricter than the user's default. */
export function approvalMode(
  spec: ServerSpec,
  ofTool: Approval | undefined,
  { defaults }: Pick<Settings, 'defaults'>,
): Approval {
  const byDefault = defaults?.approval ?? 'auto';
  const set = ofTool ?? spec.entry.approval ?? byDefault;
  if (!isForeign(spec)) return set;
  return STRICTNESS.indexOf(set) > STRICTNESS.indexOf(byDefault) ? set : byDefault;
}

export type ApprovalDecision =
  | { readonly kind: 'pass'; readonly reason: string }
  /** `explicit`: the user configured that this asks; running a command by hand does not answer it. */
  | {
      readonly kind: 'ask';
      readonly explicit: boolean;
      readonly reason: string;
      /** The `ask` rule that matched; it takes precedence over `allow` rules, but not over session rules. */
      readonly rule?: string;
    }
  | { readonly kind: 'deny'; readonly reason: string };

export function decideApproval(input: ApprovalInput): ApprovalDecision {
  const { names, permissions } = input;
  const { deny, ask, allow } = permissions;
  const denied = matching(deny, names, 'all');
  if (denied !== undefined) return { kind: 'deny', reason: `the rule ${JSON.stringify(denied)} denies it` };
  if (input.sessionAllows.has(sessionRule(names, input.owner ?? '')))
    return { kind: 'pass', reason: 'allowed for this session' };
  const asked = matching(ask, names, 'all');
  if (asked !== undefined) {
    const reason = `the rule ${JSON.stringify(asked)} requires approval`;
    return { kind: 'ask', explicit: true, reason, rule: asked };
  }
  const allowed = matching(allow, names, 'assigned');
  if (allowed !== undefined) return { kind: 'pass', reason: `the rule ${JSON.stringify(allowed)} allows it` };
  if (input.alwaysAllows?.size && input.alwaysAllows.has(sessionRule(names, input.owner ?? '')))
    return { kind: 'pass', reason: `the rule ${JSON.stringify(names.rule)} allows it` };
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
        const reason = 'this server is not marked "trusted": true';
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

/** Returns the first rule of a list that matches a tool. */
type Matcher = (names: Spellings) => string | undefined;

/** Caches compiled rule lists: a list comes from a configuration and is checked on every call. */
const compiled = new WeakMap<readonly string[], Matcher>();

/** Matches negated globs. */
const NEGATED = /^!|!\(/;
const LONG_PREFIX = 'mcp__';

/** Creates a matcher that is true if a rule matches a tool in either spelling. */
export function ruleMatcher(rule: string): (names: Spellings) => boolean {
  const glob = picomatch(rule, { dot: true });
  const matches = (name: string): boolean => name === rule || glob(name);
  if (!NEGATED.test(rule)) {
    return ({ long, short, server = [] }) =>
      long.some(matches) || short.some(matches) || server.includes(rule);
  }
  if (rule.startsWith(LONG_PREFIX)) return ({ long }) => long.some(matches);
  // "!mcp__git__*" excludes mcp__git__push, so it must not match by the other spelling, git__push.
  return ({ long, short }) => long.some(matches) && short.some(matches);
}

function compile(rules: readonly string[]): Matcher {
  const matchers = rules.map((rule) => ({ rule, matches: ruleMatcher(rule) }));
  const known = new WeakMap<Spellings, { readonly rule: string | undefined }>();
  return (names) =>
    getOrMake(known, names, () => ({ rule: matchers.find(({ matches }) => matches(names))?.rule })).rule;
}

function matching(
  rules: readonly string[] | undefined,
  names: RuleNames,
  which: 'assigned' | 'all',
): string | undefined {
  if (rules === undefined || rules.length === 0) return undefined;
  return getOrMake(compiled, rules, () => compile(rules))(names[which]);
}
