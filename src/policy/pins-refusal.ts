/** The errors for definitions that are held back. */

import { PlugboardError } from '../errors.ts';

export function pinChanged(server: string, tool: string): PlugboardError {
  return new PlugboardError(
    'PIN_CHANGED',
    `${tool} of ${server} was not called: its definition is new or has changed since the server was first seen`,
    {
      server,
      hint: 'plugboard pins shows what changed; plugboard pins --accept takes it as it is now.',
    },
  );
}

/** @param what as in "the prompt review". */
export function partHeld(server: string, what: string): PlugboardError {
  return new PlugboardError(
    'PIN_CHANGED',
    `${what} of ${server} was not used: its definition is new or has changed since the server was first seen`,
    {
      server,
      hint: 'plugboard pins shows what changed; plugboard pins --accept takes it as it is now.',
    },
  );
}
