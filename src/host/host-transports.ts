/** Opens the transports of a host's servers, and records which ones belong to its program. */

import { isInProcess, type ServerEntry, type ServerSpec } from '../config/entry.ts';
import type { TransportChoice } from '../connection/open.ts';
import { checkStillAdmitted } from '../policy/still-admitted.ts';
import type { Transport } from '../transport/contract.ts';
import { createTransport } from '../transport/create-transport.ts';
import type { PackageStarts } from '../transport/package-starts.ts';
import type { Reaper } from '../transport/reaper.ts';
import { confined } from '../transport/sandbox.ts';
import type { HostCore } from './host-core.ts';

export class HostTransports {
  readonly #core: HostCore;
  /** Whether the last transport of a server came from its entry or from `openTransport`. */
  readonly #openedBy = new Map<string, 'entry' | 'openTransport'>();
  #reaper: Promise<Reaper> | undefined;
  #packages: Promise<PackageStarts> | undefined;

  constructor(core: HostCore) {
    this.#core = core;
  }

  /** Opens the transport of a server's first process, or borrows that of another host. */
  async open(spec: ServerSpec, entry: ServerEntry, choice: TransportChoice): Promise<Transport> {
    await this.#checkAdmission(spec, entry);
    return this.#core.options.borrow?.(spec, entry) ?? this.openOwn(spec, entry, choice);
  }

  /** Opens a transport to a process of this host. */
  async openOwn(spec: ServerSpec, entry: ServerEntry, choice: TransportChoice): Promise<Transport> {
    const { options, env, home, clock, config, auth, inputs } = this.#core;
    await this.#checkAdmission(spec, entry);
    const provided = isFromCode(spec) ? options.openTransport?.(spec.name) : undefined;
    this.#openedBy.set(spec.name, provided === undefined ? 'entry' : 'openTransport');
    if (provided !== undefined) return provided;
    const shared = options.daemon ? await import('./daemon-servers.ts') : undefined;
    return (
      options.replaceTransport?.(spec.name) ??
      (await shared?.openShared(this.#core, spec)) ??
      createTransport({
        entry: confined(entry, options.sandbox),
        sse: choice === 'sse',
        env,
        secrets: inputs.secretsIn(entry),
        spec,
        home,
        clock,
        reaper: () => this.#startReaper(),
        packages: () => this.#startPackages(),
        settings: config.settings,
        network: () => auth.network(),
        credentials: () => auth.of(spec, entry),
      })
    );
  }

  /**
   * True for servers of this program, or of its tests: their lists are neither cached nor pinned. Before the first
   * connection of a server that `openTransport` may provide, its cached data is not read either.
   */
  keepsNothingOf(spec: ServerSpec): boolean {
    if (isInProcess(spec.entry)) return true;
    if (this.#core.options.openTransport === undefined || !isFromCode(spec)) return false;
    return this.#openedBy.get(spec.name) !== 'entry';
  }

  /** Ends checks of packages and the reaper process. The servers are closed before. */
  async close(): Promise<void> {
    const packages = await this.#packages?.catch(() => undefined);
    await packages?.close();
    const reaper = await this.#reaper?.catch(() => undefined);
    await reaper?.close();
  }

  /** Checks that the entry is still approved; if not, its name returns to the entry that it shadowed. */
  async #checkAdmission(spec: ServerSpec, entry: ServerEntry): Promise<void> {
    const core = this.#core;
    try {
      await checkStillAdmitted(core.inputs.filledIn(spec, entry), core);
    } catch (error) {
      if (core.config.shadowed.some(({ name }) => name === spec.name)) core.consentLost();
      throw error;
    }
  }

  #startPackages(): Promise<PackageStarts> {
    const { home, clock } = this.#core;
    this.#packages ??= import('../transport/package-starts.ts').then(
      (module) => new module.PackageStarts({ home, clock }),
    );
    return this.#packages;
  }

  /** Starts the one reaper process for all servers of this host, with the first of them. */
  #startReaper(): Promise<Reaper> {
    const { env } = this.#core;
    const onProblem = (message: string): void => this.#core.log(undefined, 'warning', message);
    this.#reaper ??= import('../transport/reaper.ts').then(({ createReaper }) =>
      createReaper({ env, onProblem }),
    );
    return this.#reaper;
  }
}

/** True for entries of `servers` and `add()`, which come from the program's author. */
export function isFromCode({ scope }: ServerSpec): boolean {
  return scope === 'code';
}
