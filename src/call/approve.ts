/** Pipeline stage: allows a call, asks the person, or refuses (CAL-2). The decision is made in `policy/approval.ts`. */

import { CALL_TOOL } from '../catalog/deferral.ts';
import type { Tool, ToolAnnotations } from '../catalog/tool.ts';
import type { ServerSpec, Settings } from '../config/entry.ts';
import { allowPlace, permissionsFor } from '../config/rules.ts';
import { entryOwner, isForeign } from '../config/scopes.ts';
import { PlugboardError } from '../errors.ts';
import { signalOf } from '../lib/cancellation.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import {
  type ApprovalDecision,
  approvalMode,
  decideApproval,
  type RuleNames,
  readOnlyReason,
  sessionRule,
} from '../policy/approval.ts';
import type { RuleSubject } from '../policy/rule-conditions.ts';
import type { PathPlace } from '../policy/value-spellings.ts';
import { type StartContext, workingFolder } from '../transport/start-folder.ts';
import { askPerson, howToAllow } from './ask-person.ts';
import type { Approvals, Call, CallContext, Handler, Stage } from './call.ts';
import { namesOf, resolvedCall, settingsIn } from './resolved-call.ts';
import type { Session } from './session.ts';
import { approvalsFor, reasonFor, settingsFor } from './session-view.ts';

export const approve: Stage = (context, next) => (call) => {
  const { tool, connection } = resolvedCall(call);
  const judged = {
    tool,
    spec: connection.spec,
    names: namesOf(context, call),
    settings: settingsFor(context, call.session),
    sessionAllows: call.session.allowed,
    alwaysAllows: context.approvals.always,
    arguments: call.arguments,
    started: context.started,
  };
  if (call.readOnly === true && !isReadOnly(judged)) {
    call.decision = 'not known to be read-only';
    return Promise.reject(notReadOnly(call.name, tool.server));
  }
  const decision = decisionOn(judged);
  if (decision.rule !== undefined) call.rule = decision.rule;
  switch (decision.kind) {
    case 'pass':
      call.decision = decision.reason;
      return next(call);
    case 'deny':
      call.decision = decision.reason;
      return Promise.reject(denied(call, reasonFor(call.session, decision)));
    case 'ask':
      // A client that asks its own user has shown them the program, not its calls.
      if (approvalsFor(call.session) === 'client' && !decision.explicit && isSeen(call)) {
        call.decision = 'asked by the caller';
        return next(call);
      }
      if (call.approved === true) {
        call.decision = 'asked by the caller: allow';
        return next(call);
      }
      return ask(context, call, decision, next);
    default:
      return decision satisfies never;
  }
};

/** True if the user of the client has seen the call itself, or runs the program that makes it. */
function isSeen({ program, ownProgram }: Call): boolean {
  return program === undefined || ownProgram !== undefined;
}

/** Whether a call would be allowed, asked about or refused. */
export interface ApprovalState {
  readonly decision: 'allow' | 'ask' | 'deny';
  /** One sentence. */
  readonly reason: string;
  /** The rule that decided, if one did. */
  readonly rule?: string;
}

/** Returns the decision on a call of a session, without a question. */
export function approvalState(judged: Judged, approvals: 'enforce' | 'client'): ApprovalState {
  const decision = decisionOn(judged);
  const { reason, rule } = decision;
  const why = rule === undefined ? { reason } : { reason, rule };
  if (decision.kind === 'deny') return { decision: 'deny', ...why };
  if (decision.kind !== 'ask') return { decision: 'allow', ...why };
  if (decision.explicit || approvals === 'enforce') return { decision: 'ask', ...why };
  return { decision: 'allow', reason: 'the agent asks its own user (approvals: client)' };
}

export interface Judged {
  readonly tool: Pick<Tool, 'tool' | 'annotations' | 'inputSchema'>;
  readonly spec: ServerSpec;
  readonly names: RuleNames;
  readonly settings: Settings;
  readonly sessionAllows: ReadonlySet<string>;
  readonly alwaysAllows: ReadonlySet<string>;
  /** Undefined if they are not known yet. */
  readonly arguments?: unknown;
  readonly started: StartContext;
}

/** Returns whether a call is allowed, asked about or denied, from all configured rules and modes. */
export function decisionOn(judged: Judged): ApprovalDecision {
  const { tool, spec, names, settings, sessionAllows, alwaysAllows } = judged;
  const { entry } = spec;
  let subject: RuleSubject | undefined;
  return decideApproval({
    names,
    approval: approvalMode(spec, settingsIn(entry, tool, () => names)?.approval, settings),
    permissions: permissionsFor(spec, settings),
    hints: tool.annotations,
    trusted: entry.trusted === true,
    sessionAllows,
    alwaysAllows,
    owner: entryOwner(spec),
    subject: () => {
      subject ??= subjectOf(judged);
      return subject;
    },
  });
}

function subjectOf({ tool, spec, arguments: args, started }: ReadOnlyJudged): RuleSubject | undefined {
  return args === undefined
    ? undefined
    : { arguments: args, inputSchema: tool.inputSchema, ...pathPlace(spec, started) };
}

type ReadOnlyJudged = Pick<Judged, 'tool' | 'spec' | 'names' | 'settings' | 'arguments' | 'started'>;

/** True if a call only reads, by the annotation of a trusted server or by a rule of the user. */
export function isReadOnly(judged: ReadOnlyJudged): boolean {
  const { tool, spec, names, settings } = judged;
  const input = {
    names,
    permissions: permissionsFor(spec, settings),
    hints: tool.annotations,
    trusted: spec.entry.trusted === true,
    subject: () => subjectOf(judged),
  };
  return readOnlyReason(input) !== undefined;
}

/** Returns the error for a tool that `call_tool_read` does not call. */
export function notReadOnly(name: string, server?: string): PlugboardError {
  return new PlugboardError('DENIED', `${name} was not called: it is not known to be read-only`, {
    server,
    hint: `Call it with ${CALL_TOOL}.`,
  });
}

/** Found once for each entry: it takes questions to the system. */
const places = new WeakMap<StartContext, WeakMap<ServerSpec, PathPlace>>();

/** Returns the folders that paths in arguments of a server's tools may be relative to: the project, and its own. */
export function pathPlace(spec: ServerSpec, started: StartContext): PathPlace {
  const ofSpecs = getOrMake(places, started, () => new WeakMap<ServerSpec, PathPlace>());
  return getOrMake(ofSpecs, spec, () => findPlace(spec, started));
}

function findPlace(spec: ServerSpec, started: StartContext): PathPlace {
  const { baseDir, projectDir = baseDir } = spec;
  const folder = workingFolder(spec, started);
  if (folder === 'unknown') return { projectDir, folders: [], isUnknown: true };
  return { projectDir, folders: folder === undefined || folder === projectDir ? [] : [folder] };
}

async function ask(
  context: CallContext,
  call: Call,
  { reason, rule: askRule }: Extract<ApprovalDecision, { kind: 'ask' }>,
  next: Handler,
): ReturnType<Handler> {
  const { tool, connection } = resolvedCall(call);
  const { spec } = connection;
  const { rule } = namesOf(context, call);
  const { session } = call;
  if (session.approve === undefined) call.decision = 'no one to ask';
  const granted = await askPerson(context, session, {
    request: {
      server: tool.server,
      tool: tool.tool,
      name: tool.name,
      arguments: call.arguments,
      ...(tool.annotations === undefined ? {} : { annotations: tool.annotations }),
      reason,
      ...(isForeign(spec) ? { allowIn: allowPlace(spec) } : {}),
      ...(askRule === undefined ? {} : { askRule }),
    },
    call: call.id,
    subject: call.name,
    undone: 'called',
    advice: howToAllow(rule, { askRule, allowIn: allowPlace(spec), inCode: howInCode(spec) }),
    signal: signalOf(call),
    answered: (answer) => {
      call.decision = `asked: ${answer}`;
    },
  });
  if (granted !== 'allow') await keepAllowed(context.approvals, session, { spec, rule, askRule }, granted);
  return next(call);
}

/**
 * Stores an approval that is valid for more than one call. An `ask` rule overrides `allow`, so under one it lasts for
 * the session.
 */
export async function keepAllowed(
  approvals: Approvals,
  session: Pick<Session, 'allowed'>,
  {
    spec,
    rule,
    askRule,
  }: { readonly spec: ServerSpec; readonly rule: string; readonly askRule: string | undefined },
  granted: 'allow-session' | 'allow-always',
): Promise<void> {
  session.allowed.add(sessionRule({ rule }, entryOwner(spec), askRule));
  if (granted === 'allow-always' && askRule === undefined) await approvals.allowAlways(spec, rule);
}

/** Returns what a program's author can change in code; entries of files belong to the person. */
function howInCode({ name, scope, entry }: ServerSpec): string | undefined {
  if (scope !== 'code') return undefined;
  const trust = entry.trusted === true ? '' : ', or trusted: true to believe its annotations';
  return `give createHost an "approve" function, or set approval: "approve" in the entry of ${name}${trust}`;
}

function denied(call: Call, reason: string): PlugboardError {
  return new PlugboardError('DENIED', `${call.name} was not called: ${reason}`, {
    server: call.tool?.server,
  });
}

// Approves the gateway's own tools, by the same rules, modes and questions as a call of a server's tool (A27).

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
  projectDir: string,
): Promise<void> {
  const names = ownNames(tool);
  const { permissions = {}, defaults } = settingsFor(context, session);
  const decision = decideApproval({
    names,
    approval: defaults?.approval ?? 'auto',
    permissions,
    hints: annotations,
    trusted: true,
    sessionAllows: session.allowed,
    alwaysAllows: context.approvals.always,
    subject: () => ({ arguments: args, projectDir, folders: [] }),
  });
  if (decision.kind === 'pass') return;
  if (decision.kind === 'deny')
    throw new PlugboardError('DENIED', `${tool} was not called: ${reasonFor(session, decision)}`);
  if (approvalsFor(session) === 'client' && !decision.explicit) return;
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
  if (granted !== 'allow') session.allowed.add(sessionRule(names, '', askRule));
  if (granted === 'allow-always' && askRule === undefined)
    await context.approvals.allowAlways({ name: OWN, scope: 'code', baseDir: '' }, names.rule);
}

function ownNames(tool: string): RuleNames {
  const spellings = { long: [`mcp__${OWN}__${tool}`], short: [`${OWN}__${tool}`] };
  return { rule: `mcp__${OWN}__${tool}`, assigned: spellings, all: spellings };
}
