/** What outlives one call and belongs to one caller: what it was allowed, what it has loaded, where its questions go. */

import type { ToolAnnotations } from '../catalog/tool.ts';
import type { Questioned } from '../connection/questions.ts';
import type { QuestionId } from '../connection/questions-board.ts';
import { Cancellation } from '../lib/cancellation.ts';
import { compileSubset, type Offers, type ToolSubset } from '../policy/tool-subset.ts';

export interface ApprovalRequest {
  readonly server: string;
  /** What its server calls it. */
  readonly tool: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly annotations?: ToolAnnotations;
  /** Where in config.json a rule that allows it would be, for a project's or plugin's server; else `permissions.allow`. */
  readonly allowIn?: string;
  /** The rule of `permissions.ask` that asks. It is stronger than `allow`, so `allow-always` is for this session only. */
  readonly askRule?: string;
  /** Why it is asked, in one sentence. */
  readonly reason: string;
  readonly session: string;
  /**
   * Aborted when the answer is not needed any longer: the call was cancelled, its session ended, the server is gone, or the host was closed.
   * Always there; not enumerable unless the call has a signal of its own, so that a request can be compared and logged.
   */
  readonly signal?: AbortSignal;
}

export type ApprovalAnswer = 'allow' | 'allow-session' | 'allow-always' | 'deny' | 'cancel';

export type Approve = (request: ApprovalRequest, id: QuestionId) => ApprovalAnswer | Promise<ApprovalAnswer>;

export interface SessionOptions extends Questioned {
  readonly approve?: Approve | undefined;
  /**
   * `enforce`: everything that `approval` asks about is asked here. `client`: whoever calls has asked its
   * own user already, and only `ask` rules and the mode `prompt` are asked about.
   */
  readonly approvals?: 'enforce' | 'client' | undefined;
  /** Whether it can be asked anything now; default: whether there is a callback for it. */
  readonly canBeAsked?: (() => boolean) | undefined;
  /** Whether a model reads the results (default): they are cleaned and kept within its limits. */
  readonly forModel?: boolean | undefined;
  /**
   * Whose state servers with `shared: false` keep in one process: that of this session alone, or of all sessions of a
   * principal. Default: this session's if the host has many agents, else one for all.
   */
  readonly stateOf?: 'session' | { readonly principal: string } | undefined;
  /** The tools that it may use (default: all). Others are neither listed nor found, and a call of one is refused as unknown. */
  readonly tools?: ToolSubset | undefined;
  /**
   * Whether its model gets `list_mcp_resources` and `read_mcp_resource` (default: as the host's option says). Clients of the gateway
   * have methods for that.
   */
  readonly resourceTools?: boolean | undefined;
  /** A client of the gateway: tools have the gateway's names, and found ones are called through `call_tool`. */
  readonly gateway?: boolean | undefined;
  /** @internal The memory of an ended session that this one continues; default: a new one. */
  readonly memory?: SessionMemory | undefined;
}

/** What a session learns and one that continues it keeps. */
export interface SessionMemory {
  /** Rules that a person allowed for as long as this session lasts. */
  readonly allowed: Set<string>;
  /** Identities (`toolId`) of deferred tools that were found, in the order they were: appended, never reordered. */
  readonly loaded: Set<string>;
  /** The search that found a tool (by identity) which has not been called since. */
  readonly found: Map<string, string>;
  /** The instructions that answers of `tool_search` have given, by server. */
  readonly instructed: Map<string, string>;
}

/** Who never shares the state of a server with others: a session, or all sessions of the same name. */
export type Party = Session | string;

export interface Session extends Omit<Questioned, 'roots'>, SessionMemory {
  readonly id: string;
  /** Replaced by `host.setRoots()`. */
  roots: Questioned['roots'];
  /** The name of its party; undefined: the session itself. */
  readonly partyName: string | undefined;
  /** It lasts for one request of its client. */
  readonly isStateless: boolean;
  readonly approve: Approve | undefined;
  readonly approvals: 'enforce' | 'client';
  readonly forModel: boolean;
  /** Undefined: every tool. */
  readonly offers: Offers | undefined;
  readonly resourceTools: boolean;
  readonly gateway: boolean;
  readonly canBeAsked: (() => boolean) | undefined;
  /** Cancelled when it ends: all that is open in it ends too. */
  readonly ended: Cancellation;
}

export function createMemory(): SessionMemory {
  return { allowed: new Set(), loaded: new Set(), found: new Map(), instructed: new Map() };
}

export function partyOf(session: Session): Party {
  return session.partyName ?? session;
}

/** `partyName`: of sessions that do not say whose state they use. */
export function createSession(id: string, options: SessionOptions, partyName?: string): Session {
  const { stateOf, memory: { allowed, loaded, found, instructed } = createMemory() } = options;
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
    canBeAsked: options.canBeAsked,
    ended: new Cancellation(),
    allowed,
    loaded,
    found,
    instructed,
    elicit: options.elicit,
    elicitation: options.elicitation,
    sample: options.sample,
    sampling: options.sampling,
    roots: options.roots,
  };
}
