/** The agents that Plugboard can import servers from, and can be written into. */

import { PlugboardError } from '../../errors.ts';
import { nearest } from '../../lib/nearest.ts';
import { claudeCode } from './claude-code.ts';
import { claudeDesktop } from './claude-desktop.ts';
import { codex } from './codex.ts';
import { cursor } from './cursor.ts';
import type { Agent } from './foreign-agent.ts';
import { gemini } from './gemini-cli.ts';
import { opencode } from './opencode.ts';
import { pi } from './pi-agent.ts';
import { vscode } from './vscode.ts';
import { windsurf } from './windsurf.ts';
import { zed } from './zed.ts';

/** If two agents have a server of the same name, the earlier agent's is used. */
export const AGENTS: readonly Agent[] = [
  claudeCode,
  claudeDesktop,
  codex,
  opencode,
  cursor,
  vscode,
  gemini,
  windsurf,
  zed,
  pi,
];

/** Alternative names. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['claude', 'claude-code'],
  ['code', 'vscode'],
  ['vs-code', 'vscode'],
  ['gemini-cli', 'gemini'],
]);

/**
 * Returns an agent by name.
 *
 * @throws PlugboardError USAGE with the nearest name.
 */
export function agentCalled(word: string): Agent {
  const wanted = word.toLowerCase();
  const id = ALIASES.get(wanted) ?? wanted;
  const agent = AGENTS.find((each) => each.id === id);
  if (agent !== undefined) return agent;
  const ids = AGENTS.map((each) => each.id);
  const [near] = nearest(wanted, ids, 1);
  throw new PlugboardError('USAGE', `Plugboard does not know an agent called "${word}"`, {
    hint: `${near === undefined ? '' : `Did you mean "${near}"? `}It supports ${ids.join(', ')}.`,
  });
}
