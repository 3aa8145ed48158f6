/** One call on its way through the pipeline, and the shape of a stage. */

import type { TaskSupport } from '../catalog/accept.ts';
import type { Snapshot } from '../catalog/catalog.ts';
import type { Deferral } from '../catalog/deferral.ts';
import type { Habits } from '../catalog/habits.ts';
import type { MediaLimits } from '../catalog/media-bytes.ts';
import type { NameForm } from '../catalog/names.ts';
import type { ReadResult, ResourceListing } from '../catalog/resources.ts';
import type { Search } from '../catalog/search-view.ts';
import type { Tool } from '../catalog/tool.ts';
import type { Settings } from '../config/entry.ts';
import type { Identity } from '../config/rules.ts';
import type { Connection } from '../connection/connection.ts';
import type { HandedOn } from '../connection/handed-on.ts';
import type { Params, Progress } from '../connection/peer.ts';
import type { Board } from '../connection/questions-board.ts';
import type { KeptTasks } from '../connection/tasks-kept.ts';
import type { PlugboardError } from '../errors.ts';
import type { Cancellable } from '../lib/cancellation.ts';
import type { Clock } from '../lib/clock.ts';
import type { Emitter } from '../lib/emitter.ts';
import type { RuleNames } from '../policy/approval.ts';
import type { HiddenReport } from '../policy/hidden-report.ts';
import type { ArgumentChecker } from './argument-check.ts';
import type { AuditLog } from './audit-log.ts';
import type { Berths } from './berths.ts';
import type { HandedTasks, TaskWish } from './handed-task.ts';
import type { InFlight } from './in-flight.ts';
import type { Outcome } from './outcome.ts';
import type { OutputFiles } from './output-files.ts';
import type { Session } from './session.ts';
import type { ShapedResult } from './shape.ts';
import type { Telemetry } from './telemetry.ts';

export interface CallOptions extends Cancellable {
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Longest silence in this call, instead of the server's `toolTimeoutMs`. */
  readonly timeoutMs?: number | undefined;
  /** Sent to the server as `_meta` of the request; keys of the connection and those that begin with `plugboard/` are not. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** A name that the caller chose for this call, reported by `call.begin`. */
  readonly ref?: string | undefined;
  /**
   * Media types that the caller's model takes in results, such as `image/png`: images, audio and binary resources of
   * other types are saved as files, and a note in their place names the file. Default: all.
   */
  readonly media?: ReadonlySet<string> | undefined;
  /** With `media`: how large images, and all media of a result, may be. Larger ones are saved as files. No effect without `media`. */
  readonly mediaLimits?: MediaLimits | undefined;
  /**
   * The caller has asked the person about this call, with these arguments, and they allowed it: the host does not ask again. What
   * is denied stays denied.
   */
  readonly approved?: boolean | undefined;
  /** @internal Structured content stays whole where the text of the result is cut. */
  readonly keepsStructured?: boolean | undefined;
  /** @internal Found tools are called through `call_tool`, and `tool_search` answers with that advice. */
  readonly viaCallTool?: boolean | undefined;
  /** @internal Called if the structured content does not fit the tool's output schema, with what is wrong. */
  readonly onMismatch?: ((problems: readonly string[]) => void) | undefined;
  /** What the client that this call is for sent with its request. */
  readonly handedOn?: HandedOn | undefined;
  /** @internal Set if the caller follows tasks itself: a task is then returned in place of its result. */
  readonly task?: TaskWish | undefined;
}

/** What the stages fill in as the call goes down. */
export interface Call extends CallOptions {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly session: Session;
  /** Set by `resolve`; every stage below it may rely on them. */
  tool?: Tool;
  connection?: Connection | undefined;
  /** Set for the tools for resources: what is sent in place of `tools/call`, and what rules are matched against. */
  method?: string;
  names?: RuleNames;
  /** Set by `approve`: why the call was let through, or not. */
  decision?: string;
  /** How often its server has asked the model so far. */
  samples?: number;
  /** Set by `invoke`: the server has reported progress. */
  progressed?: boolean;
  /** Set by `invoke` for a task: its progress ends here. */
  endProgress?: () => void;
  /** Set by `telemetry`: the trace this call is part of. */
  traceMeta?: Readonly<Record<string, string>>;
}

export interface CallEvents {
  /** `{ id, server, tool, session, ref? }`; `ref` is the caller's own name for the call. */
  readonly 'call.begin': {
    readonly id: string;
    readonly server: string;
    readonly tool: string;
    readonly session: string;
    readonly ref?: string;
  };
  /** `{ id, arguments }`: as given, right after `call.begin`; neither the audit nor the management API has them. */
  readonly 'call.arguments': { readonly id: string; readonly arguments: Readonly<Record<string, unknown>> };
  /** `{ id, result }`: what the caller gets, right before `call.end`; none if the call failed. */
  readonly 'call.result': { readonly id: string; readonly result: ShapedResult };
  /** `{ id, progress, total?, message? }`. */
  readonly 'call.progress': { readonly id: string } & Progress;
  /** `{ id, outcome, ms, code? }`: exactly one for each begin. */
  readonly 'call.end': {
    readonly id: string;
    readonly outcome: Outcome;
    readonly ms: number;
    readonly code?: PlugboardError['code'];
  };
}

/** Resources of servers, for the tools that read them. */
export interface ResourceAccess {
  /** Servers whose resources a session may read, as far as it is known whether they have some; in stable order. */
  servers(session: Session): readonly string[];
  /** Whether a server is there, and among those that a session may use. */
  isOffered(server: string, session: Session): boolean;
  /** False if a server is known to have none. */
  mayHave(server: string): boolean;
  list(server: string): Promise<ResourceListing>;
  read(call: Call, server: string, uri: string): Promise<ReadResult>;
}

/** What stages need from the host. */
export interface CallContext {
  readonly clock: Clock;
  readonly snapshot: () => Snapshot;
  readonly deferral: () => Deferral;
  readonly search: Search;
  readonly resources: ResourceAccess;
  /** A server's instructions for models, cleaned and bounded. */
  readonly instructions: (server: string) => string | undefined;
  /** The form of names towards clients of the gateway. */
  readonly gatewayNaming: NameForm;
  readonly connection: (server: string, session: Session) => Connection | undefined;
  /**
   * Reads the list of the server that an unknown name begins with, and connects it for that if it waits to be needed;
   * undefined: it is known that there is no such tool.
   */
  readonly relisted: (name: string, session: Session) => Promise<void> | undefined;
  /** Why the server that a name begins with has no tools to call, when that is known. */
  readonly absent: (name: string) => PlugboardError | undefined;
  readonly settings: () => Settings;
  readonly sandboxState: () => unknown;
  readonly events: Pick<Emitter<CallEvents>, 'emit' | 'has'>;
  /** `session`: the only one whose client gets it. */
  readonly log: (server: string, level: 'info' | 'warning', message: string, session?: string) => void;
  /** Called when hidden text was removed from an answer; reported once for each place. */
  readonly hidden: HiddenReport;
  readonly outputs: OutputFiles;
  readonly audit: AuditLog;
  /** Where questions are put, so that every surface can show them. */
  readonly board: Board;
  /** Whose call a server works on, and so whom its questions go to. */
  readonly inFlight: InFlight;
  /** Who shares which process. */
  readonly berths: Berths;
  /** What a request for a session hands on to its server. */
  readonly handedOn: (
    connection: Connection,
    session: Session,
    given: HandedOn | undefined,
  ) => HandedOn | undefined;
  /** Answers a question that came with a task of this call. */
  readonly answer: (call: Call, method: string, params: Params, key?: string) => Promise<unknown>;
  /** Whether calls of a tool may, must or must not be tasks; undefined: its server has no tasks. */
  readonly taskSupport: (tool: Tool) => TaskSupport | undefined;
  /** Tasks that their callers follow. */
  readonly handed: HandedTasks;
  readonly tasks: KeptTasks;
  /** Aborted when the host ends. */
  readonly leave: AbortSignal;
  /** Undefined when nothing is to be learnt. */
  readonly habits: Habits | undefined;
  /** Undefined unless the user asked for it. */
  readonly telemetry: Telemetry | undefined;
  /** From the environment; beats the configuration's default. */
  readonly maxOutputTokens: number | undefined;
  /** What the model can take; what is not said, it can. */
  readonly model: { readonly images?: boolean; readonly audio?: boolean };
  /** Keeps an "always" answer, so that the next host knows it too. */
  readonly allowAlways: (spec: Identity, rule: string) => Promise<void>;
  /** Rules of "always" answers that were written since the configuration was read, as `sessionRule` has them. */
  readonly alwaysAllowed: ReadonlySet<string>;
  /** Loaded by the first call, not by every start. */
  readonly argumentChecker: () => Promise<ArgumentChecker>;
}

export type Handler = (call: Call) => Promise<ShapedResult>;
export type Stage = (context: CallContext, next: Handler) => Handler;
