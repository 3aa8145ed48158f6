/** The first line of each side: who comes and what for, and whether that can be had here. */

import type { ServerEntry } from '../config/entry.ts';
import type { SaidError } from './said-error.ts';

/** Grows when the lines after the first ones change; builds differ in their socket already. */
export const PROTOCOL = 1;

/** What a session is about; everything that decides which servers it may share. */
export interface Surroundings {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Servers given for this session only. */
  readonly servers?: Readonly<Record<string, ServerEntry>> | undefined;
  /** Whether the built-in server takes part; commands do not care, and share what is there. */
  readonly workspace?: boolean | undefined;
}

/** A server as its caller has it configured: another one is not given under its name. */
export interface WantedServer {
  readonly name: string;
  readonly raw: Readonly<Record<string, unknown>>;
  readonly baseDir: string;
}

export type Hello =
  /** MCP lines both ways from here on. */
  | ({ readonly kind: 'mcp'; readonly approvals: 'client' | 'enforce' } & Surroundings)
  /** MCP lines both ways, with one server as it is: its caller has a host of its own. */
  | ({ readonly kind: 'server'; readonly wanted: WantedServer } & Surroundings)
  /** One command, run there: frames of what it prints, then its exit status. */
  | ({ readonly kind: 'command'; readonly words: readonly string[]; readonly screen: Screen } & Surroundings)
  | { readonly kind: 'status' }
  | { readonly kind: 'reload' }
  /** `idle`: only if nobody is attached. */
  | { readonly kind: 'stop'; readonly when: 'idle' | 'now' }
  /** It was started by a person: it stays when its last session leaves. */
  | { readonly kind: 'stay' };

/** What the command's output goes to. */
export interface Screen {
  readonly stdout: { readonly isTerminal: boolean; readonly columns?: number; readonly rows?: number };
  readonly stderr: Screen['stdout'];
  /** A person could be asked, by a command that runs at home. */
  readonly canAsk: boolean;
}

export interface Greeting {
  readonly plugboard: typeof PROTOCOL;
  readonly token: string;
  readonly hello: Hello;
}

/** `ok: false` without an error: do it yourself. */
export interface Welcome {
  readonly ok: boolean;
  readonly result?: unknown;
}

/** The daemon ends this session in good order: nothing that is unanswered was begun. */
export const LEAVING = '{"plugboard":"leaving"}';
/** The same, because a person stopped it: no other is to be started before somebody wants something. */
export const STOPPED = '{"plugboard":"stopped"}';

/** What the daemon says of a server, between the lines of that server. */
export type ServerFrame =
  /** The process that works for this session. */
  | { readonly plugboard: 'started'; readonly pid?: number | undefined }
  /** It has ended, with why. */
  | { readonly plugboard: 'ended'; readonly error: SaidError };

/** One frame of a command's output. */
export type CommandFrame =
  | { readonly out: string }
  | { readonly err: string }
  | { readonly exit: number }
  /** Nothing was done and nothing printed: run it at home. */
  | { readonly home: true };
