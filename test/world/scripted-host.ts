/** A host over one scripted server in memory, and all of its events, for the tests of calls. */

import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHost, type Host, type HostEvents, type HostOptions } from '../../src/index.ts';
import { type FakeClock, fakeClock, type ScriptedServer, scriptedServer } from '../../src/testing/index.ts';

export interface ScriptedHost {
  readonly host: Host;
  readonly server: ScriptedServer;
  readonly clock: FakeClock;
  readonly home: string;
  /** Every event of a name so far. */
  events<Name extends keyof HostEvents>(name: Name): readonly HostEvents[Name][];
  audit(): Promise<Record<string, unknown>[]>;
}

export interface ScriptedHostOptions extends Partial<HostOptions> {
  readonly server?: ScriptedServer;
  /** The entry of the server `s`, in addition to its command. */
  readonly entry?: Record<string, unknown>;
  readonly dir?: string;
}

const WATCHED: readonly (keyof HostEvents)[] = [
  'call.begin',
  'call.progress',
  'call.end',
  'question',
  'answer',
  'log',
];

export function scratch(): string {
  return mkdtempSync(join(tmpdir(), 'plugboard-call-'));
}

export async function scriptedHost(options: ScriptedHostOptions = {}): Promise<ScriptedHost> {
  const {
    server = scriptedServer({ tools: { echo: (args) => JSON.stringify(args) } }),
    entry,
    dir,
    ...more
  } = options;
  const folder = dir ?? scratch();
  const home = join(folder, 'home');
  const clock = fakeClock();
  const host = await createHost({
    home,
    cwd: folder,
    env: {},
    watch: false,
    clock,
    servers: { s: { command: 'scripted', ...entry } },
    approve: () => 'allow',
    replaceTransport: () => server.transport(),
    ...more,
  });
  const events = new Map<keyof HostEvents, unknown[]>();
  for (const name of WATCHED) {
    const list: unknown[] = [];
    events.set(name, list);
    host.on(name, (event) => list.push(event));
  }
  await host.ready();
  return {
    host,
    server,
    clock,
    home,
    events: <Name extends keyof HostEvents>(name: Name) => (events.get(name) ?? []) as HostEvents[Name][],
    async audit() {
      await host.close();
      const text = readFileSync(join(home, 'audit.jsonl'), 'utf8');
      return text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    },
  };
}
