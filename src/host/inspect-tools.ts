/** Lists the tools of one server for inspection by a person: also those that cannot be called, with the reason. */

import { decisionOn } from '../call/approve.ts';
import type { ListedTool } from '../catalog/catalog.ts';
import type { Connection } from '../connection/connection.ts';
import type { ApprovalDecision } from '../policy/approval.ts';
import type { HostCore } from './host-core.ts';

export interface InspectedTool extends ListedTool {
  /** Why it is held back; `identity`: the server that responds differs from the one that was pinned. */
  readonly held?: 'new' | 'changed' | 'identity';
  /** The decision of rules and approval modes about a call. */
  readonly approval: ApprovalDecision;
}

export function inspectTools(core: HostCore, { name, spec }: Connection): readonly InspectedTool[] {
  const { catalog, config } = core;
  const { heldAsNew = [], holdsIdentity = false } = catalog.listing(name) ?? {};
  return catalog.inspect(name).map((listed): InspectedTool => {
    const { tool, state } = listed;
    const held = holdsIdentity ? 'identity' : heldAsNew.includes(tool.tool) ? 'new' : 'changed';
    const approval = decisionOn({
      tool,
      spec,
      names: catalog.snapshot.ruleNames(tool),
      settings: config.settings,
      sessionAllows: core.session.allowed,
      alwaysAllows: core.approvals.always,
    });
    return { ...listed, ...(state === 'held' ? { held } : {}), approval };
  });
}
