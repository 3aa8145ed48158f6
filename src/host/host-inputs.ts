/** Expands a host's entries with variables and with a person's answers that are not stored in any file (CFG-9). */

import type { InputQuestion, ServerEntry, ServerSpec } from '../config/entry.ts';
import { expandEntry } from '../config/expand.ts';
import type { Home } from '../config/home.ts';
import { type AskInput, InputValues } from '../config/input-values.ts';
import { inputIds } from '../config/inputs.ts';
import { makeFolder } from '../lib/make-folder.ts';
import type { SecretStore } from '../secrets/store.ts';

/** Data of plugins is private to the user. */
const DATA_MODE = 0o700;

/** The parts of the host that this class uses. */
interface Owner {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  /** `input` asks the person; without it, a missing value fails its server. */
  readonly options: { readonly input?: AskInput | undefined };
  /** A reload replaces the whole object. */
  readonly config: { readonly inputs: readonly InputQuestion[] };
  readonly secrets: () => Promise<SecretStore>;
}

export class HostInputs {
  readonly #owner: Owner;
  readonly #values: InputValues;
  readonly #secrets = new WeakMap<ServerEntry, readonly string[]>();

  constructor(owner: Owner) {
    const { home, options, secrets } = owner;
    this.#owner = owner;
    this.#values = new InputValues({
      home,
      ask: options.input,
      secrets,
    });
  }

  /** Expands an entry; synchronous for entries without questions, which most servers are. */
  expand(spec: ServerSpec, { ask }: { readonly ask: boolean }): ServerEntry | Promise<ServerEntry> {
    return inputIds(spec).length === 0 ? expandEntry(spec, this.#owner.env) : this.#answered(spec, ask);
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
    const { values, secrets } = await this.#values.of(spec, this.#owner.config.inputs, { ask });
    const entry = expandEntry(spec, this.#owner.env, values);
    this.#secrets.set(entry, secrets);
    return entry;
  }
}
