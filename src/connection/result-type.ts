/** The `resultType` values of modern servers; an unknown one is an error, not an empty success. */

import { PlugboardError } from '../errors.ts';

/** Those of the protocol, and of the tasks extension, which we declare. */
const KNOWN: ReadonlySet<unknown> = new Set(['complete', 'input_required', 'task']);
/** Methods whose results we parse. An extension may define other result types for its own methods. */
const READ: ReadonlySet<string> = new Set([
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
]);

/** Returns the error for a result of an unknown type; a missing type means `complete`. */
export function unknownResultType(
  method: string,
  { resultType = 'complete' }: Readonly<Record<string, unknown>>,
): PlugboardError | undefined {
  if (KNOWN.has(resultType) || !READ.has(method)) return undefined;
  const type = JSON.stringify(resultType).slice(0, 80);
  return new PlugboardError('PROTOCOL_ERROR', `the answer to ${method} has an unknown resultType: ${type}`, {
    hint: 'Update plugboard, or use an older version of this server.',
  });
}
