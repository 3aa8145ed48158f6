/** Replaces modules that start processes, open sockets or read the audit log, and packages that only they use. */

import { absent } from './absent.ts';

const use: () => never = absent('A process or a socket');
const programs: () => never = absent('Code mode');
const report: () => never = absent('A report of costs');

export {
  programs as Programs,
  report as hostCost,
  use as confine,
  use as createReaper,
  use as createStdioTransport,
  use as helperPlace,
  use as openRoute,
  use as openShared,
  use as openTunnel,
  use as Pool,
  use as planLaunch,
  use as proxyDenied,
};
