/** What a daemon tells about itself. */

export interface ServerUse {
  readonly name: string;
  readonly status: string;
  readonly pid?: number;
  /** Processes of this server: those that were started, for all and for one session each, and what they started. */
  readonly processes?: number;
  /** What they take, memory shared with other processes counted in parts; Linux only. */
  readonly bytes?: number;
}

/** The servers of one folder and environment, and how many sessions share them. */
export interface HostUse {
  readonly cwd: string;
  readonly sessions: number;
  readonly servers: readonly ServerUse[];
}

export interface DaemonReport {
  readonly pid: number;
  readonly version: string;
  readonly since: string;
  /** Whether it stays when its last session leaves. */
  readonly stays: boolean;
  readonly bytes?: number;
  readonly sessions: readonly { readonly kind: string; readonly cwd: string; readonly since: string }[];
  readonly hosts: readonly HostUse[];
}
