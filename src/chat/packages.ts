/** The packages that only a model needs: loaded when one is used, and possibly left out when Plugboard was installed. */

import { PlugboardError } from '../errors.ts';
import { errorCode } from '../lib/error-code.ts';

/** The AI SDK, told not to print: stdout is for the answer, and may be one JSON document. */
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
