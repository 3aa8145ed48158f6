/** The identity of a tool; separate from `names.ts`, whose hashes need Node, because adapters run in browsers. */

import type { ToolKey } from './tool-names.ts';

/** Returns a tool's identity as a map key. */
export function toolId({ server, tool }: ToolKey): string {
  // JSON distinguishes ("a", "b__c") from ("a__b", "c"), and different lone surrogates.
  return JSON.stringify([server, tool]);
}
