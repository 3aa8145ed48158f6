/** Runs commands that show lists: from the cache, or with `--refresh` from every server (CON-16). */

import type { Command } from 'commander';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { groupBy } from '../lib/group-by.ts';
import { sentences } from '../lib/sentences.ts';
import { oneLine } from '../policy/clean.ts';
import type { Context, Flags } from './cli-command.ts';
import type { Output } from './output.ts';
import { whileConnecting } from './progress-line.ts';
import { indent } from './text-layout.ts';
import { type CommandHost, type Need, noteMissing, openHost, warn } from './with-host.ts';

/** Maximum number of server names in one note. */
const MAX_NAMED = 10;

export interface Wanted {
  /** The requested servers, whose failure fails the command; undefined: all servers. */
  readonly servers: readonly string[] | undefined;
  readonly refresh: boolean;
  /** More that the command needs from its host. */
  readonly need?: Omit<Need, 'servers' | 'connect'>;
}

/** A server that is missing from a list, as `--json` prints it. */
interface UnreachedServer {
  readonly server: string;
  readonly code: string;
  readonly message: string;
}

export function addRefreshFlag(command: Command): Command {
  return command.option('--refresh', 'query every server instead of using the cache');
}

export function wantedLists([server]: readonly string[], flags: Flags): Wanted {
  return { servers: server === undefined ? undefined : [server], refresh: flags['refresh'] === true };
}

/**
 * `now`: failed in this command. `late`: no answer yet. `before`: failed in an earlier command, which gave the reason.
 */
type When = 'now' | 'late' | 'before';

/** Prints on stderr which servers are missing, and returns them for `--json`; {} if there are none. */
type NoteUnreached = (missing: readonly PlugboardError[]) => {
  readonly unreached?: readonly UnreachedServer[];
};

/** Runs `work` when the tools of every server are known, or the wait for them is over. */
export function withLists(
  context: Context,
  { servers, refresh, need }: Wanted,
  work: (host: CommandHost, noteUnreached: NoteUnreached) => Promise<number>,
): Promise<number> {
  return openHost(
    context,
    { ...need, servers: servers ?? 'all', connect: refresh ? 'all' : 'unknown' },
    async ({ host }) => {
      const names = host.servers().map(({ name }) => name);
      const failedBefore = new Set(names.filter((name) => host.firstLists.failedLastTime(name)));
      const shown = refresh ? host : startedOf(host);
      await whileConnecting(context.output, shown, async () => {
        if (servers === undefined) await bringAll(host, refresh, failedBefore);
        else await Promise.all(servers.map((server) => bringOne(host, server, refresh)));
      });
      if (servers === undefined) noteMissing(context, host, isKeptAway);
      const whenFailed = (name: string): When => {
        if (!refresh && failedBefore.has(name)) return 'before';
        return failedServers(host).some((error) => error.server === name) ? 'now' : 'late';
      };
      return work(host, (missing) => noteUnreached(context, host, missing, whenFailed));
    },
  );
}

async function bringOne(host: CommandHost, server: string, refresh: boolean): Promise<void> {
  if (refresh) await host.refresh(server);
  else if (!isKnown(host, server)) await host.connect(server);
}

async function bringAll(
  host: CommandHost,
  refresh: boolean,
  failedBefore: ReadonlySet<string>,
): Promise<void> {
  if (!refresh) await bringKnown(host, failedBefore);
  else await Promise.all(host.servers().map(({ name }) => host.refresh(name).catch(() => {})));
  await host.requiredReady('all');
}

/** Waits up to the limit for lists; if no tool is known by then, until one server connects or all have failed. */
async function bringKnown(host: CommandHost, failedBefore: ReadonlySet<string>): Promise<void> {
  const { firstLists } = host;
  await firstLists.tools(() => firstLists.waitMs);
  const starting = firstLists
    .unreached()
    .flatMap(({ server }) => (server === undefined || failedBefore.has(server) ? [] : [server]));
  if (host.tools().length > 0 || starting.length === 0) return;
  const connecting = starting.map((server) => host.connect(server));
  await Promise.any(connecting).catch(() => {});
}

/** Returns the servers a command refers to; a shared host may have more. */
export function serversOf(host: CommandHost, { servers }: Wanted): readonly string[] {
  return servers ?? host.servers().map(({ name }) => name);
}

/** Returns the servers missing from a list of tools. */
export function missingTools(host: CommandHost, { servers, refresh }: Wanted): readonly PlugboardError[] {
  if (servers !== undefined) return [];
  return refresh ? failedServers(host) : host.firstLists.unreached();
}

/** Returns the servers that failed now, even if their tools are cached. */
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
  whenFailed: (server: string) => When,
): ReturnType<NoteUnreached> {
  const configured = new Set(host.servers().map(({ name }) => name));
  const unreached = missing.flatMap(({ server, code, message, hint }) =>
    server !== undefined && configured.has(server) ? [{ server, code, message, hint }] : [],
  );
  const before: string[] = [];
  for (const { server, message, hint } of unreached) {
    const when = whenFailed(server);
    const again = when === 'late' ? 'Use --refresh to query it again.' : undefined;
    if (when === 'before') before.push(server);
    else warn(output, `skipped ${server}: ${sentences(sentences(message, hint), again)}`);
  }
  if (before.length > 0) warn(output, skippedLine(before));
  return unreached.length === 0 ? {} : { unreached: unreached.map(({ hint: _, ...rest }) => rest) };
}

/**
 * One line for the servers that failed in an earlier command, which gave the reasons.
 *
 * @example
 * skippedLine(['hang', 'dead']); // 'skipped 2 servers that failed last time (hang, dead); run plugboard list to …'
 */
export function skippedLine(names: readonly string[]): string {
  const [only, second] = names;
  const shown = names.slice(0, MAX_NAMED).join(', ') + (names.length > MAX_NAMED ? ', …' : '');
  const what =
    second === undefined
      ? `skipped ${only}, which failed last time`
      : `skipped ${names.length} servers that failed last time (${shown})`;
  return `${what}; run plugboard list to see why, or use --refresh to query again.`;
}

/** True if the server's tools are known: it may be contacted, and is neither pending nor failed. */
function isKnown(host: CommandHost, server: string): boolean {
  const report = host.servers().find(({ name }) => name === server);
  const canBeAsked = report !== undefined && !isKeptAway(report) && report.status !== 'disabled';
  return canBeAsked && !host.firstLists.unreached().some((error) => error.server === server);
}

/** True if approval or policy prevents contacting the server. */
function isKeptAway({ status }: { readonly status: string }): boolean {
  return status === 'untrusted' || status === 'blocked';
}

/** Excludes idle servers, which are not waited for. */
function startedOf(host: CommandHost): Pick<CommandHost, 'servers'> {
  return { servers: () => host.servers().filter(({ status }) => status !== 'idle') };
}

/** Queries one server, where a failure fails the command, or all servers, where a failure is only noted. */
export async function askServers<T>(
  { output }: Context,
  host: CommandHost,
  server: string | undefined,
  ask: (name: string) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  if (server !== undefined) return ask(server);
  const names = host
    .servers()
    // Idle servers are connected now; failed ones were already reported.
    .filter(({ status }) => status === 'connected' || status === 'idle')
    .map(({ name }) => name)
    .sort((a, b) => (a < b ? -1 : 1));
  const answers = await Promise.all(
    names.map(async (name) => {
      try {
        return await ask(name);
      } catch (thrown) {
        const { message, hint } = asPlugboardError(thrown);
        const text = oneLine(`without ${name}: ${sentences(message, hint)}`);
        output.remark(text);
        return [];
      }
    }),
  );
  return answers.flat();
}

/** Describes every item below the name of its server. */
export function describeByServer<T extends { readonly server: string }>(
  items: readonly T[],
  describe: (item: T) => string,
  { paint }: Output,
): string {
  return [...groupBy(items, ({ server }) => server)]
    .map(([server, group]) => {
      const head = `${paint.strong(oneLine(server))} (${group.length})`;
      return [head, ...group.map((item) => indent(describe(item), '  '))].join('\n');
    })
    .join('\n\n');
}
