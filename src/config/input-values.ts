/**
 * Stores and requests the values of `${input:id}` (CFG-9): kept in the keyring, asked for once, by one process at a
 * time.
 */

import { join } from 'node:path';
import { parseJson } from '../lib/json.ts';
import { lockFileFor, withFileLock } from '../lib/locked-file.ts';
import type { SecretPlace, SecretStore } from '../secrets/store.ts';
import type { InputQuestion, ServerSpec } from './entry.ts';
import type { Home } from './home.ts';
import { fallbackOf, questionsOf } from './inputs.ts';

/** How long one process waits while a person types the answer in another. */
const ASK_WAIT_MS = 10 * 60 * 1000;

/** A question for a person. */
export interface InputRequest {
  readonly id: string;
  /** The server that needs it. */
  readonly server: string;
  readonly description?: string;
  /** Hide the answer, while it is typed and later. */
  readonly password: boolean;
  readonly options?: readonly string[];
  /** Used if there is no answer. */
  readonly fallback?: string;
}

/** Returns undefined if the person does not answer. */
export type AskInput = (request: InputRequest) => Promise<string | undefined>;

export interface InputValuesOptions {
  readonly home: Home;
  /** Opened when the first value is needed. */
  readonly secrets: () => Promise<SecretStore>;
  readonly ask?: AskInput | undefined;
}

/** The values of one server: by id, and the secret ones, which must be hidden. */
export interface Answers {
  readonly values: ReadonlyMap<string, string>;
  readonly secrets: readonly string[];
}

export class InputValues {
  readonly #options: InputValuesOptions;
  #store: Promise<SecretStore> | undefined;

  constructor(options: InputValuesOptions) {
    this.#options = options;
  }

  /**
   * Returns the known values of a server; with `ask`, requests the missing ones. An id without an answer is omitted.
   */
  async of(
    spec: ServerSpec,
    questions: readonly InputQuestion[],
    { ask = false }: { readonly ask?: boolean } = {},
  ): Promise<Answers> {
    const values = new Map<string, string>();
    const secrets: string[] = [];
    for (const declared of questionsOf(spec, questions)) {
      const { fallback: _declared, ...question } = declared;
      const { id } = question;
      const fallback = fallbackOf(spec, declared);
      const request = fallback === undefined ? question : { ...question, fallback };
      const value = (await this.#find(request, spec.name, ask)) ?? fallback;
      if (value === undefined) continue;
      values.set(id, value);
      if (question.password) secrets.push(value);
    }
    return { values, secrets };
  }

  /** Returns where an answer is stored; undefined if there is none. */
  async place(question: Pick<InputQuestion, 'id' | 'owner'>): Promise<SecretPlace | undefined> {
    return (await this.#secrets()).place(keyOf(question));
  }

  /** Returns every stored answer, used by a server or not. */
  async stored(): Promise<readonly Pick<InputQuestion, 'id' | 'owner'>[]> {
    return (await (await this.#secrets()).keys()).flatMap(questionIn);
  }

  async set(question: Pick<InputQuestion, 'id' | 'owner'>, value: string): Promise<SecretPlace> {
    return (await this.#secrets()).set(keyOf(question), value);
  }

  async remove(question: Pick<InputQuestion, 'id' | 'owner'>): Promise<boolean> {
    return (await this.#secrets()).delete(keyOf(question));
  }

  async #find(question: InputQuestion, server: string, mayAsk: boolean): Promise<string | undefined> {
    const store = await this.#secrets();
    const key = keyOf(question);
    const known = await store.get(key);
    const { ask, home } = this.#options;
    if (known !== undefined || !mayAsk || ask === undefined) return known;
    const { owner: _owner, ...request } = question;
    // Two servers or processes that need the same answer ask one after the other, and the second finds it.
    return withFileLock(
      lockFileFor(join(home.run, 'locks'), key),
      async () => {
        const given = await store.get(key);
        if (given !== undefined) return given;
        const answer = await ask({ ...request, server });
        if (answer === undefined || answer === '') return undefined;
        await store.set(key, answer);
        return answer;
      },
      { waitMs: ASK_WAIT_MS },
    );
  }

  #secrets(): Promise<SecretStore> {
    this.#store ??= this.#options.secrets();
    return this.#store;
  }
}

function keyOf({ owner, id }: Pick<InputQuestion, 'id' | 'owner'>): string {
  return `input ${JSON.stringify([owner, id])}`;
}

/** Parses the key of a secret; empty for secrets of other kinds. */
function questionIn(key: string): Pick<InputQuestion, 'id' | 'owner'>[] {
  const value = key.startsWith('input [') ? parseJson(key.slice('input '.length)) : undefined;
  const [owner, id]: readonly unknown[] = Array.isArray(value) ? value : [];
  return typeof owner === 'string' && typeof id === 'string' ? [{ owner, id }] : [];
}
