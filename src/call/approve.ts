/** Lets a call through, asks the person, or refuses (CAL-2). What is decided is in `policy/approval.ts`. */

import { ownerOf } from '../config/owner.ts';
import { allowPlace, permissionsFor } from '../config/rules.ts';
import { PlugboardError } from '../errors.ts';
import { signalOf } from '../lib/cancellation.ts';
import { approvalMode, decideApproval, sessionRule } from '../policy/approval.ts';
import type { Call, CallContext, Handler, Stage } from './call.ts';
import { settingsOf, toolSettings } from './settings.ts';

export const approve: Stage = (context, next) => (call) => {
  const { tool, entry, connection } = settingsOf(call);
  const { spec } = connection;
  const settings = context.settings();
  const decision = decideApproval({
    names: context.snapshot().ruleNames(tool),
    approval: approvalMode(spec, toolSettings(context, call)?.approval, settings),
    permissions: permissionsFor(spec, settings),
    hints: tool.annotations,
    trusted: entry.trusted === true,
    sessionAllows: call.session.allowed,
    owner: ownerOf(spec),
  });
  switch (decision.kind) {
    case 'pass':
      call.decision = decision.reason;
      return next(call);
    case 'deny':
      call.decision = decision.reason;
      return Promise.reject(denied(call, decision.reason));
    case 'ask':
      if (call.session.approvals === 'client' && !decision.explicit) {
        call.decision = 'asked by the caller';
        return next(call);
      }
      return ask(context, call, decision.reason, next);
    default:
      return decision satisfies never;
  }
};

async function ask(context: CallContext, call: Call, reason: string, next: Handler): ReturnType<Handler> {
  const { tool, connection } = settingsOf(call);
  const { spec } = connection;
  const { rule } = context.snapshot().ruleNames(tool);
  const { session } = call;
  if (session.approve === undefined) {
    call.decision = 'nobody to ask';
    throw new PlugboardError('APPROVAL_REQUIRED', `${call.name} has to be approved: ${reason}`, {
      server: tool.server,
      hint: `Nobody can be asked here. To allow it, add ${JSON.stringify(rule)} to ${allowPlace(spec)} in config.json.`,
    });
  }
  const request = {
    server: tool.server,
    tool: tool.tool,
    name: tool.name,
    arguments: call.arguments,
    ...(tool.annotations === undefined ? {} : { annotations: tool.annotations }),
    reason,
    session: session.id,
  };
  const { approve: put } = session;
  const signal = signalOf(call);
  const answer = await context.board.ask(
    { kind: 'approval', ...request },
    (id) => put(signal === undefined ? request : { ...request, signal }, id),
    String,
    signal,
  );
  call.decision = `asked: ${answer}`;
  switch (answer) {
    case 'allow':
      break;
    case 'allow-session':
      session.allowed.add(sessionRule({ rule }, ownerOf(spec)));
      break;
    case 'allow-always':
      session.allowed.add(sessionRule({ rule }, ownerOf(spec)));
      await context.allowAlways(spec, rule);
      break;
    case 'deny':
      throw denied(call, 'you denied it');
    case 'cancel':
      throw new PlugboardError('CANCELLED', `${call.name} was cancelled when it was asked about`, {
        server: tool.server,
      });
    default:
      throw new PlugboardError('DENIED', `approve() answered ${JSON.stringify(answer satisfies never)}`, {
        server: tool.server,
        hint: "It has to answer 'allow', 'allow-session', 'allow-always', 'deny' or 'cancel'.",
      });
  }
  return next(call);
}

function denied(call: Call, reason: string): PlugboardError {
  return new PlugboardError('DENIED', `${call.name} was not called: ${reason}`, {
    server: call.tool?.server,
  });
}
