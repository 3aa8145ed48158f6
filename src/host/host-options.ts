/** The option and event types of a host: the types of the library's surface. */

import type { CallEvents } from '../call/call.ts';
import type { Approve, SessionOptions } from '../call/session.ts';
import type { CachedList } from '../catalog/catalog-cache.ts';
import type { ToolSearchMode } from '../catalog/deferral.ts';
import type { Naming } from '../catalog/tool-names.ts';
import type {
  CodeModeSetting,
  DefinitionsSetting,
  Sandbox,
  ServerEntry,
  ServerSpec,
} from '../config/entry.ts';
import type { GivenEntry } from '../config/given-entry.ts';
import type { AskInput } from '../config/input-values.ts';
import type { BuiltIn, LoadedConfig } from '../config/load.ts';
import type { LogLevel } from '../connection/log-levels.ts';
import type { QuestionEvents } from '../connection/open-questions.ts';
import type { Questioned } from '../connection/questions.ts';
import type { Clock } from '../lib/clock.ts';
import type { BudgetBook, SharedCounters } from '../policy/budgets.ts';
import type { FetchFunction } from '../policy/network.ts';
import type { CredentialStore } from '../secrets/credential-store.ts';
import type { TaskInfo } from '../tasks/task-record.ts';
import type { Transport } from '../transport/contract.ts';
import type { HeadStart } from './head-start.ts';
import type { LogEvent, ServerMessage, ServerReport } from './host-report.ts';

/** Options of `createHost`. */
export interface HostOptions extends Questioned {
  /** Where the project is searched from; default: the working folder. */
  readonly cwd?: string | undefined;
  /**
   * The folder of Plugboard's own files; default: PLUGBOARD_HOME, else ~/.config/plugboard. `false`: none; nothing is
   * read or stored: no caches, pins, logs or truncated results, and logins only with `credentials`.
   */
  readonly home?: string | false | undefined;
  /**
   * The folder for results that are too long for the model and for media that it does not accept, relative to `cwd`;
   * default: `outputs` in the home, and with `home: false` none is saved. The model gets their paths, so choose a
   * folder that its tools can read. Files are private to the user and deleted after seven days; other files in the
   * folder are not touched.
   */
  readonly outputs?: string | undefined;
  /**
   * `false`: neither config.json nor files of a project are read or watched; only `servers` are used. Managed
   * policies of the machine still apply.
   */
  readonly configuration?: boolean | undefined;
  /** Servers given in code: the scope with the highest precedence. */
  readonly servers?: Readonly<Record<string, GivenEntry>> | undefined;
  /** Servers that exist unless the configuration overrides them: the scope with the lowest precedence. */
  readonly builtIn?: BuiltIn | undefined;
  /** The known lists of such servers: with one, a server is started by its first call instead of to be listed. */
  readonly builtInList?: ((spec: ServerSpec) => Promise<CachedList | undefined>) | undefined;
  /** Asks the person about a call. Without it, calls that need an approval are refused. */
  readonly approve?: Approve | undefined;
  /** Asks the person for a value of `${input:id}` that has not been given yet; it is stored in the keyring. */
  readonly input?: AskInput | undefined;
  /** Whether the caller has already asked its own user; see {@link SessionOptions}. */
  readonly approvals?: SessionOptions['approvals'];
  /** Whether a model reads results (default): then they are cleaned and kept within its limits. */
  readonly forModel?: SessionOptions['forModel'];
  /** @internal Whether the question callbacks currently reach a person. */
  readonly canBeAsked?: SessionOptions['canBeAsked'];
  /**
   * The kinds of questions that sessions of this host will be able to answer, in addition to the host itself: they
   * are declared to servers once, when they connect. The callbacks of each session answer; these only declare the
   * capability.
   */
  readonly sessions?: Pick<Questioned, 'elicit' | 'sample' | 'sampling' | 'roots'> | undefined;
  /**
   * Sessions are different agents: a stateful server gets a process for each of them, and legacy servers, which do
   * not identify the call that they ask about, serve one at a time. Default: all sessions belong to one agent.
   */
  readonly manyAgents?: boolean | undefined;
  /**
   * Runs stdio servers in the daemon, where agents of the same user with the same entry, folder and environment share
   * one process; the daemon is started when it is needed. Everything else stays in this process: configuration,
   * consent, approvals, questions, results. If a server cannot be shared, or the daemon is not available, it runs as
   * a child of this process, which is logged. Default: always child processes of this process.
   */
  readonly daemon?: boolean | undefined;
  /** Opens a login page in the person's browser; default: the system's own opener. */
  readonly openUrl?: ((url: string) => void | Promise<void>) | undefined;
  /**
   * Sends every request to remote servers and for logins, in place of our own connections: for a proxy, a dispatcher
   * or custom headers. It must then handle proxy variables and certificate files itself.
   */
  readonly fetch?: FetchFunction | undefined;
  /**
   * Stores logins, client secrets and answers to `${input:id}` in place of the keyring: for a database of your users.
   */
  readonly credentials?: CredentialStore | undefined;
  readonly naming?: Naming | undefined;
  /** Whether definitions are deferred behind `tool_search`; overrides ENABLE_TOOL_SEARCH and config.json. */
  readonly toolSearch?: ToolSearchMode | undefined;
  /**
   * How tools are listed for the model; overrides config.json. `compact`: the first sentence of each description, and
   * schemas without descriptions, which accept the same arguments. Default: `full`.
   */
  readonly definitions?: DefinitionsSetting | undefined;
  /**
   * Whether the model gets the tool `run`, which runs programs over all tools in a sandbox; an object sets the limits of
   * programs. Overrides config.json. Default: false.
   */
  readonly codeMode?: CodeModeSetting | undefined;
  /**
   * The bytes of `plugboard/tool-search.bin`, for a bundle without the file; without them, the tool search of such a
   * bundle only compares words.
   */
  readonly searchModel?: Uint8Array | undefined;
  /**
   * Gives models two more tools, `list_mcp_resources` and `read_mcp_resource`, as soon as a server has resources. Off
   * by default: resources are meant to be chosen by the program or the person.
   */
  readonly resourceTools?: SessionOptions['resourceTools'];
  /** The model's limits and the media that it accepts. */
  readonly model?:
    | { readonly contextTokens?: number; readonly images?: boolean; readonly audio?: boolean }
    | undefined;
  /** Emits spans and metrics through OpenTelemetry; the program sets up the SDK. */
  readonly telemetry?: boolean | undefined;
  /** Sandboxes every stdio server of this host, whatever its entry says: the same values as the entry's `sandbox`. */
  readonly sandbox?: Sandbox | undefined;
  /** Sent to servers that declare `codex/sandbox-state`. */
  readonly sandboxState?: unknown;
  /** Whether configuration files are reread when they change (default), or only at `reload()`. */
  readonly watch?: boolean | undefined;
  /** Uses only these servers; the others are treated as not configured. */
  readonly only?: readonly string[] | undefined;
  /**
   * Which servers are started at once: by their `lifecycle` (default), all of them, none, or those whose tools are
   * unknown and that did not fail last time.
   */
  readonly connect?: 'lifecycle' | 'all' | 'none' | 'unknown' | undefined;
  /** Receives every message of the `log` event, from the first one on. */
  readonly log?: ((event: HostEvents['log']) => void) | undefined;
  /** The least severe log level requested from servers. */
  readonly logLevel?: LogLevel | undefined;
  /**
   * Returns the transport of a server of `servers` in place of the one its entry describes; undefined: as in the
   * entry. Servers of configuration files are not replaced, and a replaced server is neither cached nor pinned. For a
   * server inside this program, prefer `inProcess`.
   */
  readonly openTransport?: ((name: string) => Transport | undefined) | undefined;
  /** @internal The same for servers of all scopes, which are cached and pinned like their entries. */
  readonly replaceTransport?: ((name: string) => Transport | undefined) | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly clock?: Clock | undefined;
  /** @internal The configuration for these options, if it was just read. */
  readonly config?: LoadedConfig | undefined;
  /** @internal Prefix of the ids of calls, sessions and questions, for processes with several hosts. */
  readonly idPrefix?: string | undefined;
  /** @internal The counters of budgets, if several hosts share them. */
  readonly budgetBook?: BudgetBook | undefined;
  /** @internal Counters of budgets that hosts of other processes share. */
  readonly sharedCounters?: SharedCounters | undefined;
  /** @internal Called when the host is closed. */
  readonly closed?: (() => Promise<void>) | undefined;
  /** @internal Returns a transport to a process of another host that runs the same server; undefined: start one. */
  readonly borrow?: ((spec: ServerSpec, entry: ServerEntry) => Transport | undefined) | undefined;
  /** @internal Processes that were started before the host was loaded. */
  readonly headStart?: HeadStart | undefined;
}

/** The events of `host.on`, by name. */
export interface HostEvents extends CallEvents, QuestionEvents {
  /** `{ server, elicitationId, session }`: a page that a server asked `session` to open was completed. */
  readonly 'elicitation.complete': {
    readonly server: string;
    readonly elicitationId: string;
    readonly session: string;
  };
  /** A `TaskInfo`, at every change of a call in the background. */
  readonly task: TaskInfo;
  /** A `ServerReport`, at every change of state. */
  readonly server: ServerReport;
  /** `{ connected, failed, cancelled }`, once, when the first start is over. */
  readonly ready: { readonly connected: number; readonly failed: number; readonly cancelled: number };
  /** `{ server }`: its list of tools changed. */
  readonly tools: { readonly server: string };
  /** `{ server }`: its list of resources changed. */
  readonly resources: { readonly server: string };
  /** `{ server }`: its list of prompts changed. */
  readonly prompts: { readonly server: string };
  /**
   * `{ server, state, url?, opened?, message?, hint? }`; `state` is `needed`, `waiting`, `done`, `failed` or
   * `removed`.
   */
  readonly login: {
    readonly server: string;
    readonly state: 'needed' | 'waiting' | 'done' | 'failed' | 'removed';
    readonly url?: string;
    /** Whether the browser was opened; if not, the address must be shown. */
    readonly opened?: boolean;
    readonly message?: string;
    readonly hint?: string;
  };
  /** `{ server?, session?, level, message, logger?, data? }`: log messages of servers and notices about them. */
  readonly log: LogEvent;
  /**
   * `{ server, session?, level, params, isOwn? }`: every log message about a server, including those that only a session
   * requested.
   */
  readonly message: ServerMessage;
}
