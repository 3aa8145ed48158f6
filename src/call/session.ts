/** The state of one caller across calls: its approvals, its loaded tools, and where its questions are sent. */

import type { ToolAnnotations } from '../catalog/tool.ts';
import type { DefinitionsSetting } from '../config/entry.ts';
import type { QuestionId } from '../connection/open-questions.ts';
import type { Questioned } from '../connection/questions.ts';
import { Cancellation } from '../lib/cancellation.ts';
import type { ListEntry } from '../lib/linked-list.ts';
import type { BudgetAccount, SessionBudgets } from '../policy/budgets.ts';
import { compileSubset, type Offers, type ToolSubset } from '../policy/tool-subset.ts';
import type { SessionResults } from './result-store.ts';
import type { SessionProfile } from './session-view.ts';

/** The call that needs an approval, as `approve` gets it. */
export interface ApprovalRequest {
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly annotations?: ToolAnnotations;
  /**
   * The place in config.json of a rule that would allow it, for a project's or plugin's server; else
   * `permissions.allow`.
   */
  readonly allowIn?: string;
  /**
   * The rule of `permissions.ask` that requires the approval. It overrides `allow`, so `allow-always` lasts for this
   * session only.
   */
  readonly askRule?: string;
  /** Why an approval is needed, in one sentence. */
  readonly reason: string;
  readonly session: string;
  /**
   * Aborted when the answer is no longer needed: the call was cancelled, its session ended, the server disconnected,
   * or the host was closed. Always present; not enumerable unless the call has its own signal, so that a request can
   * be compared and logged.
   */
  readonly signal: AbortSignal;
}

/** The answer to a request for approval: for this call, for the session, always, or not. */
export type ApprovalAnswer = 'allow' | 'allow-session' | 'allow-always' | 'deny' | 'cancel';

/** Asks the person whether a tool may be called. */
export type Approve = (request: ApprovalRequest, id: QuestionId) => ApprovalAnswer | Promise<ApprovalAnswer>;

/** Options of one session: its approvals, questions, roots and tools. */
export interface SessionOptions extends Questioned {
  readonly approve?: Approve | undefined;
  /**
   * `enforce`: everything that `approval` requires is asked here. `client`: the caller has already asked its own
   * user, and only `ask` rules and the mode `prompt` are asked about.
   */
  readonly approvals?: 'enforce' | 'client' | undefined;
  /** Whether questions can be asked now; default: whether there is a callback for them. */
  readonly canBeAsked?: (() => boolean) | undefined;
  /** Whether a model reads the results (default): they are cleaned and kept within its limits. */
  readonly forModel?: boolean | undefined;
  /**
   * Who shares the state of servers with `shared: false`: only this session, or all sessions of a principal. Default:
   * this session if the host has many agents, else all sessions.
   */
  readonly stateOf?: 'session' | { readonly principal: string } | undefined;
  /**
   * The tools that the session may use (default: all). Others are neither listed nor found, and a call of one is
   * rejected as unknown.
   */
  readonly tools?: ToolSubset | undefined;
  /**
   * Whether its model gets `list_mcp_resources` and `read_mcp_resource` (default: the host's option). Clients of the
   * gateway have methods for that.
   */
  readonly resourceTools?: boolean | undefined;
  /** A client of the gateway: tools have the gateway's names, and found ones are called through `call_tool`. */
  readonly gateway?: boolean | undefined;
  /**
   * Limits of the session, in addition to `budgets` of the configuration. Sessions with the same principal, in all hosts
   * of the process, share one count; days and hours survive a restart.
   */
  readonly budgets?: SessionBudgets | undefined;
  /**
   * Replaces a result that the session has received before with a short reference to it, which the tool `result` reads;
   * for a session that is one conversation. Adapters of a session do so by default.
   */
  readonly deduplicate?: boolean | undefined;
  /** The name of the client, for events and the audit log. */
  readonly client?: string | undefined;
  /** The profile in `config.json` whose servers, tools and rules the session has; default: all of them. */
  readonly profile?: string | undefined;
  /** @internal Returns the program and the folder of the client, as far as they are known now. */
  readonly describe?: (() => ClientPlace) | undefined;
  /** @internal The memory of an ended session that this one continues; default: a new one. */
  readonly memory?: SessionMemory | undefined;
}

/** The program of a client, as it identifies itself, and the folder that it works in. */
export interface ClientPlace {
  readonly agent?: { readonly name: string; readonly version: string } | undefined;
  readonly folder?: string | undefined;
}

/** State that a session accumulates and that a session continuing it keeps. */
export interface SessionMemory {
  /** Rules that a person allowed for this session. */
  readonly allowed: Set<string>;
  /** Identities (`toolId`) of deferred tools that were found, in that order: appended, never reordered. */
  readonly loaded: Set<string>;
  /** The search that found a tool (by identity) that has not been called since. */
  readonly found: Map<string, string>;
  /** The instructions that results of `tool_search` have included, by server. */
  readonly instructed: Map<string, string>;
  readonly kept: KeptParts;
}

/** Parts of a session's memory that most sessions never need; a request in the modern era has a session of its own. */
export interface KeptParts {
  /** The form of the definitions that were listed: it stays, so that the provider's prompt cache is used. */
  form: DefinitionsSetting | undefined;
  /** Its stored results. */
  results: SessionResults | undefined;
  /** Hashes of results that it has received, if it deduplicates them. */
  seen: Set<string> | undefined;
}

/** The unit that never shares the state of a server with others: a session, or all sessions of the same name. */
export type Party = Session | string;

export interface Session extends Omit<Questioned, 'roots'>, SessionMemory {
  readonly id: string;
  /** Replaced by `host.setRoots()`. */
  roots: Questioned['roots'];
  /** The name of its party; undefined: the session itself. */
  readonly partyName: string | undefined;
  /** True if it lasts for one request of its client. */
  readonly isStateless: boolean;
  readonly approve: Approve | undefined;
  readonly approvals: 'enforce' | 'client';
  readonly forModel: boolean;
  /** Undefined: every tool. */
  readonly offers: Offers | undefined;
  readonly resourceTools: boolean;
  readonly gateway: boolean;
  readonly deduplicate: boolean;
  readonly canBeAsked: (() => boolean) | undefined;
  /** Counts its calls; undefined if it has no budgets. */
  readonly account: BudgetAccount | undefined;
  readonly client: string | undefined;
  readonly describe: (() => ClientPlace) | undefined;
  /** Undefined: everything. */
  readonly profile: SessionProfile | undefined;
  /** Cancelled when the session ends: all its open work ends too. */
  readonly ended: Cancellation;
  /** Its entry among the open sessions of its host. */
  opened: ListEntry<Session> | undefined;
}

export function createMemory(): SessionMemory {
  return {
    allowed: new Set(),
    loaded: new Set(),
    found: new Map(),
    instructed: new Map(),
    kept: { form: undefined, results: undefined, seen: undefined },
  };
}

export function partyOf(session: Session): Party {
  return session.partyName ?? session;
}

/** `partyName`: for sessions without `stateOf`; `account`: for their `budgets`; `profile`: the one that `options` names. */
export function createSession(
  id: string,
  options: SessionOptions,
  partyName?: string,
  account?: BudgetAccount,
  profile?: SessionProfile,
): Session {
  const { stateOf, memory: { allowed, loaded, found, instructed, kept } = createMemory() } = options;
  return {
    id,
    partyName:
      stateOf === undefined
        ? partyName
        : stateOf === 'session'
          ? undefined
          : `principal ${stateOf.principal}`,
    isStateless: typeof stateOf === 'object',
    approve: options.approve,
    approvals: options.approvals ?? 'enforce',
    forModel: options.forModel ?? true,
    offers: compileSubset(options.tools),
    resourceTools: options.resourceTools === true && options.gateway !== true,
    gateway: options.gateway ?? false,
    deduplicate: options.deduplicate ?? false,
    canBeAsked: options.canBeAsked,
    account,
    client: options.client,
    describe: options.describe,
    profile,
    ended: new Cancellation(),
    opened: undefined,
    allowed,
    loaded,
    found,
    instructed,
    kept,
    elicit: options.elicit,
    elicitation: options.elicitation,
    sample: options.sample,
    sampling: options.sampling,
    roots: options.roots,
  };
}
