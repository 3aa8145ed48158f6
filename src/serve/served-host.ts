/** What serving needs of a host. A `Host` is one. */

import type { SessionOptions } from '../call/session.ts';
import type { Host } from '../host.ts';
import type { HostSession } from '../host-session.ts';

export type ServedSession = Pick<
  HostSession,
  'id' | 'tools' | 'allTools' | 'call' | 'read' | 'subscribe' | 'prompt' | 'complete' | 'end'
>;

export interface ServedHost
  extends Pick<
    Host,
    'ready' | 'instructions' | 'resources' | 'read' | 'prompts' | 'prompt' | 'servers' | 'on'
  > {
  /** Where sessions of HTTP clients are recorded; undefined: nowhere. */
  readonly home?: string | undefined;
  session(options?: SessionOptions): ServedSession;
}
