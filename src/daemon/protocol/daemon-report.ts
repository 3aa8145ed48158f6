/** The report of `plugboard daemon status`. */

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
