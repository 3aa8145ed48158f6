/** Collects what a report of costs needs: the tools, how they are listed, the audit log and the tokenizer. */

import { readUsage } from '../call/audit-usage.ts';
import { type CostReport, costReport } from '../call/cost-report.ts';
import { DEFAULT_CONTEXT_TOKENS, defer, type ToolSearchMode } from '../catalog/deferral.ts';
import { loadTokenCounter } from '../catalog/token-counter.ts';
import type { HostCore } from './host-core.ts';

const DEFAULT_DAYS = 30;
const DAY_MS: number = 24 * 60 * 60 * 1000;

export interface CostOptions {
  /** The period of calls, in days (default: 30). */
  readonly days?: number | undefined;
  /** @internal In place of the host's own: commands list every tool. */
  readonly toolSearch?: ToolSearchMode | undefined;
}

export async function hostCost(core: HostCore, options: CostOptions): Promise<CostReport> {
  const { days = DEFAULT_DAYS, toolSearch } = options;
  const now = core.clock.now();
  const { snapshot } = core.catalog;
  const [count, usage] = await Promise.all([
    loadTokenCounter(),
    core.home.isNone
      ? { servers: new Map(), since: undefined }
      : readUsage(core.home.audit, now - days * DAY_MS),
  ]);
  const deferral =
    toolSearch === undefined
      ? core.deferral()
      : defer(snapshot, {
          mode: toolSearch,
          contextTokens: core.options.model?.contextTokens ?? DEFAULT_CONTEXT_TOKENS,
          alwaysLoad: (server) => core.pool.get(server)?.spec.entry.alwaysLoad === true,
        });
  return costReport({ tools: snapshot.tools, usage, days, now, deferral, count });
}
