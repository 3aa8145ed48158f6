/** Lets a call through, asks the person, or refuses (CAL-2). What is decided is in `policy/approval.ts`. */

import { PlugboardError } from '../errors.ts';
import { decideApproval } from '../policy/approval.ts';
import type { Call, CallContext, Handler, Stage } from './call.ts';
import { settingsOf } from './settings.ts';

export const approve: Stage = (context, next) => (call) => {
  const { tool, entry } = settingsOf(call);
  const settings = context.settings();
  const decision = decideApproval({
    name: tool.name,
    approval: entry.tools?.[tool.tool]?.approval ?? entry.approval ?? settings.defaults?.approval ?? 'auto',
    permissions: settings.permissions ?? {},
    hints: tool.annotations,
    trusted: entry.trusted === true,
    sessionAllows: call.session.allowed,
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
  const { tool } = settingsOf(call);
  const { session } = call;
  if (session.approve === undefined) {
    call.decision = 'nobody to ask';
    throw new PlugboardError('APPROVAL_REQUIRED', `${tool.name} has to be approved: ${reason}`, {
      server: tool.server,
      hint: `Nobody can be asked here. To allow it, add ${JSON.stringify(tool.name)} to permissions.allow in config.json.`,
    });
  }
  const answer = await session.approve({
    server: tool.server,
    tool: tool.tool,
    name: tool.name,
    arguments: call.arguments,
    ...(tool.annotations === undefined ? {} : { annotations: tool.annotations }),
    reason,
    session: session.id,
  });
  call.decision = `asked: ${answer}`;
  switch (answer) {
    case 'allow':
      break;
    case 'allow-session':
      session.allowed.add(tool.name);
      break;
    case 'allow-always':
      session.allowed.add(tool.name);
      await context.allowAlways(tool.name);
      break;
    case 'deny':
      throw denied(call, 'you denied it');
    case 'cancel':
      throw new PlugboardError('CANCELLED', `${tool.name} was cancelled when it was asked about`, {
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
