/** A real host with several scripted servers and a configuration with profiles, in a home of its own. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeAt } from '../../src/config/home.ts';
import { createHost, type Host } from '../../src/host/host.ts';
import type { HostOptions } from '../../src/host/host-options.ts';
import { SERVED_SESSIONS } from '../../src/serve/served-host.ts';
import { type ScriptedServer, type ScriptedServerOptions, scriptedServer } from '../../src/testing/index.ts';

export interface ProfiledWorld {
  readonly host: Host;
  readonly home: ReturnType<typeof homeAt>;
  readonly servers: Readonly<Record<string, ScriptedServer>>;
  /** Replaces the configuration, and waits until the host uses it. */
  configure(config: object): Promise<void>;
  close(): Promise<void>;
}

export async function profiledWorld(
  scripts: Readonly<Record<string, ScriptedServerOptions>>,
  config: object,
  options: Partial<HostOptions> = {},
): Promise<ProfiledWorld> {
  const home = homeAt(mkdtempSync(join(tmpdir(), 'plugboard-profiles-')));
  const write = (value: object): void => writeFileSync(home.config, JSON.stringify(value, null, 2));
  write(config);
  const servers = Object.fromEntries(
    Object.entries(scripts).map(([name, script]) => [name, scriptedServer(script)]),
  );
  const host = await createHost({
    home: home.dir,
    cwd: home.dir,
    env: {},
    watch: false,
    servers: Object.fromEntries(
      Object.keys(scripts).map((name) => [name, { command: 'scripted', lifecycle: 'eager' }]),
    ),
    replaceTransport: (name) => servers[name]?.transport(),
    sessions: SERVED_SESSIONS,
    ...options,
  });
  await host.ready();
  return {
    host,
    home,
    servers,
    async configure(value) {
      write(value);
      await host.reload();
    },
    async close() {
      await host.close();
      rmSync(home.dir, { recursive: true, force: true });
    },
  };
}
