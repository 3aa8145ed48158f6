/** Opens a host for a long-running command, with the library's defaults instead of those of one-shot commands. */

import type { LoadedConfig } from '../config/load.ts';
import type { Host } from '../host/host.ts';
import type { HostOptions } from '../host/host-options.ts';
import { oneLine } from '../policy/clean.ts';
import { loadEffective } from '../policy/effective.ts';
import { servedWorkspace, workspaceList } from '../workspace/workspace-entry.ts';
import type { Context } from './cli-command.ts';

export interface OwnHostOptions
  extends Pick<
    HostOptions,
    'approve' | 'elicit' | 'sample' | 'roots' | 'sessions' | 'model' | 'sharedCounters' | 'credentials'
  > {
  /** Whether the built-in server for files, search and git is used; undefined: only if config.json enables it. */
  readonly workspace: boolean | undefined;
}

export async function withOwnHost(
  context: Context,
  { workspace, ...options }: OwnHostOptions,
  work: (host: Host, options: HostOptions) => Promise<number>,
): Promise<number> {
  const { cwd, home, extra, env, signal } = context;
  const config = await settleInputsFirst(context);
  const builtIn = servedWorkspace(workspace);
  const hasBuiltIn = config !== undefined && Object.keys(builtIn?.(config.settings) ?? {}).length > 0;
  const { createHost } = await import('../host/host.ts');
  signal.throwIfAborted();
  const made: HostOptions = {
    cwd,
    home: home.dir,
    servers: extra,
    builtIn,
    builtInList: workspaceList,
    env,
    ...options,
  };
  // `config` was loaded without the built-in server, so it is not reused if there is one.
  const host = await createHost({ ...made, config: hasBuiltIn ? undefined : config });
  const stopLog = context.verbose
    ? host.on('log', ({ server, level, message }) =>
        context.output.note(oneLine(`${level}${server === undefined ? '' : ` ${server}`}: ${message}`)),
      )
    : undefined;
  try {
    return await work(host, made);
  } finally {
    await host.close();
    stopLog?.();
  }
}

/** Asks for missing `${input:…}` values while a person is at the terminal; returns the configuration if loaded. */
export async function settleInputsFirst(context: Context): Promise<LoadedConfig | undefined> {
  if (!context.output.canAsk) return undefined;
  const { settleInputs } = await import('./settle-inputs.ts');
  const config = await loadEffective(context);
  await settleInputs(context, config, config.servers);
  return config;
}
