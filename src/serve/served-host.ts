/** What serving needs of a host, and what it gives back. A `Host` is one. */

import type { SessionOptions } from '../call/session.ts';
import type { Host } from '../host.ts';
import type { HostSession } from '../host-session.ts';

export type ServedSession = Pick<HostSession, 'id' | 'tools' | 'call'>;

export interface ServedHost
  extends Pick<
    Host,
    | 'ready'
    | 'instructions'
    | 'resources'
    | 'read'
    | 'subscribe'
    | 'prompts'
    | 'prompt'
    | 'complete'
    | 'servers'
    | 'on'
  > {
  session(options?: SessionOptions): ServedSession;
}

/** Something that is being served; closing it leaves the host alone, which is its owner's. */
export interface Served {
  /** Lets running calls end within a limit, then ends them. May be called twice. */
  close(): Promise<void>;
  /** Resolves when serving has ended, by `close()` or because the client left. */
  readonly closed: Promise<void>;
}
