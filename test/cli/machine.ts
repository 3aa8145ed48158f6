/** A machine with other agents on it: a home of its own, and nothing of the person who runs the tests. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Extra, Place } from './command.ts';

/** Variables that would lead agents, and us, elsewhere. */
const ELSEWHERE = [
  'XDG_CONFIG_HOME',
  'CODEX_HOME',
  'CLAUDE_CONFIG_DIR',
  'OPENCODE_CONFIG',
  'PI_CODING_AGENT_DIR',
];

export class Machine extends Place {
  readonly userHome: string = join(this.dir, 'user');

  constructor() {
    super();
    mkdirSync(this.userHome);
  }

  here(env: Readonly<Record<string, string>> = {}): Extra {
    const nowhere = Object.fromEntries(ELSEWHERE.map((name) => [name, '']));
    return { env: { HOME: this.userHome, PATH: '/usr/bin:/bin', ...nowhere, ...env } };
  }
}
