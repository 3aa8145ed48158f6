/** `createHost` as programs call it: validates options and reports servers that fail. */

import { existsSync } from 'node:fs';
import { CODE } from '../config/load.ts';
import { sentences } from '../lib/sentences.ts';
import { createHost as create, type Host } from './host.ts';
import type { HostEvents, HostOptions } from './host-options.ts';
import { checkHostOptions } from './host-options-check.ts';
import type { ServerReport } from './host-report.ts';

/** States in which tools that the person or the author configured are missing. */
const MISSING: ReadonlySet<ServerReport['status']> = new Set(['failed', 'needs_auth']);

/**
 * Reads the configuration and begins to start the user's servers. Resolves when the configuration is read and every
 * tool known from the cache is available; `ready()` waits for the servers. Servers that fail are reported once each, as
 * a warning to `log`, or without it as a process warning (`process.on('warning')`, code `PLUGBOARD_SERVER`).
 *
 * @param options - Servers in code, questions to the person, limits; everything is optional.
 * @returns The host; close it with `close()` or `await using`.
 * @throws PlugboardError `CONFIG_INVALID` for an invalid option or configuration in code.
 * @example
 * await using host = await createHost({ approve: () => 'allow' });
 * await host.ready();
 * const result = await host.call('mcp__files__read_file', { path: 'README.md' });
 */
export async function createHost(options: HostOptions = {}): Promise<Host> {
  const unknown = checkHostOptions(options);
  const host = await create(options);
  warnOfFailures(host, options.log ?? warnProcess);
  for (const { server, message } of optionWarnings(host, options, unknown)) {
    if (options.log === undefined)
      process.emitWarning(server === undefined ? message : `${server}: ${message}`, OPTION_WARNING);
    else options.log({ ...(server === undefined ? {} : { server }), level: 'warning', message });
  }
  return host;
}

const OPTION_WARNING = { type: 'PlugboardWarning', code: 'PLUGBOARD_OPTION' };

/** Returns warnings about options that have no effect or are probably mistakes, but do not stop the host. */
function optionWarnings(
  host: Host,
  { only = [], cwd }: HostOptions,
  unknown: readonly string[],
): { readonly server?: string | undefined; readonly message: string }[] {
  const known = new Set(host.servers().map(({ name }) => name));
  return [
    ...unknown.map((name) => ({ message: `createHost: "${name}" is not an option and has no effect` })),
    ...only
      .filter((name) => !known.has(name))
      .map((name) => ({ message: `createHost: no server is called ${JSON.stringify(name)} ("only")` })),
    ...(cwd === undefined || existsSync(cwd)
      ? []
      : [{ message: `createHost: the folder ${JSON.stringify(cwd)} ("cwd") does not exist` }]),
    ...host
      .problems()
      .filter(({ file }) => file === CODE)
      .map(({ server, message, hint }) => ({
        server,
        message: sentences(message, hint),
      })),
  ];
}

/** Emits a Node warning: on stderr, unless the program has disabled warnings. */
function warnProcess({ message }: HostEvents['log']): void {
  process.emitWarning(message, { type: 'PlugboardWarning', code: 'PLUGBOARD_SERVER' });
}

/** Warns about failures, once for each server. */
function warnOfFailures(host: Host, warn: (event: HostEvents['log']) => void): void {
  // A server that was connected and crashed is restarted automatically, so it is not reported.
  const reported = new Set<string>();
  const look = ({ name, status, error }: ServerReport): void => {
    if (status === 'connected') reported.add(name);
    if (!MISSING.has(status) || reported.has(name)) return;
    reported.add(name);
    const message = `${name} is not available: ${sentences(error?.message ?? status, error?.hint)}`;
    warn({ server: name, level: 'warning', message });
  };
  host.on('server', look);
  for (const report of host.servers()) look(report);
}
