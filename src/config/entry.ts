/** The types of a server's entry and of a configuration, after parsing and before expansion. */

import type { HeadersFunction } from './given-entry.ts';
import type { InProcessFactory, InProcessServer } from './in-process.ts';
import type { ServerLock } from './lock-file.ts';
import type { Scope } from './scopes.ts';

export type Approval = 'approve' | 'auto' | 'writes' | 'prompt';

/** Limits that an entry, and `defaults` for all servers, can set. */
export interface Limits {
  readonly startupTimeoutMs?: number;
  readonly toolTimeoutMs?: number;
  readonly maxTotalMs?: number;
  readonly maxOutputTokens?: number;
  readonly maxConcurrentCalls?: number;
}

/** How servers behind a package launcher are started; an entry, and `defaults` for all servers, can set it. */
export interface LauncherSettings {
  /** False: `npx` is always started, also if its package is installed. */
  readonly directStart?: boolean;
  /** How long the version of a package is used before the registry is asked again; 0: before every start. */
  readonly npxCheckMs?: number;
}

/** How the package of an entry is locked. */
export interface LockSettings {
  /** Versions younger than this are not locked: a number and m, h, d or w. */
  readonly minAge?: string;
  /** True: the install scripts of its locked packages run when they are installed. */
  readonly installScripts?: boolean;
}

export interface ToolSettings {
  readonly approval?: Approval;
  readonly maxOutputTokens?: number;
  readonly backgroundAfter?: number;
}

export interface EntryBase extends Limits {
  readonly enabled?: boolean;
  /** Written over the management API, and not approved by a person yet. */
  readonly unapproved?: boolean;
  readonly required?: boolean;
  readonly enabledTools?: readonly string[];
  readonly disabledTools?: readonly string[];
  readonly approval?: Approval;
  readonly trusted?: boolean;
  readonly tools?: Readonly<Record<string, ToolSettings>>;
  /** Milliseconds after which a call of a gateway's client goes on as a task. */
  readonly backgroundAfter?: number;
  readonly alwaysLoad?: boolean;
  readonly lifecycle?: 'lazy' | 'eager' | 'keep-alive';
  readonly shared?: boolean;
  readonly sandbox?: Sandbox;
  readonly pins?: 'hold' | 'warn' | 'off';
}

/** An entry of a server that is started as a process. */
export interface StdioEntry extends EntryBase, LauncherSettings, LockSettings {
  readonly type?: 'stdio';
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Names of variables to pass through from our own environment. */
  readonly envVars?: readonly string[];
  readonly inheritEnv?: boolean;
  readonly cwd?: string;
}

/** The key `oauth` of a remote entry: details of a login that the server does not publish. */
export interface OAuthDetails {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly scopes?: readonly string[];
  readonly callbackPort?: number;
  readonly authorizationUrl?: string;
  readonly tokenUrl?: string;
  readonly grant?: GrantDetails;
}

/** A grant without user interaction, by its name alone or with details. Secrets are referenced, never in the entry. */
export type GrantDetails =
  | 'authorization_code'
  | 'client_credentials'
  | { readonly type: 'authorization_code' }
  | (IssuerBound &
      Partial<SecretSource<'privateKey'>> & {
        readonly type: 'client_credentials';
        /** The signature algorithm of the private key (default: ES256). */
        readonly algorithm?: string | undefined;
      })
  | (IssuerBound & SecretSource<'assertion'> & { readonly type: 'jwt_bearer' })
  | (IssuerBound & { readonly type: 'cross_app'; readonly idp: IdentityProvider });

interface IssuerBound {
  /** The only issuer that may receive the secrets; default: the first one that they are used with. */
  readonly issuer?: string | undefined;
}

/** The source of a secret: the name of a variable, or a file. */
type SecretSource<Name extends string> =
  | { readonly [Key in `${Name}EnvVar`]: string }
  | { readonly [Key in `${Name}File`]: string };

type IdentityProvider = { readonly clientId: string } & (
  | { readonly issuer: string; readonly tokenUrl?: string | undefined }
  | { readonly issuer?: string | undefined; readonly tokenUrl: string }
) &
  SecretSource<'idToken'> &
  Partial<SecretSource<'clientSecret'>>;

/** Limits of files and network for the process of a stdio server; `true` is `'strict'`, `false` none. */
export type Sandbox = boolean | 'strict' | 'off' | 'none' | SandboxLimits;

/** Limits of memory, CPU and processes in a sandbox. */
export interface SandboxLimits {
  /** False: no sandbox. */
  readonly enabled?: boolean | undefined;
  /**
   * `read-only` (default): only private folders are writable. `project`: the project's folder too. Lists: these paths
   * too, relative to the project. `all`: no limit except locations of secrets.
   */
  readonly filesystem?: 'read-only' | 'project' | 'all' | SandboxPaths | undefined;
  /** Default: none. */
  readonly network?: 'none' | 'full' | boolean | undefined;
}

/** Additional readable paths, and writable paths. */
export interface SandboxPaths {
  readonly read?: readonly string[];
  readonly write?: readonly string[];
}

/** An entry of a remote server. */
export interface RemoteEntry extends EntryBase {
  readonly type?: 'http' | 'sse';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Returns headers for each request; set from `headers` of an entry in code, if that is a function. */
  readonly headersFrom?: HeadersFunction;
  /** Header name → name of the environment variable with its value. */
  readonly headersFromEnv?: Readonly<Record<string, string>>;
  /** A command that prints a JSON object of headers. */
  readonly headersHelper?: string;
  readonly bearerTokenEnvVar?: string;
  /** False: never through a proxy; true: also if the url is on this machine or in NO_PROXY. */
  readonly proxy?: boolean;
  readonly oauth?: boolean | OAuthDetails;
}

/** A server that is part of this program; only in entries given in code. It is neither cached nor pinned. */
export interface InProcessEntry extends Omit<EntryBase, 'sandbox' | 'pins' | 'unapproved'> {
  /**
   * A server of `plugboard/kit` or of the official SDK, or a function that creates one for each connection. An SDK
   * server serves one connection at a time; with `shared: false` and several agents, give a function.
   */
  readonly inProcess: InProcessServer | InProcessFactory;
  readonly sandbox?: never;
  readonly pins?: never;
  readonly unapproved?: never;
}

/** An entry of `servers` of `createHost`; files can have the first two forms. Strings may still contain `${VAR}`. */
export type ServerEntry = StdioEntry | RemoteEntry | InProcessEntry;

export function isStdio(entry: ServerEntry): entry is StdioEntry {
  return 'command' in entry;
}

export function isRemote(entry: ServerEntry): entry is RemoteEntry {
  return 'url' in entry;
}

export function isInProcess(entry: ServerEntry): entry is InProcessEntry {
  return 'inProcess' in entry;
}

/** One configured server: its entry and its source. */
export interface ServerSpec {
  readonly name: string;
  readonly scope: Scope;
  /** The file of the entry; absent for entries given in code. */
  readonly file?: string;
  readonly entry: ServerEntry;
  /** The entry exactly as parsed from the file, including unknown keys: approval is bound to it. */
  readonly raw: Readonly<Record<string, unknown>>;
  /** Base of a relative `cwd`: the project root, or the folder of a plugin. */
  readonly baseDir: string;
  /** The project root, if it is not `baseDir`. */
  readonly projectDir?: string;
  /** Launchers that start in the project ignore its settings, although its own file defines the server. */
  readonly shielded?: true;
  /** Variables of this server only, for references and for its process: the location of its plugin. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The questions for the values of `${input:…}`, for a project's or plugin's entry: approval covers them. */
  readonly questions?: readonly InputQuestion[];
  /** The user's own file, if a switch in it overrides `enabled` of the entry. */
  readonly switchedIn?: string;
  /** Part of Plugboard itself: used only if no other entry has its name. */
  readonly builtIn?: true;
  /** The packages that it is locked to; absent if it is not locked. */
  readonly lock?: ServerLock;
}

/** A plugin in `config.json`. */
export interface PluginSetting {
  readonly path: string;
  readonly enabled?: boolean;
  /** Rules for the servers of this plugin. */
  readonly permissions?: Pick<Permissions, 'allow'>;
}

/** A user's own setting of a server in one project. */
export interface ServerSwitch {
  readonly enabled?: boolean;
}

/** An element of `inputs` in a file, in the format of VS Code. */
export interface InputDefinition {
  readonly id?: string;
  readonly type?: 'promptString' | 'pickString';
  readonly description?: string;
  readonly password?: boolean;
  readonly default?: string;
  readonly options?: readonly string[];
}

/** The question for a value that is not stored in a file. */
export interface InputQuestion {
  readonly id: string;
  /** The owner of the answer: empty for the user's own servers, else the folder of the project or plugin. */
  readonly owner: string;
  readonly description?: string;
  /** Hide the answer, while it is typed and later. */
  readonly password: boolean;
  /** The only valid answers. */
  readonly options?: readonly string[];
  /** Used when no value was given. */
  readonly fallback?: string;
}

/** A problem in a configuration that a person has to fix; everything else stays in effect. */
export interface Problem {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly server?: string;
  readonly message: string;
  readonly hint?: string;
}

export interface Permissions {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  /** Calls of the user's own servers that only read. */
  readonly readOnly?: readonly string[];
}

/** A limit on calls or on tokens of results in a period, of all servers and tools or of some. */
export interface Budget {
  /** Either this, or `resultTokens`. */
  readonly calls?: number;
  readonly resultTokens?: number;
  readonly per: 'second' | 'minute' | 'hour' | 'day';
  /** A glob of server names. */
  readonly server?: string;
  /** A glob of tool names: the server's own, or with the server. */
  readonly tool?: string;
}

/** The settings of an agent that is served as a tool. */
export interface AgentProfile {
  readonly model?: string;
  readonly contextTokens?: number;
  readonly maxSteps?: number;
  readonly tools?: readonly string[];
  readonly approvalPolicy?: 'ask' | 'never';
  readonly sandbox?: 'inherit' | 'read-only';
  readonly baseInstructions?: string;
  readonly developerInstructions?: string;
  readonly compactPrompt?: string;
}

export type ToolSearchSetting = boolean | 'auto' | `auto:${number}`;

/** How definitions of tools are listed for models. */
export type DefinitionsSetting = 'full' | 'compact';

/** The limits of programs, for sessions with code mode. */
export interface CodeModeSettings {
  readonly cpuMs?: number;
  readonly wallMs?: number;
  readonly memoryMb?: number;
  readonly calls?: number;
  readonly parallel?: number;
  readonly outputTokens?: number;
  readonly storedKb?: number;
  readonly descriptionTokens?: number;
  readonly keepHours?: number;
  readonly durable?: boolean;
}

/** Whether models get the tool `run`, and the limits of its programs. */
export type CodeModeSetting = boolean | CodeModeSettings;

/** How the clients of a profile find tools. */
export interface ProfileSearch {
  readonly mode?: ToolSearchSetting;
  /** Tools that are listed without a search, as globs. */
  readonly alwaysLoad?: readonly string[];
}

/** A profile: the view and the rights of the clients that have it, and the settings of an agent that is a tool. */
export interface Profile extends AgentProfile {
  /** The profile whose restrictions apply too. */
  readonly extends?: string;
  /** Only these servers, as globs. */
  readonly servers?: readonly string[];
  readonly rules?: Permissions;
  readonly approvals?: 'client' | 'enforce';
  readonly search?: ToolSearchSetting | ProfileSearch;
  readonly definitions?: DefinitionsSetting;
  readonly codeMode?: CodeModeSetting;
  readonly deduplicate?: boolean;
  readonly budgets?: readonly Budget[];
  /** Milliseconds after which a call of its clients goes on as a task. */
  readonly backgroundAfter?: number;
}

/** A client of the gateway: how it is recognised, and its profile. */
export interface ClientSetting {
  /** SHA-256 of its token, in hex. */
  readonly token?: string;
  /** Claims that the token of an issuer must have: each one, with one of these values. */
  readonly claims?: Readonly<Record<string, string | readonly string[]>>;
  /** The user of this machine: over stdio, and over HTTP without a token. */
  readonly local?: boolean;
  readonly profile?: string;
}

/** The settings of `config.json`, apart from its servers. */
export interface Settings {
  readonly inputs?: unknown;
  readonly defaults?: Limits &
    LauncherSettings & { readonly approval?: Approval; readonly backgroundAfter?: number };
  readonly permissions?: Permissions;
  /** Limits for all clients together. */
  readonly budgets?: readonly Budget[];
  /** Settings of replicas with `serve --cluster`. */
  readonly cluster?: { readonly onLost?: 'local' | 'refuse' };
  readonly toolSearch?: ToolSearchSetting;
  readonly definitions?: DefinitionsSetting;
  readonly codeMode?: CodeModeSetting;
  /** Versions younger than this are not locked: a number and m, h, d or w. */
  readonly minAge?: string;
  /** Whether clients of the gateway get references in place of results that they have; default false. */
  readonly deduplicate?: boolean;
  /** Whether searches learn from the tools that are called after them; default true. */
  readonly searchLearning?: boolean;
  /** Whether calls are kept with their values, for the page; default true. */
  readonly history?: boolean;
  /** How long lists wait for servers that are contacted for the first time. */
  readonly firstListWaitMs?: number;
  readonly naming?: 'mcp__' | 'short' | 'plain';
  readonly client?: { readonly name?: string; readonly version?: string };
  /** Whether commands share the servers of a daemon; undefined: only `serve` does. */
  readonly daemon?: boolean;
  /** How long the daemon runs without sessions. */
  readonly daemonIdleMs?: number;
  readonly profiles?: Readonly<Record<string, Profile>>;
  /** Profiles with a problem: their clients are refused. */
  readonly brokenProfiles?: readonly string[];
  readonly clients?: Readonly<Record<string, ClientSetting>>;
  /** Clients with a problem: they are refused. */
  readonly brokenClients?: readonly string[];
  /** Folders in which threads of `serve --agent` may work, besides the project of the gateway. */
  readonly agentRoots?: readonly string[];
  readonly plugins?: Readonly<Record<string, PluginSetting>>;
  /** Rules for servers that a project supplies, by the real path of the folder of its file. */
  readonly projects?: Readonly<Record<string, { readonly permissions: Pick<Permissions, 'allow'> }>>;
  readonly telemetry?: unknown;
  /** The built-in server for the project's files: true: wherever possible, false: never; undefined: on request. */
  readonly workspace?: boolean | WorkspaceSettings;
}

/** Settings of the built-in server for the project's files. */
export interface WorkspaceSettings {
  readonly shell?: boolean;
}

/** The merged configuration: one spec per name, from the strongest scope. */
export interface Config {
  readonly servers: readonly ServerSpec[];
  readonly settings: Settings;
  readonly problems: readonly Problem[];
  /** The files that were looked for, present or not; a watcher watches them. */
  readonly files: readonly string[];
  readonly projectRoot: string;
}
