/** Checks the arguments before anybody is asked about them or a server sees them. */

import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { type ArgumentChecker, createArgumentChecker } from './argument-check.ts';
import type { Call, Handler, Stage } from './call.ts';
import { settingsOf } from './settings.ts';

export const validate: Stage = (_context, next) => {
  let loading: Promise<ArgumentChecker> | undefined;
  let checker: ArgumentChecker | undefined;
  const check = (call: Call, using: ArgumentChecker): ReturnType<Handler> => {
    const { tool } = settingsOf(call);
    const problems = isRecord(call.arguments)
      ? using.checkFor(tool.inputSchema)(call.arguments)
      : ['the arguments must be an object'];
    if (problems.length === 0) return next(call);
    return Promise.reject(
      new PlugboardError('INVALID_ARGUMENTS', `${call.name} was not called: ${problems.join('; ')}`, {
        server: tool.server,
        hint: 'Give the arguments as the inputSchema of the tool says.',
      }),
    );
  };
  return (call) => {
    if (checker !== undefined) return check(call, checker);
    // The schema library is loaded by the first call, not by every start.
    loading ??= createArgumentChecker();
    return loading.then((loaded) => {
      checker = loaded;
      return check(call, loaded);
    });
  };
};
