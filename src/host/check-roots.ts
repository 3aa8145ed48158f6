/** Validates roots given by a program: a list when it is given, the results of a function each time. */

import type { Questioned, Root } from '../connection/questions.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import { RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';

type Roots = Questioned['roots'];

export const ROOTS_HINT = 'pathToFileURL(folder).href of node:url makes one of a path.';

/** Returns undefined if a value is a list of roots, else a description of the expected value. */
export function faultOfRoots(value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'a list of { uri, name? }';
  const wrong = value.find((root) => !isRecord(root) || !isFileUri(root['uri']));
  if (wrong === undefined) return undefined;
  const uri =
    isRecord(wrong) && typeof wrong['uri'] === 'string'
      ? ` (${JSON.stringify(wrong['uri'])} is not one)`
      : '';
  return `a list of { uri, name? } with file: addresses${uri}`;
}

/**
 * Returns the same roots; a function's results are validated, and an invalid result is reported and not sent.
 *
 * @param report called with the server that asked and the reason.
 */
export function checkedRoots(roots: Roots, report: (server: string, message: string) => void): Roots {
  if (typeof roots !== 'function') return roots;
  return async (request): Promise<readonly Root[]> => {
    const { server } = request;
    try {
      const given: unknown = await roots(request);
      const expected = faultOfRoots(given);
      // `faultOfRoots` has validated it.
      if (expected === undefined) return given as readonly Root[];
      const message = `roots() must return ${expected}`;
      throw new PlugboardError('CONFIG_INVALID', message, { server, hint: ROOTS_HINT });
    } catch (thrown) {
      const { message, code, detail } = asPlugboardError(thrown);
      // This error code is the way to respond that roots are not supported.
      if (detail.rpcCode !== RPC_METHOD_NOT_FOUND)
        report(server, code === 'CONFIG_INVALID' ? message : `roots() failed: ${message}`);
      throw thrown;
    }
  };
}

function isFileUri(uri: unknown): boolean {
  return typeof uri === 'string' && URL.canParse(uri) && new URL(uri).protocol === 'file:';
}
