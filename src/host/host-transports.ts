/** Opens the transports of a host's servers, and records which ones belong to its program. */

import { isInProcess, type ServerEntry, type ServerSpec } from '../config/entry.ts';
import type { TransportChoice } from '../connection/open.ts';
import { checkStillAdmitted } from '../policy/still-admitted.ts';
import type { Transport } from '../transport/contract.ts';
import { createTransport } from '../transport/create-transport.ts';
import { confined } from '../transport/sandbox.ts';
import type { HostCore } from './host-core.ts';
import { HostProcesses } from './host-processes.ts';

export class HostTransports {
  readonly #core: HostCore;
  /** Whether the last transport of a server came from its entry or from `openTransport`. */
  readonly #openedBy = new Map<string, 'entry' | 'openTransport'>();
  readonly #processes: HostProcesses;

  constructor(core: HostCore) {
    this.#core = core;
    this.#processes = core.options.headStart?.processes ?? new HostProcesses(core);
    this.#processes.onProblem((message) => core.log(undefined, 'warning', message));
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
      (choice === 'configured' ? options.headStart?.take(spec, entry) : undefined) ??
      createTransport({
        entry: confined(entry, options.sandbox),
        sse: choice === 'sse',
        env,
        secrets: inputs.secretsIn(entry),
        knows: (redactor) => this.#core.secrets.add(spec.name, redactor),
        spec,
        home,
        clock,
        reaper: () => this.#processes.reaper(),
        packages: () => this.#processes.packages(),
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

  /** Ends processes that were started and not used, and the parts that they share. The servers are closed before. */
  async close(): Promise<void> {
    await this.#core.options.headStart?.close();
    await this.#processes.close();
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
}

/** True for entries of `servers` and `add()`, which come from the program's author. */
export function isFromCode({ scope }: ServerSpec): boolean {
  return scope === 'code';
}
