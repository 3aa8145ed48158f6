/**
 * Applies permission rules to content other than tools: resources, prompts and completions (A33).
 *
 * A rule of `permissions` names tools. One that matches every tool of a server (`mcp__docs__*`, `docs__*`, `mcp__docs`,
 * `docs`) is for the whole server, so `deny` and `ask` also apply to its content; a rule for some tools does not. Single
 * resources and prompts have rules with the names of their methods: `mcp__docs__resources.read(uri=…)`.
 */

import { CONTENT_ENDINGS, contentRuleNames } from '../catalog/resource-tool-definitions.ts';
import { plainName, serverNames } from '../catalog/tool-names.ts';
import type { Permissions } from '../config/entry.ts';
import { hasConditions } from '../config/rule-syntax.ts';
import { PlugboardError } from '../errors.ts';
import { refusingRule, ruleMatcher, sessionRule } from '../policy/approval.ts';
import type { RuleSubject } from '../policy/rule-conditions.ts';
import type { PathPlace } from '../policy/value-spellings.ts';
import { askPerson, howToAllow } from './ask-person.ts';
import type { CallContext } from './call.ts';
import type { Session } from './session.ts';
import { reasonFor, settingsFor } from './session-view.ts';

export interface ContentAction {
  readonly server: string;
  readonly kind: 'resource' | 'prompt' | 'extension';
  /** The address of the resource, the name of the prompt, or the method of an extension. */
  readonly name: string;
  /** The arguments of the prompt, or the params of an extension. */
  readonly arguments?: unknown;
  /** False where a question would be disruptive, as for a suggestion while a person types. */
  readonly mayAsk: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Two tool names that no rule for single tools can both match. */
const PROBES = ['plugboard_probe', '7'];

/** True if the name of a rule matches every tool of a server. */
function isServerName(name: string, server: string): boolean {
  const matches = ruleMatcher(name);
  return PROBES.every((tool) =>
    matches({
      long: [plainName(server, tool, 'mcp__')],
      short: [plainName(server, tool, 'gateway')],
      server: serverNames(server),
    }),
  );
}

/** True if a rule allows every call of every tool of a server. */
export function isServerRule(rule: string, server: string): boolean {
  return !hasConditions(rule) && isServerName(rule, server);
}

/** Returns the error if `deny` denies all content of a server. */
export function contentDenial(permissions: Permissions, server: string): PlugboardError | undefined {
  const rule = denyingRule(permissions, server);
  return rule === undefined ? undefined : denialBy(ruleText(rule), server, `everything of ${server}`);
}

/** Returns the rule that denies all content of a server. */
function denyingRule({ deny }: Permissions, server: string): string | undefined {
  return refusingRule(deny, (name) => isServerName(name, server));
}

function denialBy(rule: string, server: string, what: string): PlugboardError {
  return new PlugboardError('DENIED', `${rule} denies ${what}`, { server });
}

function ruleText(rule: string): string {
  return `The rule ${JSON.stringify(rule)}`;
}

/** True if the name of a rule includes an action: all tools of the server, or the method by name. */
function isForAction(name: string, { server, kind }: ContentAction): boolean {
  if (isServerName(name, server)) return true;
  if (kind === 'extension' || !name.endsWith(CONTENT_ENDINGS[kind])) return false;
  return ruleMatcher(name)(contentRuleNames(server, CONTENT_ENDINGS[kind]).all);
}

function argumentsOf({ kind, name, arguments: args = {} }: ContentAction): unknown {
  if (kind === 'extension') return args;
  return kind === 'resource' ? { uri: name } : { name, arguments: args };
}

/** The owner of the server's entry, and where its paths begin. */
export interface ContentOrigin {
  readonly owner: string;
  readonly place: PathPlace;
}

/** Resolves if the rules allow a session this action; rejects with the reason. */
export async function approveContent(
  context: Pick<CallContext, 'openQuestions' | 'log' | 'settings'>,
  session: Session,
  action: ContentAction,
  { owner, place }: ContentOrigin,
): Promise<void> {
  const { server, kind, name, mayAsk, signal } = action;
  const { permissions = {} } = settingsFor(context, session);
  const what = kind === 'extension' ? 'request' : kind;
  const subject = `the ${what} ${JSON.stringify(name)} of ${server}`;
  const given: RuleSubject = { ...place, arguments: argumentsOf(action) };
  const isFor = (ruleName: string): boolean => isForAction(ruleName, action);
  const shown = (rule: string): string =>
    session.profile === undefined ? ruleText(rule) : 'A rule of the configuration';
  const whole = denyingRule(permissions, server);
  if (whole !== undefined) throw denialBy(shown(whole), server, `everything of ${server}`);
  const denying = refusingRule(permissions.deny, isFor, given);
  if (denying !== undefined) throw denialBy(shown(denying), server, subject);
  const keyOf = (askRule: string): string => sessionRule({ rule: `content of ${server}` }, owner, askRule);
  const isOpen = (askRule: string): boolean => !session.allowed.has(keyOf(askRule));
  const rule = refusingRule(permissions.ask, isFor, given, isOpen);
  if (rule === undefined) return;
  const key = keyOf(rule);
  const reason = `the rule ${JSON.stringify(rule)} requires approval`;
  if (!mayAsk) {
    const why = reasonFor(session, { kind: 'ask', reason, rule });
    throw new PlugboardError('APPROVAL_REQUIRED', `${subject} must be approved: ${why}`, {
      server,
      hint: `${kind === 'resource' ? 'Read' : 'Use'} it first, and allow that for the session.`,
    });
  }
  const method = kind === 'extension' ? name : kind === 'resource' ? 'resources/read' : 'prompts/get';
  const granted = await askPerson(context, session, {
    request: {
      server,
      tool: method,
      name: method,
      arguments: shownArguments(action),
      reason,
      askRule: rule,
    },
    subject,
    undone: kind === 'resource' ? 'read' : 'used',
    advice: howToAllow(rule, { askRule: rule }),
    signal,
  });
  // A permanent rule would have no effect: `ask` overrides `allow`.
  if (granted !== 'allow') session.allowed.add(key);
}

function shownArguments({ kind, name, arguments: args }: ContentAction): Readonly<Record<string, unknown>> {
  if (kind === 'extension') return {};
  if (kind === 'resource') return { uri: name };
  return args === undefined ? { name } : { name, arguments: args };
}
