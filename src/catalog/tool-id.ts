/** A tool's identity; apart from names, whose hashes need Node, because adapters run in browsers. */

import type { ToolKey } from './names.ts';

/** A tool's identity as a key of maps. */
export function toolId({ server, tool }: ToolKey): string {
  // JSON keeps ("a", "b__c") apart from ("a__b", "c"), and lone surrogates apart from each other.
  return JSON.stringify([server, tool]);
}
