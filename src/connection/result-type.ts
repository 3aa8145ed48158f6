/** The kinds of results that modern servers may answer with; one that we do not know is an error, not an empty success. */

import { PlugboardError } from '../errors.ts';

/** Of the protocol, and of the tasks extension, which we declare. */
const KNOWN: ReadonlySet<unknown> = new Set(['complete', 'input_required', 'task']);
/** Methods whose results we read. An extension may define kinds of its own for its methods. */
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

/** The error of a result that cannot be read; a result without a type is complete. */
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
