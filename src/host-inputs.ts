/** What a host's entries are filled in with: variables, and answers of a person that stand in no file (CFG-9). */

import type { InputQuestion, ServerEntry, ServerSpec } from './config/entry.ts';
import { expandEntry } from './config/expand.ts';
import type { Home } from './config/home.ts';
import { type AskInput, InputValues } from './config/input-values.ts';
import { inputIds } from './config/inputs.ts';
import { makeFolder } from './lib/make-folder.ts';
import type { SecretStore } from './secrets/store.ts';

/** What plugins keep is theirs and the person's. */
const DATA_MODE = 0o700;

/** What it needs of the host that it belongs to. */
interface Owner {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  /** `input`: how the person is asked; without it, what is missing fails its server. */
  readonly options: { readonly input?: AskInput | undefined };
  /** Replaced whole by a reload. */
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

  /** Without questions nothing is awaited: most servers have none. */
  expand(spec: ServerSpec, { ask }: { readonly ask: boolean }): ServerEntry | Promise<ServerEntry> {
    return inputIds(spec).length === 0 ? expandEntry(spec, this.#owner.env) : this.#answered(spec, ask);
  }

  /** The same for a server that is about to start: what is missing is asked for, and a plugin's folder for data is there. */
  async expandForStart(spec: ServerSpec): Promise<ServerEntry> {
    const data = spec.variables?.['PLUGIN_DATA'];
    // A home that cannot be written is for the server to complain about, if it needs the folder at all.
    if (data !== undefined) await makeFolder(data, DATA_MODE).catch(() => {});
    return this.expand(spec, { ask: true });
  }

  /** Answers in an entry that was filled in, whatever they look like: nobody may be told them. */
  secretsIn(entry: ServerEntry): readonly string[] {
    return this.#secrets.get(entry) ?? [];
  }

  /** The spec as it would run: a managed rule must not be dodged by writing a word as a question (A22). */
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
