/** Decides whether a call is allowed, needs approval, or is denied. Pure. See docs/security.md, "Who may do what". */

import picomatch from 'picomatch';
import type { Approval, Permissions, ServerSpec, Settings } from '../config/entry.ts';
import { hasConditions } from '../config/rule-syntax.ts';
import { isForeign } from '../config/scopes.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { compileRule, type RuleEffect, type RuleSubject } from './rule-conditions.ts';

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
  /** Returns the arguments, for rules with conditions; undefined if they are not known yet. */
  readonly subject: () => RuleSubject | undefined;
}

/**
 * Returns a session rule bound to the server's owner, so that another server with the same name does not get it. One
 * that was given for an `ask` rule with conditions is bound to that rule: other arguments were not asked about.
 */
export function sessionRule({ rule }: Pick<RuleNames, 'rule'>, owner: string, askRule?: string): string {
  const bound = askRule !== undefined && hasConditions(askRule) ? `${rule} under ${askRule}` : rule;
  return owner === '' ? bound : `${bound} ${owner}`;
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
  /** `rule`: the rule that decided, if one did. */
  | { readonly kind: 'pass'; readonly reason: string; readonly rule?: string }
  /** `explicit`: the user configured that this asks; running a command by hand does not answer it. */
  | {
      readonly kind: 'ask';
      readonly explicit: boolean;
      readonly reason: string;
      /** The `ask` rule that matched; it takes precedence over `allow` rules, but not over session rules. */
      readonly rule?: string;
    }
  | { readonly kind: 'deny'; readonly reason: string; readonly rule?: string };

export function decideApproval(input: ApprovalInput): ApprovalDecision {
  const { names, permissions } = input;
  const denied = rulesFor(permissions.deny, names.all, 'refuse');
  const denying = denied.always ?? matchingRule(denied, input)?.rule;
  if (denying !== undefined)
    return { kind: 'deny', reason: `the rule ${JSON.stringify(denying)} denies it`, rule: denying };
  if (denied.conditional.length > 0 && input.subject() === undefined) return unsure(denied);
  const asked = askDecision(input);
  if (asked !== undefined) return asked;
  const allowed = rulesFor(permissions.allow, names.assigned, 'allow');
  if (allowed.allows !== undefined) return allowed.allows;
  const allowing = matchingRule(allowed, input);
  if (allowing !== undefined) return allowing.allows;
  if (input.alwaysAllows?.size && input.alwaysAllows.has(sessionRule(names, input.owner ?? '')))
    return allowedBy(names.rule);
  return byMode(input);
}

/** Returns the decision of `ask` rules and of approvals for the session. */
function askDecision(input: ApprovalInput): ApprovalDecision | undefined {
  const { names, permissions, sessionAllows, owner = '' } = input;
  const asked = rulesFor(permissions.ask, names.all, 'refuse');
  if (asked.conditional.length > 0) {
    const subject = input.subject();
    if (subject === undefined) return asked.always === undefined ? unsure(asked) : askedBy(asked.always);
    const matching = asked.conditional.filter(({ test }) => test(subject));
    const open = matching.find(({ rule }) => !sessionAllows.has(sessionRule(names, owner, rule)));
    if (open !== undefined) return askedBy(open.rule);
    if (matching.length > 0) return SESSION_ALLOWED;
  }
  if (sessionAllows.size > 0 && sessionAllows.has(sessionRule(names, owner))) return SESSION_ALLOWED;
  return asked.always === undefined ? undefined : askedBy(asked.always);
}

const SESSION_ALLOWED: ApprovalDecision = { kind: 'pass', reason: 'allowed for this session' };

function askedBy(rule: string): ApprovalDecision {
  return { kind: 'ask', explicit: true, reason: `the rule ${JSON.stringify(rule)} requires approval`, rule };
}

function allowedBy(rule: string): ApprovalDecision {
  return { kind: 'pass', reason: `the rule ${JSON.stringify(rule)} allows it`, rule };
}

/** The decision before the arguments are known. */
function unsure({ conditional: [first] }: ToolRules): ApprovalDecision {
  return {
    kind: 'ask',
    explicit: true,
    reason: `the rule ${JSON.stringify(first?.rule)} depends on its arguments`,
  };
}

/**
 * Returns the reason of a decision without the text of its rule: a rule can name servers and tools that a client of a
 * profile does not have.
 */
export function reasonWithoutRule({
  kind,
  reason,
  rule,
}: {
  readonly kind: 'ask' | 'deny';
  readonly reason: string;
  readonly rule?: string | undefined;
}): string {
  if (rule === undefined) return reason;
  return kind === 'deny'
    ? 'a rule of its configuration denies it'
    : 'a rule of its configuration requires approval';
}

/** Returns why a call is known to be read-only; undefined if it is not. */
export function readOnlyReason(
  input: Pick<ApprovalInput, 'names' | 'permissions' | 'hints' | 'trusted' | 'subject'>,
): { readonly reason: string; readonly rule?: string } | undefined {
  const { names, permissions, hints, trusted } = input;
  // The server's annotation is only believed if the user trusts it.
  if (trusted && hints?.readOnlyHint === true) return BY_ANNOTATION;
  const marked = rulesFor(permissions.readOnly, names.assigned, 'allow');
  const rule = marked.always ?? matchingRule(marked, input)?.rule;
  if (rule === undefined) return undefined;
  return { reason: `the rule ${JSON.stringify(rule)} marks it as read-only`, rule };
}

const BY_ANNOTATION = { reason: 'it is read-only' };

const MODE_APPROVES: ApprovalDecision = { kind: 'pass', reason: 'its approval mode is "approve"' };

function byMode(input: ApprovalInput): ApprovalDecision {
  const { approval, hints, trusted } = input;
  switch (approval) {
    case 'approve':
      return MODE_APPROVES;
    case 'prompt':
      return { kind: 'ask', explicit: true, reason: 'its approval mode is "prompt"' };
    case 'auto':
    case 'writes': {
      const readOnly = readOnlyReason(input);
      if (readOnly !== undefined) return { kind: 'pass', ...readOnly };
      if (!trusted) {
        const reason = 'this server is not marked "trusted": true';
        return { kind: 'ask', explicit: false, reason };
      }
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

/** The rules of one list that can match calls of one tool. */
interface ToolRules {
  /** The first rule that matches every call of the tool. */
  readonly always?: string | undefined;
  /** The decision of that rule in a list of `allow`, made once for all calls. */
  readonly allows?: ApprovalDecision | undefined;
  readonly conditional: readonly ConditionalRule[];
}

interface ConditionalRule {
  readonly rule: string;
  /** Its decision in a list of `allow`, made once for all calls. */
  readonly allows: ApprovalDecision;
  readonly test: (subject: RuleSubject) => boolean;
}

const NO_RULES: ToolRules = { conditional: [] };

interface RuleList {
  readonly rules: readonly {
    readonly rule: string;
    readonly name: string;
    readonly matches: (names: Spellings) => boolean;
    readonly test: ConditionalRule['test'] | undefined;
  }[];
  readonly byTool: WeakMap<Spellings, ToolRules>;
}

/** Caches compiled rule lists: a list comes from a configuration and is checked on every call. */
const compiled: Readonly<Record<RuleEffect, WeakMap<readonly string[], RuleList>>> = {
  allow: new WeakMap(),
  refuse: new WeakMap(),
};

/** Matches negated globs. */
const NEGATED = /^!|!\(/;
const LONG_PREFIX = 'mcp__';

/** Creates a matcher that is true if the name of a rule, which has no conditions, matches a tool in either spelling. */
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

/**
 * Creates a matcher for lists that select tools: a rule with conditions selects nothing in a list of tools to offer, and
 * every tool of its name in a list of tools to leave out.
 */
export function toolMatcher(rule: string, effect: RuleEffect): (names: Spellings) => boolean {
  if (effect === 'allow') return hasConditions(rule) ? () => false : ruleMatcher(rule);
  const [meant, written] = [ruleMatcher(compileRule(rule, effect).name), ruleMatcher(rule)];
  return (names) => meant(names) || written(names);
}

function compiledList(rules: readonly string[], effect: RuleEffect): RuleList {
  return getOrMake(compiled[effect], rules, () => ({
    rules: rules.flatMap((rule) => {
      const { name, test } = compileRule(rule, effect);
      return test === 'never' ? [] : [{ rule, name, test, matches: ruleMatcher(name) }];
    }),
    byTool: new WeakMap(),
  }));
}

/** Returns the rules of a list for one tool; looked up once for each tool. */
function rulesFor(rules: readonly string[] | undefined, names: Spellings, effect: RuleEffect): ToolRules {
  if (rules === undefined || rules.length === 0) return NO_RULES;
  const list = compiledList(rules, effect);
  return getOrMake(list.byTool, names, () => {
    const found = list.rules.filter(({ matches }) => matches(names));
    if (found.length === 0) return NO_RULES;
    const always = found.find(({ test }) => test === undefined)?.rule;
    return {
      always,
      allows: always === undefined ? undefined : allowedBy(always),
      conditional: found.flatMap(({ rule, test }) =>
        test === undefined ? [] : [{ rule, test, allows: allowedBy(rule) }],
      ),
    };
  });
}

/** Returns the first rule with conditions that the arguments match; none if they are not known. */
function matchingRule(
  { conditional }: ToolRules,
  input: Pick<ApprovalInput, 'subject'>,
): ConditionalRule | undefined {
  if (conditional.length === 0) return undefined;
  const subject = input.subject();
  return subject && conditional.find(({ test }) => test(subject));
}

/**
 * Returns the first rule of `ask` or `deny` that matches an action other than a call of a tool.
 *
 * @param isFor - Whether the name of a rule includes the action.
 * @param subject - Absent: only rules without conditions.
 * @param isOpen - False for rules that are skipped.
 */
export function refusingRule(
  rules: readonly string[] | undefined,
  isFor: (name: string) => boolean,
  subject?: RuleSubject,
  isOpen: (rule: string) => boolean = () => true,
): string | undefined {
  if (rules === undefined || rules.length === 0) return undefined;
  const matches = (test: ConditionalRule['test'] | undefined): boolean =>
    test === undefined || (subject !== undefined && test(subject));
  return compiledList(rules, 'refuse').rules.find(
    ({ rule, name, test }) => isFor(name) && isOpen(rule) && matches(test),
  )?.rule;
}
