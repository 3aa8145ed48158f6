/** The part of a host that serving needs, which a `Host` satisfies, and the session options of such a host. */

import type { SessionOptions } from '../call/session.ts';
import type { FirstLists } from '../host/first-lists.ts';
import type { Host } from '../host/host.ts';
import type { HostOptions } from '../host/host-options.ts';
import type { HostSession } from '../host/host-session.ts';

/** The members of a session that a gateway needs. */
export type ServedSession = Pick<
  HostSession,
  | 'id'
  | 'tools'
  | 'allTools'
  | 'find'
  | 'call'
  | 'backgroundAfter'
  | 'hasBackground'
  | 'task'
  | 'tasks'
  | 'storedResult'
  | 'approveOwn'
  | 'read'
  | 'subscribe'
  | 'prompt'
  | 'complete'
  | 'setLogLevel'
  | 'rootsChanged'
  | 'extensions'
  | 'instructions'
  | 'mayHave'
  | 'request'
  | 'end'
>;

/** The lists that a gateway needs. */
export type ServedLists = Pick<
  FirstLists,
  'waitMs' | 'configuredWaitMs' | 'tools' | 'resources' | 'prompts' | 'arrival'
>;

/** The members of a host that a gateway needs. */
export interface ServedHost
  extends Pick<
    Host,
    'home' | 'gatewayNaming' | 'profiles' | 'servers' | 'hasRequired' | 'requiredReady' | 'on' | 'report'
  > {
  readonly firstLists: ServedLists;
  /** Opens a session for one client. */
  session(options?: SessionOptions): ServedSession;
}

/**
 * Session options of every host behind a gateway: servers are declared these capabilities once, when they connect, and
 * the client of each session answers.
 */
export const SERVED_SESSIONS: NonNullable<HostOptions['sessions']> = {
  elicit: () => ({ action: 'cancel' }),
  sample: () => undefined,
  sampling: { tools: true, context: true },
  roots: [],
};
