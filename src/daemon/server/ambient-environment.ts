/**
 * The variables of the person's machine that every program expects: screen, locale, caches, certificates. Some agents
 * (Codex) pass few of them on. A session that lacks one gets the value that the last session had which did
 * not, so that its servers work as they do for other agents, and are the same processes. Variables that entries refer
 * to are never filled in.
 */

import type { Home } from '../../config/home.ts';
import { replaceFile } from '../../lib/locked-file.ts';
import { isAmbient } from '../../transport/launch.ts';
import { ambientFile, readAmbient } from '../protocol/ambient-file.ts';

const OWNER_ONLY = 0o600;
const MAX_VALUE_CHARS = 4_096;
/** An address with a user and a password in it is kept in memory only. */
const CREDENTIALS = /\/\/[^/]*@/;

export class AmbientEnvironment {
  readonly #file: string;
  readonly #known: Map<string, string>;

  constructor(home: Home) {
    this.#file = ambientFile(home);
    this.#known = new Map(Object.entries(readAmbient(home)).filter(([name]) => isAmbient(name)));
  }

  /** The environment with what it lacks; values that it has are remembered. */
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

  /** A home that cannot be written only costs the memory of earlier sessions. */
  async #save(): Promise<void> {
    const values = [...this.#known].filter(([, value]) => !CREDENTIALS.test(value));
    const text = `${JSON.stringify(Object.fromEntries(values), null, 2)}\n`;
    await replaceFile(this.#file, text, { mode: OWNER_ONLY }).catch(() => {});
  }
}
