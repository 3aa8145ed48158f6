/** The shapes of a server's entry and of a configuration, after parsing and before expansion. */

import type { HeadersFunction } from './given-entry.ts';
import type { InProcessFactory, InProcessServer } from './in-process.ts';

export type Scope = 'code' | 'local' | 'project' | 'user' | 'plugin' | 'managed';

export type Approval = 'approve' | 'auto' | 'writes' | 'prompt';

/** Limits that can stand in an entry and, for all servers, under `defaults`. */
export interface Limits {
  readonly startupTimeoutMs?: number;
  readonly toolTimeoutMs?: number;
  readonly maxTotalMs?: number;
  readonly maxOutputTokens?: number;
}

export interface ToolSettings {
  readonly approval?: Approval;
  readonly maxOutputTokens?: number;
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
  readonly alwaysLoad?: boolean;
  readonly lifecycle?: 'lazy' | 'eager' | 'keep-alive';
  readonly shared?: boolean;
  readonly sandbox?: Sandbox;
  readonly pins?: 'hold' | 'warn' | 'off';
}

export interface StdioEntry extends EntryBase {
  readonly type?: 'stdio';
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Names of variables to pass through from our own environment. */
  readonly envVars?: readonly string[];
  readonly inheritEnv?: boolean;
  readonly cwd?: string;
}

export interface OAuthDetails {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly scopes?: readonly string[];
  readonly callbackPort?: number;
  readonly authorizationUrl?: string;
  readonly tokenUrl?: string;
  readonly grant?: GrantDetails;
}

/** A grant that needs no person, by its name alone or with details. Secrets are named, and never in the entry. */
export type GrantDetails =
  | 'authorization_code'
  | 'client_credentials'
  | { readonly type: 'authorization_code' }
  | (IssuerBound &
      Partial<SecretSource<'privateKey'>> & {
        readonly type: 'client_credentials';
        /** How the private key signs (default: ES256). */
        readonly algorithm?: string | undefined;
      })
  | (IssuerBound & SecretSource<'assertion'> & { readonly type: 'jwt_bearer' })
  | (IssuerBound & { readonly type: 'cross_app'; readonly idp: IdentityProvider });

interface IssuerBound {
  /** The one issuer that may see the secrets; default: the first one that they are used with. */
  readonly issuer?: string | undefined;
}

/** Where a secret is: the name of a variable, or a file. */
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

export interface SandboxLimits {
  /** False: none, as if there were no `sandbox`. */
  readonly enabled?: boolean | undefined;
  /**
   * `read-only` (default): nothing can be written but private folders. `project`: the project's folder too. Lists: these
   * paths too, relative to the project. `all`: no limit but the places where secrets are kept.
   */
  readonly filesystem?: 'read-only' | 'project' | 'all' | SandboxPaths | undefined;
  /** Default: none. */
  readonly network?: 'none' | 'full' | boolean | undefined;
}

/** Paths that are shown in addition, and those that can be written. */
export interface SandboxPaths {
  readonly read?: readonly string[];
  readonly write?: readonly string[];
}

export interface RemoteEntry extends EntryBase {
  readonly type?: 'http' | 'sse';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Gives headers for each request; from `headers` of an entry in code, if that is a function. */
  readonly headersFrom?: HeadersFunction;
  /** Header name → name of the environment variable that holds its value. */
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
   * A server of `plugboard/kit` or of the official SDK, or a function that makes one for each connection. An SDK server
   * serves one connection at a time; with `shared: false` and several agents, give a function.
   */
  readonly inProcess: InProcessServer | InProcessFactory;
  readonly sandbox?: never;
  readonly pins?: never;
  readonly unapproved?: never;
}

/** An entry as `servers` of `createHost` takes it; files have the first two forms. Strings may still hold `${VAR}`. */
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

/** One server as configured: its entry and where that came from. */
export interface ServerSpec {
  readonly name: string;
  readonly scope: Scope;
  /** The file it stands in; absent for entries given in code. */
  readonly file?: string;
  readonly entry: ServerEntry;
  /** The entry exactly as parsed from the file, unknown keys included: what consent is bound to. */
  readonly raw: Readonly<Record<string, unknown>>;
  /** Base of a relative `cwd`: the project root, or the folder of a plugin. */
  readonly baseDir: string;
  /** The project root, where it is not `baseDir`. */
  readonly projectDir?: string;
  /** Launchers that start in the project do not read its settings, although its own file asks for the server. */
  readonly shielded?: true;
  /** Variables of this server alone, for references and for its process: where its plugin is. */
  readonly variables?: Readonly<Record<string, string>>;
  /** How the values of `${input:…}` are asked for, for a project's or plugin's entry: consent covers them. */
  readonly questions?: readonly InputQuestion[];
  /** The person's own file, if a switch in it decides on `enabled` instead of the entry. */
  readonly switchedIn?: string;
  /** Part of Plugboard itself: used where no other entry of its name is. */
  readonly builtIn?: true;
}

/** True for entries that a project or plugin supplies; all others are the person's own. */
export function isForeign({ scope }: Pick<ServerSpec, 'scope'>): boolean {
  return scope === 'project' || scope === 'plugin';
}

/** A plugin as `config.json` has it. */
export interface PluginSetting {
  readonly path: string;
  readonly enabled?: boolean;
  /** Rules for the servers of this plugin. */
  readonly permissions?: Pick<Permissions, 'allow'>;
}

/** How a person is asked for a value that stands in no file. */
export interface InputQuestion {
  readonly id: string;
  /** Whose answer it is: empty for the person's own servers, else the folder of the project or plugin. */
  readonly owner: string;
  readonly description?: string;
  /** Not to be shown while it is typed, nor ever after. */
  readonly password: boolean;
  /** Nothing else can be the answer. */
  readonly options?: readonly string[];
  /** Used when no value was given. */
  readonly fallback?: string;
}

/** Something wrong in a configuration that a person has to mend; everything else goes on. */
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
}

/** What `config.json` says beside its servers. */
/** What an agent that is served as a tool works with. */
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

export interface Settings {
  readonly inputs?: unknown;
  readonly defaults?: Limits & { readonly approval?: Approval };
  readonly permissions?: Permissions;
  readonly toolSearch?: boolean | 'auto' | `auto:${number}`;
  /** Whether searches learn from what was called after them; default true. */
  readonly searchLearning?: boolean;
  /** How long lists wait for servers that are contacted for the first time. */
  readonly firstListWaitMs?: number;
  readonly naming?: 'mcp__' | 'short' | 'plain';
  readonly client?: { readonly name?: string; readonly version?: string };
  /** Whether commands share the servers of a daemon; undefined: only `serve` does. */
  readonly daemon?: boolean;
  /** How long the daemon runs without sessions. */
  readonly daemonIdleMs?: number;
  readonly profiles?: Readonly<Record<string, AgentProfile>>;
  /** Folders that threads of `serve --agent` may work in, besides the project of the gateway. */
  readonly agentRoots?: readonly string[];
  readonly plugins?: Readonly<Record<string, PluginSetting>>;
  /** Rules for servers that a project supplies, by the real path of the folder of its file. */
  readonly projects?: Readonly<Record<string, { readonly permissions: Pick<Permissions, 'allow'> }>>;
  readonly telemetry?: unknown;
  /** The built-in server for the project's own files: true: wherever it can be, false: nowhere; undefined: where asked for. */
  readonly workspace?: boolean | { readonly shell?: boolean };
}

/** Everything that was asked for, merged: one spec per name, the strongest scope's. */
export interface Config {
  readonly servers: readonly ServerSpec[];
  readonly settings: Settings;
  readonly problems: readonly Problem[];
  /** The files that were looked for, present or not: what a watcher watches. */
  readonly files: readonly string[];
  readonly projectRoot: string;
}
