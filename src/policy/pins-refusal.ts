/** What whoever calls a tool that is held back is told. */

import { PlugboardError } from '../errors.ts';

export function pinChanged(server: string, tool: string): PlugboardError {
  return new PlugboardError(
    'PIN_CHANGED',
    `${tool} of ${server} was not called: it is not what it was when it was first seen`,
    {
      server,
      hint: 'plugboard pins shows what changed; plugboard pins --accept takes it as it is now.',
    },
  );
}
