/** The part of a host that serving needs. A `Host` satisfies it. */

import type { SessionOptions } from '../call/session.ts';
import type { Host } from '../host/host.ts';
import type { HostSession } from '../host/host-session.ts';

export type ServedSession = Pick<
  HostSession,
  | 'id'
  | 'tools'
  | 'allTools'
  | 'find'
  | 'call'
  | 'approveOwn'
  | 'read'
  | 'subscribe'
  | 'prompt'
  | 'complete'
  | 'setLogLevel'
  | 'rootsChanged'
  | 'extensions'
  | 'mayHave'
  | 'request'
  | 'end'
>;

export interface ServedHost
  extends Pick<
    Host,
    | 'home'
    | 'instructions'
    | 'gatewayNaming'
    | 'firstLists'
    | 'read'
    | 'prompt'
    | 'servers'
    | 'hasRequired'
    | 'requiredReady'
    | 'on'
    | 'report'
  > {
  session(options?: SessionOptions): ServedSession;
}
