/** The state of one call in the pipeline, and the type of a stage. */

import type { Catalog } from '../catalog/catalog.ts';
import type { Deferral } from '../catalog/deferral.ts';
import type { MediaLimits } from '../catalog/media-bytes.ts';
import type { ReadResult, ResourceListing } from '../catalog/resources.ts';
import type { SearchUsage } from '../catalog/search-usage.ts';
import type { Search } from '../catalog/search-view.ts';
import type { Tool } from '../catalog/tool.ts';
import type { NameForm } from '../catalog/tool-names.ts';
import type { CodeModeSettings, Settings } from '../config/entry.ts';
import type { Identity } from '../config/rules.ts';
import type { Connection } from '../connection/connection.ts';
import type { HandedOn } from '../connection/handed-on.ts';
import type { OpenQuestions, QuestionEvents } from '../connection/open-questions.ts';
import type { Progress } from '../connection/peer.ts';
import type { PlugboardError } from '../errors.ts';
import type { Cancellable } from '../lib/cancellation.ts';
import type { Clock } from '../lib/clock.ts';
import type { Emitter } from '../lib/emitter.ts';
import type { Select } from '../lib/jmespath/jmespath-select.ts';
import type { LinkedList } from '../lib/linked-list.ts';
import type { RuleNames } from '../policy/approval.ts';
import type { BudgetBook } from '../policy/budgets.ts';
import type { HiddenReport } from '../policy/once-report.ts';
import type { RunningTask } from '../tasks/running-task.ts';
import type { UpstreamTask } from '../tasks/task-record.ts';
import type { StartContext } from '../transport/start-folder.ts';
import type { ArgumentChecker } from './argument-check.ts';
import type { AuditLog } from './audit-log.ts';
import type { BackgroundRequest, CallTasks } from './become-task.ts';
import type { CallRecorder } from './call-recorder.ts';
import type { TaskRequest } from './call-tasks.ts';
import type { Outcome } from './observe.ts';
import type { OutputFiles } from './output-files.ts';
import type { ResultStore } from './result-store.ts';
import type { Session } from './session.ts';
import type { Questions } from './session-questions.ts';
import type { SessionWork } from './session-work.ts';
import type { ShapedResult } from './shape.ts';
import type { Telemetry } from './telemetry.ts';

/** Options of one call. */
export interface CallOptions extends Cancellable {
  /** Is called for each progress notification of this call. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Longest time without a response or progress in this call; replaces the server's `toolTimeoutMs`. */
  readonly timeoutMs?: number | undefined;
  /**
   * Sent to the server as `_meta` of the request, except for keys of the connection and keys that begin with
   * `plugboard/`.
   */
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  /** A caller-chosen name for this call, reported by `call.begin`. */
  readonly ref?: string | undefined;
  /**
   * Media types that the caller's model accepts in results, such as `image/png`: images, audio and binary resources
   * of other types are saved as files, and a note in their place names the file. Default: all.
   */
  readonly media?: ReadonlySet<string> | undefined;
  /** With `media`: how large images, and all media of a result, may be. Larger ones are saved as files. No effect without `media`. */
  readonly mediaLimits?: MediaLimits | undefined;
  /**
   * A JMESPath expression for the part of the result that is returned, such as `items[].id`: of its structured content,
   * or of its text as JSON if it is. It is applied before the result is limited; a tool's failure is returned whole.
   */
  readonly select?: string | undefined;
  /**
   * The caller has already asked the person about this call with these arguments, and they allowed it: the host does
   * not ask again. Denied calls stay denied.
   */
  readonly approved?: boolean | undefined;
  /**
   * Runs the call without waiting for it: `call` resolves to its task as soon as the call was allowed and its task is
   * stored, and rejects if it was refused. `host.task(id)` finds it again, also from another process.
   */
  readonly background?: boolean | undefined;
  /** @internal The results belong to one conversation: one that it has already is replaced by a reference. */
  readonly deduplicate?: boolean | undefined;
  /** @internal Keeps structured content whole where the text of the result is truncated. */
  readonly keepsStructured?: boolean | undefined;
  /** @internal Found tools are called through `call_tool`, and `tool_search` responds with that advice. */
  readonly viaCallTool?: boolean | undefined;
  /** @internal Refuses tools that are not known to be read-only. */
  readonly readOnly?: boolean | undefined;
  /** @internal Called with the problems if the structured content does not match the tool's output schema. */
  readonly onMismatch?: ((problems: readonly string[]) => void) | undefined;
  /** Fields that the client of this call sent with its request, to be forwarded. */
  readonly handedOn?: HandedOn | undefined;
  /** @internal Called with the id of the program that a call of `run` starts or continues. */
  readonly onProgram?: ((id: string) => void) | undefined;
  /** @internal Set for a program that a person runs by a command, and for its calls, which that person makes. */
  readonly ownProgram?: OwnProgram | undefined;
  /** @internal Set if the caller follows tasks itself: a task is then returned in place of its result. */
  readonly task?: TaskRequest | undefined;
  /** @internal Set if the call may go on without its caller, as a task that is stored. */
  readonly becomes?: BackgroundRequest | undefined;
}

/** @internal A program that a person runs by a command. */
export interface OwnProgram {
  /** The value of `input` in the program. */
  readonly input: Readonly<Record<string, unknown>>;
}

/** One call; the stages fill in its fields. */
export interface Call extends CallOptions {
  readonly id: string;
  readonly name: string;
  /** Replaced by `fillReferences` if they refer to stored results. */
  arguments: Readonly<Record<string, unknown>>;
  readonly session: Session;
  approved?: boolean | undefined;
  /** The program that makes this call, which reads its result in place of a model; for `run`, the one it runs. */
  program?: string | undefined;
  /** Called by the stage of this name, right before the call is sent to its server. */
  readonly beforeSend?: (() => Promise<void>) | undefined;
  /** Set by `resolve`; every later stage may rely on them. */
  tool?: Tool | undefined;
  connection?: Connection | undefined;
  /**
   * Set for the resource tools: the method that is sent in place of `tools/call`, and the names that rules are
   * matched against.
   */
  method?: string;
  names?: RuleNames;
  /** Set by `parseSelection`: the parsed `select`. */
  selection?: Select | undefined;
  /** Set by `approve`: why the call was allowed or refused. */
  decision?: string | undefined;
  /** Set by `approve`: the rule that decided, if one did. */
  rule?: string | undefined;
  /** Number of sampling requests of its server so far. */
  samples?: number;
  /** Set by `invoke`: the server has reported progress. */
  progressed?: boolean;
  /** Set by `invoke` for a task: stops its progress. */
  endProgress?: () => void;
  /** Set by `becomeTask`: the task that this call is. */
  running?: RunningTask | undefined;
  /** Set by `invoke`: the server's own task for this call, and its record while the caller waits. */
  upstream?: UpstreamTask | undefined;
  kept?: RunningTask | undefined;
  /** Set by `telemetry`: the trace this call is part of. */
  traceMeta?: Readonly<Record<string, string>>;
}

/** Events of calls: their begin, progress and end. */
export interface CallEvents {
  /**
   * `{ id, server, tool, session, client?, profile?, ref?, program? }`; `ref` is the caller's own name for the call,
   * `program` the id of the program that makes it.
   */
  readonly 'call.begin': {
    readonly id: string;
    readonly server: string;
    readonly tool: string;
    readonly session: string;
    /** The client of a gateway, and its profile. */
    readonly client?: string;
    readonly profile?: string;
    readonly ref?: string;
    readonly program?: string;
  };
  /** `{ id, arguments }`: as given, right after `call.begin`; not in the audit log or the management API. */
  readonly 'call.arguments': { readonly id: string; readonly arguments: Readonly<Record<string, unknown>> };
  /** `{ id, result }`: the result that the caller gets, right before `call.end`; not emitted if the call failed. */
  readonly 'call.result': { readonly id: string; readonly result: ShapedResult };
  /** `{ id, progress, total?, message? }`. */
  readonly 'call.progress': { readonly id: string } & Progress;
  /** `{ id, outcome, ms, code?, rule? }`: exactly one for each begin; `rule` is the rule that decided, if one did. */
  readonly 'call.end': {
    readonly id: string;
    readonly outcome: Outcome;
    readonly ms: number;
    readonly code?: PlugboardError['code'];
    readonly rule?: string;
  };
}

/** Access to resources of servers, for the resource tools. */
export interface ResourceAccess {
  /**
   * Returns the servers whose resources a session may read, as far as their capabilities are known; in stable order.
   */
  servers(session: Session): readonly string[];
  /** Whether a server exists and a session may use it. */
  isOffered(server: string, session: Session): boolean;
  /** False if a server is known to have no resources. */
  mayHave(server: string): boolean;
  list(server: string): Promise<ResourceListing>;
  read(call: Call, server: string, uri: string): Promise<ReadResult>;
}

/** "Always" answers, for this host and for later ones. */
export interface Approvals {
  /** Rules of "always" answers since the configuration was read, in the format of `sessionRule`. */
  readonly always: ReadonlySet<string>;
  /** Saves an "always" answer. */
  allowAlways(spec: Identity, rule: string): Promise<void>;
}

/** How results are limited for the model, and where the rest of them is saved. */
export interface OutputContext {
  readonly files: OutputFiles;
  /** From the environment; overrides the configuration's default. */
  readonly maxTokens: number | undefined;
  /** Media that the model accepts; unset means accepted. */
  readonly model: { readonly images?: boolean; readonly audio?: boolean };
}

/** The dependencies of stages, provided by the host. */
export interface CallContext {
  readonly clock: Clock;
  readonly catalog: Pick<Catalog, 'snapshot' | 'listing'>;
  readonly deferral: () => Deferral;
  readonly search: Search;
  /** Undefined if learning is off. */
  readonly searchUsage: SearchUsage | undefined;
  /** The form of tool names for clients of the gateway. */
  readonly gatewayNaming: NameForm;
  readonly resources: ResourceAccess;
  /** Decides which process serves a session, and tracks which call a process works on. */
  readonly work: SessionWork;
  /** Answers the questions of servers. */
  readonly questions: Questions;
  /** The pending questions, which every surface can show. */
  readonly openQuestions: OpenQuestions;
  readonly approvals: Approvals;
  readonly budgets: BudgetBook;
  readonly tasks: CallTasks;
  readonly output: OutputContext;
  /** Results that were too long for a model. */
  readonly results: ResultStore;
  /** Returns the settings of code mode; undefined if the session has none. */
  codeMode(session: Session): CodeModeSettings | undefined;
  /** Loads the handler of `run`; most hosts never need it. */
  programs(): Promise<Handler>;
  /** Loads the parser of selections; most hosts never need it. */
  select(): Promise<(expression: string) => Select>;
  /** Where processes of servers are started. */
  readonly started: StartContext;
  readonly events: Pick<Emitter<CallEvents & QuestionEvents>, 'emit' | 'has' | 'on'>;
  /** Called when hidden text was removed from a result; reported once for each place. */
  readonly hidden: HiddenReport;
  /** Undefined for a host without a home. */
  readonly audit: AuditLog | undefined;
  /** Receive every call with its values. */
  readonly recorders: readonly CallRecorder[];
  /** Calls that are recorded and have not ended. A list: a map that grows and shrinks keeps ended calls alive. */
  readonly running: LinkedList<Call>;
  /** Undefined unless the user enabled it. */
  readonly telemetry: Telemetry | undefined;
  /** Aborted when the host closes. */
  readonly closing: AbortSignal;
  settings(): Settings;
  sandboxState(): unknown;
  /** `session`: the only one whose client gets it. */
  log(server: string, level: 'info' | 'warning', message: string, session?: string): void;
  /** Loaded by the first call, not at every start. */
  argumentChecker(): Promise<ArgumentChecker>;
  connection(server: string, session: Session): Connection | undefined;
  /** Returns why the server that a name begins with has no tools to call, if the session may know that. */
  absenceOf(name: string, session: Session): PlugboardError | undefined;
  /**
   * Rereads the list of the server that an unknown name begins with, connecting it first if it is idle; undefined:
   * the tool is known not to exist.
   */
  relist(name: string, session: Session): Promise<void> | undefined;
}

export type Handler = (call: Call) => Promise<ShapedResult>;
export type Stage = (context: CallContext, next: Handler) => Handler;
