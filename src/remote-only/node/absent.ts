/** Replacements for features that exist only under Node: each use throws an error with the reason. */

import { PlugboardError } from '../../errors.ts';

export function absent(what: string): () => never {
  return () => {
    throw new PlugboardError('BLOCKED_BY_POLICY', `${what} cannot be used with plugboard/remote-only`, {
      hint: 'Use the entry point plugboard, which needs Node.',
    });
  };
}
