/** `createHost` as programs call it: options are checked, and a server that fails does not fail in silence. */

import { createHost as create, type Host } from './host.ts';
import type { HostEvents, HostOptions } from './host-options.ts';
import { checkHostOptions } from './host-options-check.ts';
import type { ServerReport } from './host-report.ts';

/** States in which tools are missing that the person or the author wants. */
const MISSING: ReadonlySet<ServerReport['status']> = new Set(['failed', 'needs_auth']);

/**
 * Reads the configuration and begins to start the user's servers. Resolves when the configuration is read
 * and every tool known from the cache is there; `ready()` waits for the servers. Servers that fail are
 * reported once each, as a warning to `log`, or without it as one of the process (`process.on('warning')`, code `PLUGBOARD_SERVER`).
 *
 * @example
 * await using host = await createHost({ approve: () => 'allow' });
 * await host.ready();
 * const result = await host.call('mcp__files__read_file', { path: 'README.md' });
 */
export async function createHost(options: HostOptions = {}): Promise<Host> {
  checkHostOptions({ ...options });
  const host = await create(options);
  warnOfFailures(host, options.log ?? warnProcess);
  return host;
}

/** Node's warnings: on stderr, and off where the program has switched them off. */
function warnProcess({ message }: HostEvents['log']): void {
  process.emitWarning(message, { type: 'PlugboardWarning', code: 'PLUGBOARD_SERVER' });
}

/** Once for each server. */
function warnOfFailures(host: Host, warn: (event: HostEvents['log']) => void): void {
  // One that was there and crashed comes back by itself.
  const told = new Set<string>();
  const look = ({ name, status, error }: ServerReport): void => {
    if (status === 'connected') told.add(name);
    if (!MISSING.has(status) || told.has(name)) return;
    told.add(name);
    const hint = error?.hint === undefined ? '' : ` (${error.hint})`;
    const message = `${name} is not available: ${error?.message ?? status}${hint}`;
    warn({ server: name, level: 'warning', message });
  };
  host.on('server', look);
  for (const report of host.servers()) look(report);
}
