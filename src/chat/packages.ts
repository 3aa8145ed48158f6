/** Loads the optional packages that only models need, which may not be installed. */

import { PlugboardError } from '../errors.ts';
import { errorCode } from '../lib/error-code.ts';

/** Imports the AI SDK with its warnings disabled: stdout is for the answer, and may be one JSON document. */
export async function importSdk(): Promise<typeof import('ai')> {
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  return importPackage(() => import('ai'));
}

export async function importPackage<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (thrown) {
    const code = errorCode(thrown);
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw thrown;
    throw new PlugboardError('USAGE', 'The packages for talking to models are not installed.', {
      cause: thrown,
      hint: 'They are optional dependencies of plugboard: install it again without --omit=optional.',
    });
  }
}
