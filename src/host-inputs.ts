/** What a host's entries are filled in with: variables, and answers of a person that stand in no file (CFG-9). */

import type { InputQuestion, ServerEntry, ServerSpec } from './config/entry.ts';
import { expandEntry } from './config/expand.ts';
import type { Home } from './config/home.ts';
import { type AskInput, InputValues } from './config/input-values.ts';
import { inputIds } from './config/inputs.ts';

export interface HostInputsOptions {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  /** How the person is asked; without it, what is missing fails its server. */
  readonly ask: AskInput | undefined;
  readonly questions: () => readonly InputQuestion[];
  readonly notice: (message: string) => void;
}

export class HostInputs {
  readonly #options: HostInputsOptions;
  readonly #values: InputValues;
  readonly #secrets = new WeakMap<ServerEntry, readonly string[]>();

  constructor(options: HostInputsOptions) {
    const { home, env, ask, notice } = options;
    this.#options = options;
    this.#values = new InputValues({
      home,
      ask,
      secrets: async () => (await import('./secrets/store.ts')).openSecrets({ home, env, notice }),
    });
  }

  /** Without questions nothing is awaited: most servers have none. */
  expand(spec: ServerSpec, { ask }: { readonly ask: boolean }): ServerEntry | Promise<ServerEntry> {
    return inputIds(spec).length === 0 ? expandEntry(spec, this.#options.env) : this.#answered(spec, ask);
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
    const { values, secrets } = await this.#values.of(spec, this.#options.questions(), { ask });
    const entry = expandEntry(spec, this.#options.env, values);
    this.#secrets.set(entry, secrets);
    return entry;
  }
}
