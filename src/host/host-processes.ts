/** The parts that all server processes of a host share: the reaper, and the starts of packages. */

import type { Home } from '../config/home.ts';
import type { Clock } from '../lib/clock.ts';
import type { PackageStarts } from '../transport/package-starts.ts';
import type { Reaper } from '../transport/reaper.ts';

export interface HostProcessesOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly home: Home;
  readonly clock: Clock;
}

export class HostProcesses {
  readonly #options: HostProcessesOptions;
  #reaper: Promise<Reaper> | undefined;
  #packages: Promise<PackageStarts> | undefined;
  #warn: ((message: string) => void) | undefined;
  /** Problems from before there was a listener. */
  readonly #problems: string[] = [];

  constructor(options: HostProcessesOptions) {
    this.#options = options;
  }

  /** Sets the listener for problems of the reaper, and reports those that have occurred. */
  onProblem(warn: (message: string) => void): void {
    this.#warn = warn;
    for (const message of this.#problems.splice(0)) warn(message);
  }

  /** Starts the one reaper process for all servers of this host, with the first of them. */
  reaper(): Promise<Reaper> {
    const { env } = this.#options;
    const onProblem = (message: string): void => {
      if (this.#warn === undefined) this.#problems.push(message);
      else this.#warn(message);
    };
    this.#reaper ??= import('../transport/reaper.ts').then(({ createReaper }) =>
      createReaper({ env, onProblem }),
    );
    return this.#reaper;
  }

  packages(): Promise<PackageStarts> {
    const { home, clock } = this.#options;
    this.#packages ??= import('../transport/package-starts.ts').then(
      (module) => new module.PackageStarts({ home, clock }),
    );
    return this.#packages;
  }

  /** Ends checks of packages and the reaper process. The servers are closed before. */
  async close(): Promise<void> {
    const packages = await this.#packages?.catch(() => undefined);
    await packages?.close();
    const reaper = await this.#reaper?.catch(() => undefined);
    await reaper?.close();
  }
}
