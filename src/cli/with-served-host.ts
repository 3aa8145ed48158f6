/** A host for as long as it is served: as the library has it, not as people's commands use it. */

import type { Host } from '../host.ts';
import { SERVED_SESSIONS } from '../serve/served-sessions.ts';
import { workspaceEntries } from '../workspace/entry.ts';
import type { Context } from './verb.ts';

export async function withServedHost(
  context: Context,
  { workspace }: { readonly workspace: boolean },
  work: (host: Host) => Promise<number>,
): Promise<number> {
  const { cwd, home, extra, env, signal } = context;
  const { createHost } = await import('../host.ts');
  signal.throwIfAborted();
  const host = await createHost({
    cwd,
    home: home.dir,
    servers: extra,
    builtIn: workspace ? workspaceEntries : undefined,
    env,
    sessions: SERVED_SESSIONS,
  });
  const stopLog = context.verbose
    ? host.on('log', ({ server, level, message }) =>
        context.output.note(`${level} ${server ?? ''}: ${message}`),
      )
    : undefined;
  try {
    return await work(host);
  } finally {
    await host.close();
    stopLog?.();
  }
}
