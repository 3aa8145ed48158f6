/** What a host is made from and what it tells: the types of the library's surface. */

import type { CallEvents } from './call/call.ts';
import type { Approve, SessionOptions } from './call/session.ts';
import type { CachedList } from './catalog/cache.ts';
import type { ToolSearchMode } from './catalog/deferral.ts';
import type { Naming } from './catalog/names.ts';
import type { Sandbox, ServerEntry, ServerSpec } from './config/entry.ts';
import type { GivenEntry } from './config/given-entry.ts';
import type { AskInput } from './config/input-values.ts';
import type { BuiltIn, LoadedConfig } from './config/load.ts';
import type { LogLevel } from './connection/log-levels.ts';
import type { Questioned } from './connection/questions.ts';
import type { QuestionEvents } from './connection/questions-board.ts';
import type { LogEvent, ServerMessage, ServerReport } from './host-report.ts';
import type { Clock } from './lib/clock.ts';
import type { FetchFunction } from './policy/network.ts';
import type { CredentialStore } from './secrets/credential-store.ts';
import type { Transport } from './transport/contract.ts';

export interface HostOptions extends Questioned {
  /** Where the project is looked for; default: the working folder. */
  readonly cwd?: string | undefined;
  /**
   * The folder of Plugboard's own files; default: PLUGBOARD_HOME, else ~/.config/plugboard. `false`: none, nothing is
   * read or kept: no caches, pins, logs or cut results, and logins only with `credentials`.
   */
  readonly home?: string | false | undefined;
  /**
   * The folder of results that are too long for the model and of media that it does not take, relative to `cwd`; default:
   * `outputs` in the home, and with `home: false` none is saved. The model gets their paths, so choose a folder that its tools
   * can read. Files are private to the user and deleted after seven days; other files in the folder are not touched.
   */
  readonly outputs?: string | undefined;
  /**
   * `false`: neither config.json nor files of a project are read or watched; only `servers` take part. What a manager
   * of the machine decided holds all the same.
   */
  readonly configuration?: boolean | undefined;
  /** Servers given in code: the strongest scope. */
  readonly servers?: Readonly<Record<string, GivenEntry>> | undefined;
  /** Servers that are there unless the configuration says otherwise: the weakest scope. */
  readonly builtIn?: BuiltIn | undefined;
  /** What such servers are known to offer: with it, they are started by their first call and not to be asked. */
  readonly builtInList?: ((spec: ServerSpec) => Promise<CachedList | undefined>) | undefined;
  /** How the person is asked about a call. Without it, what has to be asked is refused. */
  readonly approve?: Approve | undefined;
  /** How the person is asked for a value of `${input:id}` that nobody has given yet; it is kept in the keyring. */
  readonly input?: AskInput | undefined;
  /** Who has asked already; see {@link SessionOptions}. */
  readonly approvals?: SessionOptions['approvals'];
  /** Whether a model reads results (default): then they are cleaned and kept within its limits. */
  readonly forModel?: SessionOptions['forModel'];
  /** @internal Whether the callbacks for questions reach a person now. */
  readonly canBeAsked?: SessionOptions['canBeAsked'];
  /**
   * What sessions of this host will be able to answer, beside the host itself: servers are told once, when
   * they connect. The callbacks of the session decide; these here only say that there will be some.
   */
  readonly sessions?: Pick<Questioned, 'elicit' | 'sample' | 'sampling' | 'roots'> | undefined;
  /**
   * Sessions are different agents: a server that keeps state has a process for each of them, and legacy
   * servers, which do not say whose call they ask about, work for one at a time. Default: one agent's.
   */
  readonly manyAgents?: boolean | undefined;
  /**
   * Stdio servers run in the daemon, where agents of the same user with the same entry, folder and environment
   * share one process; the daemon is started when it is needed. Everything else stays in this process:
   * configuration, consent, approvals, questions, results. A server that cannot be shared, or no daemon to be
   * had: a process of our own, and a line in the log. Default: always processes of our own.
   */
  readonly daemon?: boolean | undefined;
  /** How a login reaches the person's browser; default: the system's own way. */
  readonly openUrl?: ((url: string) => void | Promise<void>) | undefined;
  /**
   * Sends every request to remote servers and for logins, in place of our own connections: for a proxy, a dispatcher
   * or headers of your own. Proxy variables and certificate files are then its matter.
   */
  readonly fetch?: FetchFunction | undefined;
  /** Keeps logins, client secrets and answers to `${input:id}` in place of the keyring: for a database of your users. */
  readonly credentials?: CredentialStore | undefined;
  readonly naming?: Naming | undefined;
  /** Whether definitions are deferred behind `tool_search`; beats ENABLE_TOOL_SEARCH and config.json. */
  readonly toolSearch?: ToolSearchMode | undefined;
  /**
   * The bytes of `plugboard/tool-search.bin`, for a bundle that does not have the file; without it, such a bundle's tool
   * search compares words only.
   */
  readonly searchModel?: Uint8Array | undefined;
  /**
   * Gives models two more tools, `list_mcp_resources` and `read_mcp_resource`, as soon as a server has resources. Off by
   * default: resources are meant to be chosen by the program or the person.
   */
  readonly resourceTools?: SessionOptions['resourceTools'];
  /** What the model can take. */
  readonly model?:
    | { readonly contextTokens?: number; readonly images?: boolean; readonly audio?: boolean }
    | undefined;
  /** Spans and metrics through OpenTelemetry; the SDK is yours to set up. */
  readonly telemetry?: boolean | undefined;
  /** Confines every stdio server of this host, whatever its entry says: the same values as the entry's `sandbox`. */
  readonly sandbox?: Sandbox | undefined;
  /** Given to servers that declare `codex/sandbox-state`. */
  readonly sandboxState?: unknown;
  /** Read configuration files again when they change (default), or only at `reload()`. */
  readonly watch?: boolean | undefined;
  /** Only these servers take part; the others are as if they were not configured. */
  readonly only?: readonly string[] | undefined;
  /**
   * Which servers are started at once: as their `lifecycle` says (default), all of them, none, or those whose tools
   * are unknown and that did not fail last time.
   */
  readonly connect?: 'lifecycle' | 'all' | 'none' | 'unknown' | undefined;
  /** Told every message of the `log` event, from the first one on. */
  readonly log?: ((event: HostEvents['log']) => void) | undefined;
  /** The least severe messages wanted from servers. */
  readonly logLevel?: LogLevel | undefined;
  /**
   * Gives the transport of a server of `servers` in place of what its entry describes; undefined: as the entry says.
   * Servers of configuration files are not replaced, and nothing of a server that is replaced is cached or pinned. A
   * server of this program is better given as `inProcess`.
   */
  readonly openTransport?: ((name: string) => Transport | undefined) | undefined;
  /** @internal The same for servers of all scopes, which are cached and pinned as their entries say. */
  readonly replaceTransport?: ((name: string) => Transport | undefined) | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly clock?: Clock | undefined;
  /** @internal The configuration for these options, if it was read a moment ago. */
  readonly config?: LoadedConfig | undefined;
  /** @internal Prefix of the ids of calls, sessions and questions, for processes with several hosts. */
  readonly idPrefix?: string | undefined;
  /** @internal Called when the host is closed. */
  readonly closed?: (() => Promise<void>) | undefined;
  /** @internal Gives the transport to a process of another host that runs the same server; undefined: start one. */
  readonly borrow?: ((spec: ServerSpec, entry: ServerEntry) => Transport | undefined) | undefined;
}

/** What `host.on` tells, by the name of the event. */
export interface HostEvents extends CallEvents, QuestionEvents {
  /** `{ server, elicitationId, session }`: a page that a server had asked `session` to open is done. */
  readonly 'elicitation.complete': {
    readonly server: string;
    readonly elicitationId: string;
    readonly session: string;
  };
  /** A `ServerReport`, at every change of state. */
  readonly server: ServerReport;
  /** `{ connected, failed, cancelled }`, once, when the first start is over. */
  readonly ready: { readonly connected: number; readonly failed: number; readonly cancelled: number };
  /** `{ server }`: its list of tools is another one now. */
  readonly tools: { readonly server: string };
  /** `{ server }`: its list of resources is another one now. */
  readonly resources: { readonly server: string };
  /** `{ server }`: its list of prompts is another one now. */
  readonly prompts: { readonly server: string };
  /** `{ server, state, url?, opened?, message?, hint? }`; `state` is `needed`, `waiting`, `done`, `failed` or `removed`. */
  readonly login: {
    readonly server: string;
    readonly state: 'needed' | 'waiting' | 'done' | 'failed' | 'removed';
    readonly url?: string;
    /** Whether the browser was opened; when it was not, the address has to be shown. */
    readonly opened?: boolean;
    readonly message?: string;
    readonly hint?: string;
  };
  /** `{ server?, session?, level, message, logger?, data? }`: what servers log and what is worth knowing about them. */
  readonly log: LogEvent;
  /** `{ server, session?, level, params }`: every log message about a server, with those that only a session asked for. */
  readonly message: ServerMessage;
}
