/** A real host in front of a scripted server, in a home of its own: what the gateway's tests serve. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHost, type Host } from '../../src/host/host.ts';
import type { HostOptions } from '../../src/host/host-options.ts';
import { type ScriptedServer, type ScriptedServerOptions, scriptedServer } from '../../src/testing/index.ts';

export interface SmallHost {
  readonly host: Host;
  readonly server: ScriptedServer;
  close(): Promise<void>;
}

/** What every surface with sessions declares to servers: that a person may be asked. */
const sessions: HostOptions['sessions'] = {
  elicit: () => ({ action: 'decline' }),
  sample: () => undefined,
  roots: [],
};

export async function smallHost(
  script: ScriptedServerOptions,
  options: Partial<HostOptions> = {},
): Promise<SmallHost> {
  const home = await mkdtemp(join(tmpdir(), 'plugboard-serve-'));
  const server = scriptedServer(script);
  const host = await createHost({
    home,
    cwd: home,
    env: {},
    watch: false,
    servers: { small: { command: 'scripted', lifecycle: 'eager' } },
    replaceTransport: () => server.transport(),
    sessions,
    ...options,
  });
  await host.ready();
  return {
    host,
    server,
    async close() {
      await host.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
