/** What `plugboard daemon status` reports. */

export interface ServerUse {
  readonly name: string;
  readonly status: string;
  readonly pid?: number;
  /** Processes of this server: those that were started, for all sessions and for one each, and their children. */
  readonly processes?: number;
  /** Their memory, with pages shared between processes counted in parts; Linux only. */
  readonly bytes?: number;
  /** Processes of this server beside the first one in this daemon, with the reason for each. */
  readonly copies?: readonly ProcessCopy[];
}

/** A second process of a server. */
export interface ProcessCopy {
  readonly pid: number;
  /** Why the session could not use the process that ran already. */
  readonly reason: string;
  /** How to avoid it, if it can be avoided. */
  readonly hint?: string;
}

/** The servers of one folder and environment, and how many sessions share them. */
export interface HostUse {
  readonly cwd: string;
  readonly sessions: number;
  /** What differs from the first set of the same folder: names of variables, or what was given with the session. */
  readonly differs?: readonly string[];
  readonly servers: readonly ServerUse[];
}

export interface DaemonReport {
  readonly pid: number;
  readonly version: string;
  readonly since: string;
  /** Whether it was started to stay without sessions. */
  readonly stays: boolean;
  /** Whether it runs until it is stopped; absent in reports of 0.1.0. */
  readonly isService?: boolean;
  /** How long it runs without sessions; absent for a service and in reports of 0.1.0. */
  readonly idleMs?: number;
  readonly bytes?: number;
  readonly sessions: readonly { readonly kind: string; readonly cwd: string; readonly since: string }[];
  /** Where it serves over HTTP; absent in reports of 0.1.0. */
  readonly pages?: readonly { readonly url: string; readonly page?: string | undefined }[];
  readonly hosts: readonly HostUse[];
}
