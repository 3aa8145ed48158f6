/** Lists the tools of a session under the names that gateway clients see. */

import type { Snapshot } from './catalog.ts';
import { type Deferral, foundTools } from './deferral.ts';
import type { Tool } from './tool.ts';
import type { NameForm } from './tool-names.ts';

export type GatewayView = (
  snapshot: Snapshot,
  deferral: Deferral,
  loaded: Iterable<string>,
  /** True for a client that shows user interfaces of servers: it calls their tools too. */
  isWithApps: boolean,
) => readonly Tool[];

/** Renames direct tools once per snapshot, so that the same list is the same array. */
export function createGatewayView(form: NameForm): GatewayView {
  const renamed = [
    new WeakMap<readonly Tool[], readonly Tool[]>(),
    new WeakMap<readonly Tool[], readonly Tool[]>(),
  ];
  return (snapshot, deferral, loaded, isWithApps) => {
    const rename = (tool: Tool): Tool => ({ ...tool, name: snapshot.nameOf(tool, form) ?? tool.name });
    const kept = renamed[isWithApps ? 1 : 0];
    let direct = kept?.get(deferral.direct);
    if (direct === undefined) {
      direct = [...deferral.direct, ...(isWithApps ? deferral.appTools : [])].map(rename);
      kept?.set(deferral.direct, direct);
    }
    const { gatewaySearchTool } = deferral;
    if (gatewaySearchTool === undefined) return direct;
    return [...direct, gatewaySearchTool, ...foundTools(deferral, loaded).map(rename)];
  };
}
