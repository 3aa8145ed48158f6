/** Pipeline stage: answers the tool `result`, which reads parts of stored results (CAL-8); passes on other calls. */

import { RESULT } from '../catalog/result-tool-definition.ts';
import type { Handler, Stage } from './call.ts';
import { snapshotFor } from './session-view.ts';

export const resultTool: Stage = (context, next) => {
  let loading: Promise<Handler> | undefined;
  return (call) => {
    // A server's tool may have this name without its server.
    if (call.name !== RESULT || snapshotFor(context, call.session).find(RESULT) !== undefined)
      return next(call);
    loading ??= import('./read-result.ts').then(({ createResultHandler }) => createResultHandler(context));
    return loading.then((handle) => handle(call));
  };
};
