/**
 * Pipeline stage: answers `list_mcp_resources` and `read_mcp_resource` for sessions that have them; passes on other
 * calls.
 */

import { isResourceTool } from '../catalog/resource-tool-definitions.ts';
import type { Handler, Stage } from './call.ts';

export const resourceTools: Stage = (context, next) => {
  let loading: Promise<Handler> | undefined;
  return (call) => {
    if (!call.session.resourceTools || !isResourceTool(call.name)) return next(call);
    // Loaded by the first such call: most hosts never need it.
    loading ??= import('./read-resources.ts').then(({ createResourceHandler }) =>
      createResourceHandler(context),
    );
    return loading.then((handle) => handle(call));
  };
};
