/** The secrets of all servers of a host: of running ones, with their tokens, and of the configuration. */

import type { ServerSpec } from '../config/entry.ts';
import { expandEntry } from '../config/expand.ts';
import { inputIds } from '../config/inputs.ts';
import type { LoadedConfig } from '../config/load.ts';
import { allSpecs } from '../config/merge-specs.ts';
import { attempt } from '../lib/attempt.ts';
import { Redactor } from '../lib/redact.ts';
import { secretValues } from '../policy/secret-values.ts';
import type { HostCore } from './host-core.ts';

export class HostSecrets {
  readonly #core: HostCore;
  /** Of the newest process or connection of each server; logins add their tokens. */
  readonly #running = new Map<string, Redactor>();
  #configured: { readonly config: LoadedConfig; readonly redactor: Redactor } | undefined;

  constructor(core: HostCore) {
    this.#core = core;
  }

  /** Adds the secrets of a server that is started. */
  add(server: string, redactor: Redactor): void {
    this.#running.set(server, redactor);
  }

  /** Removes every known secret from a text that may have been truncated. */
  readonly redact = (text: string): string => this.#each(text, (redactor, given) => redactor.redact(given));

  /** The same for a text that was not truncated. */
  readonly redactWhole = (text: string): string =>
    this.#each(text, (redactor, given) => redactor.redactWhole(given));

  #each(text: string, redact: (redactor: Redactor, text: string) => string): string {
    let out = redact(this.#ofConfig(), text);
    for (const redactor of this.#running.values()) if (!redactor.isEmpty) out = redact(redactor, out);
    return out;
  }

  /** Secrets of servers that do not run: a tool may read them from a file. */
  #ofConfig(): Redactor {
    const { config } = this.#core;
    if (this.#configured?.config !== config) {
      const redactor = new Redactor(allSpecs(config).flatMap((spec) => this.#valuesOf(spec)));
      this.#configured = { config, redactor };
      for (const spec of allSpecs(config))
        if (inputIds(spec).length > 0) void this.#addInputs(spec, redactor);
    }
    return this.#configured.redactor;
  }

  #valuesOf(spec: ServerSpec): readonly string[] {
    const { env } = this.#core;
    // A variable that is not set must not hide the literal secrets of the entry.
    const entry = attempt(() => expandEntry(spec, env), spec.entry);
    return secretValues(entry, env).filter((value) => !value.includes('${'));
  }

  /** Answers of a person are in the keyring. */
  async #addInputs(spec: ServerSpec, redactor: Redactor): Promise<void> {
    const { inputs } = this.#core;
    try {
      const entry = await inputs.expand(spec, { ask: false });
      for (const secret of inputs.secretsIn(entry)) redactor.add(secret);
    } catch {
      // Not answered yet, so there is no secret.
    }
  }
}
