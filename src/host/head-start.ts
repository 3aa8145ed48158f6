/**
 * Starts the processes of a command's servers before the code of the host is loaded, so that both start at the same
 * time. The host checks each server again before it uses the process, and closes processes that it does not use.
 */

import { isDeepStrictEqual } from 'node:util';
import { isStdio, type ServerEntry, type ServerSpec } from '../config/entry.ts';
import { expandEntry } from '../config/expand.ts';
import type { Home } from '../config/home.ts';
import { inputIds } from '../config/inputs.ts';
import type { LoadedConfig } from '../config/load.ts';
import { attempt } from '../lib/attempt.ts';
import { systemClock } from '../lib/clock.ts';
import { admit } from '../policy/admit.ts';
import { needsConsent } from '../policy/needs-consent.ts';
import type { Transport } from '../transport/contract.ts';
import { createTransport } from '../transport/create-transport.ts';
import { sandboxOf } from '../transport/sandbox.ts';
import { HostProcesses } from './host-processes.ts';

export interface HeadStartOptions {
  readonly config: LoadedConfig;
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  /** The servers to start; default: all. */
  readonly only?: readonly string[] | undefined;
}

interface Started {
  readonly spec: ServerSpec;
  readonly entry: ServerEntry;
  readonly transport: Transport;
}

export class HeadStart {
  /** Shared with the host. */
  readonly processes: HostProcesses;
  readonly #options: HeadStartOptions;
  readonly #started = new Map<string, Started>();

  private constructor(options: HeadStartOptions) {
    this.#options = options;
    const { env, home } = options;
    this.processes = new HostProcesses({ env, home, clock: systemClock });
  }

  /** Resolves when the processes have been created. */
  static async begin(options: HeadStartOptions): Promise<HeadStart> {
    const made = new HeadStart(options);
    const { config, only } = options;
    const wanted = config.servers.filter(({ name }) => only?.includes(name) ?? true);
    // A failure is found again by the host, which reports it.
    await Promise.all(wanted.map((spec) => made.#start(spec).catch(() => undefined)));
    return made;
  }

  /** Returns the transport of a server that was started with this very entry, once. */
  take(spec: ServerSpec, entry: ServerEntry): Transport | undefined {
    const started = this.#started.get(spec.name);
    if (started === undefined) return undefined;
    if (!isDeepStrictEqual([started.spec, started.entry], [spec, entry])) return undefined;
    this.#started.delete(spec.name);
    const { transport } = started;
    if (isRunning(transport)) return transport;
    // The host starts it again, and reports what it says.
    void transport.close();
    return undefined;
  }

  /** Ends the processes that were not taken. May be called twice. */
  async close(): Promise<void> {
    const unused = [...this.#started.values()];
    this.#started.clear();
    await Promise.all(unused.map(({ transport }) => transport.close()));
  }

  async #start(spec: ServerSpec): Promise<void> {
    const { config, env, home } = this.#options;
    if (!this.#isSimple(spec)) return;
    const entry = expandEntry(spec, env);
    const transport = await createTransport({
      entry,
      sse: false,
      env,
      spec,
      home,
      clock: systemClock,
      reaper: () => this.processes.reaper(),
      packages: () => this.processes.packages(),
      settings: config.settings,
      network: neverUsed,
      credentials: neverUsed,
    });
    await transport.start?.();
    this.#started.set(spec.name, { spec, entry, transport });
  }

  /** True for a process that the person configured and that needs neither an approval, an answer nor a sandbox. */
  #isSimple(spec: ServerSpec): boolean {
    const { managed } = this.#options.config;
    return (
      isStdio(spec.entry) &&
      sandboxOf(spec.entry.sandbox) === undefined &&
      !needsConsent(spec) &&
      inputIds(spec).length === 0 &&
      admit(spec, undefined, { managed, env: this.#options.env }).status === 'idle'
    );
  }
}

function neverUsed(): Promise<never> {
  return Promise.reject(new Error('A process has neither a network nor credentials'));
}

function isRunning({ pid }: Transport): boolean {
  return pid === undefined || attempt(() => process.kill(pid, 0), false);
}
