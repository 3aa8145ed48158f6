/** Starts a locked version of a server to read its definitions, and compares those of two versions. */

import type { StdioEntry } from '../../config/entry.ts';
import { noHome } from '../../config/home.ts';
import { loadConfig } from '../../config/load.ts';
import type { LockedServer } from '../../config/lock-file.ts';
import { LockStore } from '../../lock/lock-store.ts';
import { definitionDiff } from '../../policy/pins-review.ts';
import { programOf } from '../../transport/locked-start.ts';
import { planLaunch } from '../../transport/plan-launch.ts';
import type { Context } from '../cli-command.ts';
import { installationOf, type Lockable } from './lockable.ts';

/** The definitions of a server by name: tools, and its instructions. */
type Offered = ReadonlyMap<string, unknown>;

const INSTRUCTIONS = '(instructions)';

/** The difference of one tool, or of the instructions. */
export interface OfferChange {
  readonly tool: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly diff: string;
}

/**
 * Returns the definitions of a locked version. It is started with the settings of the entry, and apart from them: no
 * home, no pins, no daemon.
 *
 * @param isConfined run it in a sandbox without network, because it was not reviewed yet
 */
export async function offeredBy(
  context: Context,
  server: Lockable,
  lock: LockedServer,
  isConfined: boolean,
): Promise<Offered> {
  const { home, env, signal } = context;
  const { spec, entry, request } = server;
  const folder = await new LockStore(home).ready(installationOf(server, lock), {
    env: server.env,
    server: spec.name,
    signal,
  });
  const planned = await planLaunch({ spec, entry, env, home });
  const launch = programOf(folder, planned, request, { server: spec.name, lock });
  const { startupTimeoutMs } = entry;
  const started: StdioEntry = {
    command: launch.command,
    args: launch.args.map(literal),
    env: Object.fromEntries(Object.entries(launch.env).map(([name, value]) => [name, literal(value)])),
    cwd: literal(launch.cwd),
    ...(isConfined ? { sandbox: 'strict' } : entry.sandbox === undefined ? {} : { sandbox: entry.sandbox }),
    ...(startupTimeoutMs === undefined ? {} : { startupTimeoutMs }),
  };
  const { name } = spec;
  const read = await loadConfig({
    cwd: context.cwd,
    home: noHome(),
    files: false,
    code: { [name]: started },
  });
  // The rules of the machine were checked for the entry itself.
  const { closed: _, allowed: __, exclusive: ___, lockedOnly: ____, ...managed } = read.managed;
  const config = { ...read, managed: { ...managed, denied: [], servers: [] } };
  const { createHost } = await import('../../host/host.ts');
  const host = await createHost({
    cwd: context.cwd,
    home: false,
    config,
    watch: false,
    connect: 'none',
    env,
  });
  try {
    await host.connect(name);
    const tools = host
      .inspect(name)
      .map(
        ({ tool: { tool, title, description, inputSchema, outputSchema, annotations } }) =>
          [tool, { title, description, inputSchema, outputSchema, annotations }] as const,
      );
    const { instructions } = host.details(name);
    return new Map<string, unknown>([
      ...tools,
      ...(instructions === undefined ? [] : [[INSTRUCTIONS, { instructions }] as const]),
    ]);
  } finally {
    await host.close();
  }
}

/** Entries refer to variables; this text is used as it is. */
function literal(text: string): string {
  return text.replaceAll('${', '$${');
}

export function offerChanges(before: Offered, after: Offered): readonly OfferChange[] {
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names.flatMap((tool): OfferChange[] => {
    const change = !before.has(tool) ? 'added' : !after.has(tool) ? 'removed' : 'changed';
    const diff = definitionDiff(before.get(tool) ?? {}, after.get(tool) ?? {});
    return change === 'changed' && diff === '' ? [] : [{ tool, change, diff }];
  });
}
