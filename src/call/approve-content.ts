/**
 * Applies permission rules to content other than tools: resources, prompts and completions (A33).
 *
 * A rule of `permissions` names tools. One that matches every tool of a server (`mcp__docs__*`, `docs__*`, `mcp__docs`,
 * `docs`) is for the whole server, so `deny` and `ask` also apply to its content; a rule for some tools does not.
 */

import { plainName, serverNames } from '../catalog/tool-names.ts';
import type { Permissions } from '../config/entry.ts';
import { PlugboardError } from '../errors.ts';
import { ruleMatcher, sessionRule } from '../policy/approval.ts';
import { askPerson, howToAllow } from './ask-person.ts';
import type { CallContext } from './call.ts';
import type { Session } from './session.ts';
import { settingsFor } from './session-view.ts';

export interface ContentAction {
  readonly server: string;
  readonly kind: 'resource' | 'prompt' | 'extension';
  /** The address of the resource, the name of the prompt, or the method of an extension. */
  readonly name: string;
  /** False where a question would be disruptive, as for a suggestion while a person types. */
  readonly mayAsk: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Two tool names that no rule for single tools can both match. */
const PROBES = ['plugboard_probe', '7'];

/** True if a rule matches every tool of a server. */
export function isServerRule(rule: string, server: string): boolean {
  const matches = ruleMatcher(rule);
  return PROBES.every((tool) =>
    matches({
      long: [plainName(server, tool, 'mcp__')],
      short: [plainName(server, tool, 'gateway')],
      server: serverNames(server),
    }),
  );
}

function serverRule(rules: readonly string[] | undefined, server: string): string | undefined {
  return rules?.find((rule) => isServerRule(rule, server));
}

/** Returns the error if `deny` denies all content of a server. */
export function contentDenial({ deny }: Permissions, server: string): PlugboardError | undefined {
  const rule = serverRule(deny, server);
  if (rule === undefined) return undefined;
  const message = `the rule ${JSON.stringify(rule)} denies everything of ${server}`;
  return new PlugboardError('DENIED', message, { server });
}

/**
 * Resolves if the rules allow a session this action; rejects with the reason. `owner`: the owner of the server's
 * entry.
 */
export async function approveContent(
  context: Pick<CallContext, 'openQuestions' | 'log' | 'settings'>,
  session: Session,
  action: ContentAction,
  owner: string,
): Promise<void> {
  const { server, kind, name, mayAsk, signal } = action;
  const { permissions = {} } = settingsFor(context, session);
  const denial = contentDenial(permissions, server);
  if (denial !== undefined) throw denial;
  const rule = serverRule(permissions.ask, server);
  const key = sessionRule({ rule: `content of ${server}` }, owner);
  if (rule === undefined || session.allowed.has(key)) return;
  const reason = `the rule ${JSON.stringify(rule)} requires approval`;
  const what = kind === 'extension' ? 'request' : kind;
  const subject = `the ${what} ${JSON.stringify(name)} of ${server}`;
  if (!mayAsk) {
    throw new PlugboardError('APPROVAL_REQUIRED', `${subject} must be approved: ${reason}`, {
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
      arguments: kind === 'extension' ? {} : kind === 'resource' ? { uri: name } : { name },
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
