/** The table of all routes of the management API. */

import type { Home } from '../config/home.ts';
import type { Host } from '../host/host.ts';
import type { HostSession } from '../host/host-session.ts';
import type { EventLog } from './event-log.ts';
import type { LogStreams } from './log-stream.ts';
import type { Route } from './route.ts';
import { accessRoutes } from './routes-access.ts';
import { callRoutes } from './routes-calls.ts';
import { clientRoutes } from './routes-clients.ts';
import { entryRoutes } from './routes-entries.ts';
import { inputRoutes } from './routes-inputs.ts';
import { inspectRoutes } from './routes-inspect.ts';
import { profileRoutes } from './routes-profiles.ts';
import { ruleRoutes } from './routes-rules.ts';
import { serverRoutes } from './routes-servers.ts';
import { setupRoutes } from './routes-setup.ts';
import { useRoutes } from './routes-use.ts';
import type { Traffic } from './traffic.ts';
import type { WaitingLogins } from './waiting-logins.ts';

/** The parts that handlers use; only they do, so that the table can be made without a host, for the docs. */
export interface RouteParts {
  readonly host: Host;
  readonly traffic: Traffic;
  /** The session of calls over the API: one for as long as the gateway runs. */
  readonly session: HostSession;
  readonly events: EventLog;
  readonly logins: WaitingLogins;
  readonly logStreams: LogStreams;
  /** Returns the port of the gateway; undefined before it listens. */
  readonly port: () => number | undefined;
  /** The home of the tokens of clients. */
  readonly home: Home;
}

export function allRoutes(parts: RouteParts): readonly Route[] {
  return [
    ...serverRoutes(parts),
    ...entryRoutes(parts),
    ...inspectRoutes(parts),
    ...clientRoutes(parts),
    ...useRoutes(parts),
    ...callRoutes(parts),
    ...ruleRoutes(parts),
    ...accessRoutes(parts),
    ...profileRoutes(parts),
    ...inputRoutes(parts),
    ...setupRoutes(parts),
  ];
}
