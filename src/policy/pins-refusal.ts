/** The errors for definitions that are held back. */

import { PlugboardError } from '../errors.ts';
import { shellWord } from '../lib/shell-word.ts';

export function pinChanged(server: string, tool: string): PlugboardError {
  return new PlugboardError(
    'PIN_CHANGED',
    `${tool} of ${server} was not called: its definition is new or has changed since you first connected`,
    {
      server,
      hint: acceptHint(server),
    },
  );
}

/** @param what as in "the prompt review". */
export function partHeld(server: string, what: string): PlugboardError {
  return new PlugboardError(
    'PIN_CHANGED',
    `${what} of ${server} was not used: its definition is new or has changed since you first connected`,
    {
      server,
      hint: acceptHint(server),
    },
  );
}

function acceptHint(server: string): string {
  const command = `plugboard pins ${shellWord(server)}`;
  return `${command} shows what changed; ${command} --accept takes it as it is now.`;
}
