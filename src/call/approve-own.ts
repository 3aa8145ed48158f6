/** Approves the gateway's own tools, by the same rules, modes and questions as a call of a server's tool (A27). */

import type { ToolAnnotations } from '../catalog/tool.ts';
import { PlugboardError } from '../errors.ts';
import { decideApproval, type RuleNames } from '../policy/approval.ts';
import { askPerson, howToAllow } from './ask-person.ts';
import type { CallContext } from './call.ts';
import type { Session } from './session.ts';

/** The server name of these tools in rules and questions: `mcp__plugboard__agent`, `plugboard__agent`. */
export const OWN = 'plugboard';

export interface OwnAction {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly annotations?: ToolAnnotations | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Resolves if a session may use one of our own tools with these arguments; rejects with the reason. */
export async function approveOwn(
  context: Pick<CallContext, 'openQuestions' | 'log' | 'settings' | 'approvals'>,
  session: Session,
  { tool, arguments: args, annotations, signal }: OwnAction,
): Promise<void> {
  const names = namesOf(tool);
  const { permissions = {}, defaults } = context.settings();
  const decision = decideApproval({
    names,
    approval: defaults?.approval ?? 'auto',
    permissions,
    hints: annotations,
    trusted: true,
    sessionAllows: session.allowed,
    alwaysAllows: context.approvals.always,
  });
  if (decision.kind === 'pass') return;
  if (decision.kind === 'deny')
    throw new PlugboardError('DENIED', `${tool} was not called: ${decision.reason}`);
  if (session.approvals === 'client' && !decision.explicit) return;
  const { reason, rule: askRule } = decision;
  const granted = await askPerson(context, session, {
    request: {
      server: OWN,
      tool,
      name: tool,
      arguments: args,
      ...(annotations === undefined ? {} : { annotations }),
      reason,
      ...(askRule === undefined ? {} : { askRule }),
    },
    subject: tool,
    undone: 'called',
    advice: howToAllow(names.rule, { askRule }),
    signal,
  });
  if (granted !== 'allow') session.allowed.add(names.rule);
  if (granted === 'allow-always' && askRule === undefined)
    await context.approvals.allowAlways({ name: OWN, scope: 'code', baseDir: '' }, names.rule);
}

function namesOf(tool: string): RuleNames {
  const spellings = { long: [`mcp__${OWN}__${tool}`], short: [`${OWN}__${tool}`] };
  return { rule: `mcp__${OWN}__${tool}`, assigned: spellings, all: spellings };
}
