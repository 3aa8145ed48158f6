/** Commands that show lists: from the cache at once, with `--refresh` from every server (CON-16). */

import type { Command } from 'commander';
import { PlugboardError } from '../errors.ts';
import { clean } from '../policy/clean.ts';
import type { Context, Flags } from './verb.ts';
import { whileConnecting } from './waiting-line.ts';
import { type CommandHost, noteMissing, openHost } from './with-host.ts';

export interface Wanted {
  /** The servers that are meant, whose failure is the command's; undefined: all of them. */
  readonly servers: readonly string[] | undefined;
  readonly refresh: boolean;
}

/** A server that is missing from a list, as `--json` prints it. */
interface UnreachedServer {
  readonly server: string;
  readonly code: string;
  readonly message: string;
}

export function addRefreshFlag(command: Command): Command {
  return command.option('--refresh', 'connect to every server and ask it, instead of using the cache');
}

export function wantedLists([server]: readonly string[], flags: Flags): Wanted {
  return { servers: server === undefined ? undefined : [server], refresh: flags['refresh'] === true };
}

/** Notes on stderr which servers are missing, and returns them for `--json`; {} when there are none. */
type NoteUnreached = (missing: readonly PlugboardError[]) => {
  readonly unreached?: readonly UnreachedServer[];
};

/** Runs `work` when the tools of every server are known, or the wait for them is over. */
export function withLists(
  context: Context,
  { servers, refresh }: Wanted,
  work: (host: CommandHost, noteUnreached: NoteUnreached) => Promise<number>,
): Promise<number> {
  return openHost(
    context,
    { servers: servers ?? 'all', connect: refresh ? 'all' : 'unknown' },
    async ({ host }) => {
      const failedBefore = new Set(failedServers(host).map((error) => error.server));
      const shown = refresh ? host : startedOf(host);
      await whileConnecting(context.output, shown, async () => {
        if (servers === undefined) await bringAll(host, refresh);
        else await Promise.all(servers.map((server) => bringOne(host, server, refresh)));
      });
      if (servers === undefined) noteMissing(context, host, isKeptAway);
      const isFailedNow = (name: string): boolean =>
        (refresh || !failedBefore.has(name)) && failedServers(host).some((error) => error.server === name);
      return work(host, (missing) => noteUnreached(context, host, missing, isFailedNow));
    },
  );
}

async function bringOne(host: CommandHost, server: string, refresh: boolean): Promise<void> {
  if (refresh) await host.refresh(server);
  else if (!isKnown(host, server)) await host.connect(server);
}

async function bringAll(host: CommandHost, refresh: boolean): Promise<void> {
  if (!refresh) await host.firstLists.tools(() => host.firstLists.waitMs);
  else await Promise.all(host.servers().map(({ name }) => host.refresh(name).catch(() => {})));
  await host.requiredReady('all');
}

/** The servers that a command is about: a host that others share may have more. */
export function serversOf(host: CommandHost, { servers }: Wanted): readonly string[] {
  return servers ?? host.servers().map(({ name }) => name);
}

/** Which servers are missing from a list of tools. */
export function missingTools(host: CommandHost, { servers, refresh }: Wanted): readonly PlugboardError[] {
  if (servers !== undefined) return [];
  return refresh ? failedServers(host) : host.firstLists.unreached();
}

/** Servers that did not come up now, whatever is known of them. */
export function failedServers(host: CommandHost): readonly PlugboardError[] {
  return host.servers().flatMap((report) => {
    const { name: server, error } = report;
    if (error === undefined || isKeptAway(report)) return [];
    return [new PlugboardError(error.code, error.message, { server, hint: error.hint })];
  });
}

function noteUnreached(
  { output }: Context,
  host: CommandHost,
  missing: readonly PlugboardError[],
  isFailedNow: (server: string) => boolean,
): ReturnType<NoteUnreached> {
  const configured = new Set(host.servers().map(({ name }) => name));
  const unreached = missing.flatMap(({ server, code, message, hint }) =>
    server !== undefined && configured.has(server) ? [{ server, code, message, hint }] : [],
  );
  for (const { server, message, hint = '' } of unreached) {
    const why = `skipped ${server}: ${message.replace(/\.$/, '')}. ${hint}`.trimEnd();
    const text = isFailedNow(server) ? why : `${why} Use --refresh to ask it again.`;
    output.note(`${output.notePaint.warn('warning:')} ${clean(text, { multiline: false })}`);
  }
  return unreached.length === 0 ? {} : { unreached: unreached.map(({ hint: _, ...rest }) => rest) };
}

/** A server whose tools are unknown has none, and waits to be connected or has failed. */
function isKnown(host: CommandHost, server: string): boolean {
  const report = host.servers().find(({ name }) => name === server);
  const canBeAsked = report !== undefined && !isKeptAway(report) && report.status !== 'disabled';
  return canBeAsked && !host.firstLists.unreached().some((error) => error.server === server);
}

/** What a person or a policy keeps from being asked. */
function isKeptAway({ status }: { readonly status: string }): boolean {
  return status === 'untrusted' || status === 'blocked';
}

/** Servers at rest are not waited for. */
function startedOf(host: CommandHost): Pick<CommandHost, 'servers'> {
  return { servers: () => host.servers().filter(({ status }) => status !== 'idle') };
}
