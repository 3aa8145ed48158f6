/** The agents that Plugboard can take servers from, and be written into. */

import { PlugboardError } from '../../errors.ts';
import { nearest } from '../../lib/nearest.ts';
import type { Agent } from './agent.ts';
import { claudeCode } from './claude-code.ts';
import { claudeDesktop } from './claude-desktop.ts';
import { codex } from './codex.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import { pi } from './pi.ts';
import { vscode } from './vscode.ts';
import { windsurf } from './windsurf.ts';
import { zed } from './zed.ts';

/** Where two of them have a server of one name, the earlier one's is taken. */
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

/** Other names that people type. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['claude', 'claude-code'],
  ['code', 'vscode'],
  ['vs-code', 'vscode'],
  ['gemini-cli', 'gemini'],
]);

/** @throws PlugboardError USAGE with the nearest name. */
export function agentCalled(word: string): Agent {
  const wanted = word.toLowerCase();
  const id = ALIASES.get(wanted) ?? wanted;
  const agent = AGENTS.find((each) => each.id === id);
  if (agent !== undefined) return agent;
  const ids = AGENTS.map((each) => each.id);
  const [near] = nearest(wanted, ids, 1);
  throw new PlugboardError('USAGE', `Plugboard does not know an agent called "${word}".`, {
    hint: `${near === undefined ? '' : `Did you mean "${near}"? `}It knows ${ids.join(', ')}.`,
  });
}
