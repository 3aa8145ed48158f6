/** Expands a host's entries with variables and with a person's answers that are not stored in any file (CFG-9). */

import type { ServerEntry, ServerSpec } from '../config/entry.ts';
import { expandEntry } from '../config/expand.ts';
import { InputValues } from '../config/input-values.ts';
import { inputIds } from '../config/inputs.ts';
import { makeFolder } from '../lib/make-folder.ts';
import type { HostCore } from './host-core.ts';

/** Data of plugins is private to the user. */
const DATA_MODE = 0o700;

export class HostInputs {
  readonly #core: HostCore;
  readonly #values: InputValues;
  readonly #secrets = new WeakMap<ServerEntry, readonly string[]>();

  constructor(core: HostCore) {
    const { home, options, auth } = core;
    this.#core = core;
    this.#values = new InputValues({ home, ask: options.input, secrets: () => auth.secrets() });
  }

  /** Expands an entry; synchronous for entries without questions, which most servers are. */
  expand(spec: ServerSpec, { ask }: { readonly ask: boolean }): ServerEntry | Promise<ServerEntry> {
    return inputIds(spec).length === 0 ? expandEntry(spec, this.#core.env) : this.#answered(spec, ask);
  }

  /**
   * Expands the entry of a server that is about to start: asks for missing values and creates a plugin's data folder.
   */
  async expandForStart(spec: ServerSpec): Promise<ServerEntry> {
    const data = spec.variables?.['PLUGIN_DATA'];
    // If the home is not writable, the server reports it, if it needs the folder at all.
    if (data !== undefined) await makeFolder(data, DATA_MODE).catch(() => {});
    return this.expand(spec, { ask: true });
  }

  /** The stored answers. */
  get values(): InputValues {
    return this.#values;
  }

  /** Returns the answers used in an expanded entry, whatever they look like, so that they are never shown. */
  secretsIn(entry: ServerEntry): readonly string[] {
    return this.#secrets.get(entry) ?? [];
  }

  /**
   * Returns the spec as it would run: a managed rule must not be bypassed by writing an argument as a question (A22).
   */
  filledIn(spec: ServerSpec, entry: ServerEntry): ServerSpec {
    return this.#secrets.has(entry) ? { ...spec, entry } : spec;
  }

  async #answered(spec: ServerSpec, ask: boolean): Promise<ServerEntry> {
    const { values, secrets } = await this.#values.of(spec, this.#core.config.inputs, { ask });
    const entry = expandEntry(spec, this.#core.env, values);
    this.#secrets.set(entry, secrets);
    return entry;
  }
}
