/** What serving needs of a host. A `Host` is one. */

import type { SessionOptions } from '../call/session.ts';
import type { Host } from '../host.ts';
import type { HostSession } from '../host-session.ts';

export type ServedSession = Pick<
  HostSession,
  'id' | 'tools' | 'allTools' | 'call' | 'read' | 'prompt' | 'end'
>;

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
