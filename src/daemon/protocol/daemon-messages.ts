/** The messages between the daemon and its clients: requests to attach, their responses, frames, and the report. */

import type { ServerEntry } from '../../config/entry.ts';
import type { EncodedError } from './error-codec.ts';

/**
 * Version of everything after the first line. Raise it when a client of the previous version could no longer attach;
 * `status`, `stop` and `handover` are understood by every version from 2 on.
 */
export const PROTOCOL = 2;
/** The version of 0.1.0, whose daemons only get status and stop requests. */
export const FIRST_PROTOCOL = 1;

/** The session's folder and environment: they decide which servers it has and which processes it may share. */
export interface SessionContext {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Servers given for this session only. */
  readonly servers?: Readonly<Record<string, ServerEntry>> | undefined;
  /**
   * Whether the built-in workspace server is included; default: the setting of config.json; `any`: it does not
   * matter.
   */
  readonly workspace?: boolean | 'any' | undefined;
}

/** A server as its caller has it configured: a different one of the same name is not used. */
export interface RequestedServer {
  readonly name: string;
  readonly raw: Readonly<Record<string, unknown>>;
  readonly baseDir: string;
}

export type SessionRequest =
  /** A relay: MCP lines in both directions from here on. */
  | ({
      readonly kind: 'mcp';
      readonly approvals: Approvals;
      readonly profile?: string | undefined;
    } & SessionContext)
  /** MCP lines in both directions with one server as a pass-through, for a host in another process. */
  | ({ readonly kind: 'server'; readonly wanted: RequestedServer } & SessionContext)
  /** One command: frames of its output, then its exit status. */
  | ({
      readonly kind: 'command';
      readonly words: readonly string[];
      readonly screen: Screen;
    } & SessionContext)
  /** The gateway and the page over HTTP, by default while the client is attached; the response has their addresses. */
  | ({ readonly kind: 'http'; readonly listen: HttpListen } & SessionContext);

export type ControlRequest =
  | { readonly kind: 'status' }
  | { readonly kind: 'reload' }
  /** `idle`: only if no client is attached. */
  | { readonly kind: 'stop'; readonly when: 'idle' | 'now' }
  /** Stop accepting clients now, and exit when each session has had a moment without open requests. */
  | { readonly kind: 'handover' }
  /** Keep running without sessions, and keep idle servers for a while. */
  | { readonly kind: 'stay' };

export type AttachRequest = SessionRequest | ControlRequest;

const APPROVALS = ['client', 'enforce'] as const;
export type Approvals = (typeof APPROVALS)[number];

/** True for a value of the flag `--approvals`. */
export function isApprovals(value: string | undefined): value is Approvals {
  return APPROVALS.some((mode) => mode === value);
}

/** Where and how the gateway listens. */
export interface HttpListen {
  readonly host?: string | undefined;
  /** Undefined: the port of the last time, else the default one, else the next free one. */
  readonly port?: number | undefined;
  readonly approvals: Approvals;
  /** The only profile that is served. */
  readonly profile?: string | undefined;
  /** Bearer token of MCP clients. */
  readonly token?: string | undefined;
  /** Accept the tokens of `plugboard token` too. Without these, a token or an issuer, no token is required. */
  readonly namedTokens?: boolean | undefined;
  /** Accept requests without a token too; a presented one must be a token of `plugboard token`. */
  readonly tokenOptional?: boolean | undefined;
  /** Required by the management API and the page. */
  readonly manageToken?: string | undefined;
  /** Whether the management API also answers forwarded requests. */
  readonly manageForwarded?: boolean | undefined;
  readonly issuer?: { readonly issuer: string; readonly audience: string } | undefined;
  readonly legacySse?: boolean | undefined;
  /** Keep listening after the client has disconnected, while the daemon runs; an open page keeps it running. */
  readonly stays?: boolean | undefined;
}

/** `result` of the response to an `http` session. */
export interface HttpListening {
  readonly url: string;
  readonly page: string | undefined;
}

/** The terminal of the shell that runs a command. */
export interface Screen {
  readonly stdout: { readonly isTerminal: boolean; readonly columns?: number; readonly rows?: number };
  readonly stderr: Screen['stdout'];
  /** A person could be asked by a command that runs locally. */
  readonly canAsk: boolean;
  /** The client answers `ask` frames while the daemon runs its command. */
  readonly canAnswer?: boolean;
  /** Why no person can be asked. */
  readonly notAsked?: string;
}

/** The first line of a client. */
export interface AttachMessage {
  readonly plugboard: number;
  readonly token: string;
  readonly hello: AttachRequest;
}

/** The daemon's first line. `ok: false` without an error: the client runs it locally. */
export interface AttachResponse {
  readonly ok: boolean;
  readonly result?: unknown;
  readonly error?: EncodedError | undefined;
}

/** The client's answer to the last `ask` of a command. */
export interface CommandAnswer {
  readonly answer: unknown;
}

/** The daemon ends this session properly: no request without a response was started. */
export const LEAVING = '{"plugboard":"leaving"}';
/** The same, because a person stopped the daemon: none is started until the client sends its next request. */
export const STOPPED = '{"plugboard":"stopped"}';

/** A warning for the person who serves over HTTP. */
export interface HttpWarning {
  readonly warning: string;
}

/** State of the server's process, sent between the lines of that server. */
export type ServerFrame =
  /** The process that serves this session. */
  | { readonly plugboard: 'started'; readonly pid?: number | undefined }
  /** The process has ended, with the reason. */
  | { readonly plugboard: 'ended'; readonly error: EncodedError };

/** One frame of a command's output. */
export type CommandFrame =
  | { readonly out: string }
  /** A server's question for the person; the client sends one `CommandAnswer` for each. */
  | { readonly ask: Readonly<Record<string, unknown>> }
  | { readonly err: string }
  | { readonly exit: number }
  /** Nothing was done and nothing printed: run it locally. */
  | { readonly local: true };

export interface ServerUse {
  readonly name: string;
  readonly status: string;
  readonly pid?: number;
  /** Number of processes of this server: the shared and dedicated ones, and their children. */
  readonly processes?: number;
  /** Their memory, with pages shared between processes divided among them; Linux only. */
  readonly bytes?: number;
  /** Additional processes of this server in this daemon, with the reason for each. */
  readonly copies?: readonly ProcessCopy[];
}

/** An additional process of a server. */
export interface ProcessCopy {
  readonly pid: number;
  /** Why the session could not use the process that was already running. */
  readonly reason: string;
  /** How to avoid it, if it can be avoided. */
  readonly hint?: string;
}

/** The servers of one folder and environment, and how many sessions share them. */
export interface HostUse {
  readonly cwd: string;
  readonly sessions: number;
  /** Differences from the first set of the same folder: names of variables, or options of the session. */
  readonly differs?: readonly string[];
  readonly servers: readonly ServerUse[];
}

export interface DaemonReport {
  readonly pid: number;
  readonly version: string;
  readonly since: string;
  /** Whether it was started to keep running without sessions. */
  readonly stays: boolean;
  /** Whether it runs until it is stopped; absent in reports of 0.1.0. */
  readonly isService?: boolean;
  /** How long it runs without sessions; absent for a service and in reports of 0.1.0. */
  readonly idleMs?: number;
  readonly bytes?: number;
  readonly sessions: readonly { readonly kind: string; readonly cwd: string; readonly since: string }[];
  /** Its HTTP addresses; absent in reports of 0.1.0. */
  readonly pages?: readonly { readonly url: string; readonly page?: string | undefined }[];
  readonly hosts: readonly HostUse[];
}

/** True for a call that goes on in the daemon after its command. */
export function isBackground(argv: readonly string[]): boolean {
  return argv.includes('--background') && argv.find((word) => word !== '--json') === 'call';
}

/** The commands that a running daemon can run for a shell: they use its hosts and change no files. */
export const DAEMON_COMMANDS: ReadonlySet<string> = new Set([
  'call',
  'list',
  'status',
  'tools',
  'tool',
  'info',
  'search',
  'resources',
  'read',
  'prompts',
  'prompt',
  'reconnect',
]);
