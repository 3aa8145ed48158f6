/**
 * Fills in variables of the person's machine that every program expects: screen, locale, caches, certificates. Some
 * agents (Codex) pass few of them on. A session that lacks one gets the value of the last session that had it, so
 * that its servers work as they do for other agents, and are the same processes. Variables that entries refer to are
 * never filled in.
 */

import type { Home } from '../../config/home.ts';
import { replaceFile } from '../../lib/locked-file.ts';
import { isAmbient } from '../../transport/launch.ts';
import { ambientFile, readAmbient } from '../protocol/ambient-file.ts';

const OWNER_ONLY = 0o600;
const MAX_VALUE_CHARS = 4_096;
/** An address that contains a user and a password is kept in memory only. */
const CREDENTIALS = /\/\/[^/]*@/;

export class AmbientEnvironment {
  readonly #file: string;
  readonly #known: Map<string, string>;

  constructor(home: Home) {
    this.#file = ambientFile(home);
    this.#known = new Map(Object.entries(readAmbient(home)).filter(([name]) => isAmbient(name)));
  }

  /** Returns the environment with missing variables filled in; its own values are remembered. */
  async complete(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
    let isNew = false;
    for (const [name, value] of Object.entries(env)) {
      if (value === undefined || !isAmbient(name) || value.length > MAX_VALUE_CHARS) continue;
      isNew ||= this.#known.get(name) !== value && !CREDENTIALS.test(value);
      this.#known.set(name, value);
    }
    if (isNew) await this.#save();
    return { ...Object.fromEntries(this.#known), ...env };
  }

  /** If the home is not writable, only the values of earlier sessions are lost. */
  async #save(): Promise<void> {
    const values = [...this.#known].filter(([, value]) => !CREDENTIALS.test(value));
    const text = `${JSON.stringify(Object.fromEntries(values), null, 2)}\n`;
    await replaceFile(this.#file, text, { mode: OWNER_ONLY }).catch(() => {});
  }
}
