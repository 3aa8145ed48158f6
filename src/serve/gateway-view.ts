/** The servers and tools that the clients of one profile share, or those of all clients without one. */

import type { IncomingHttpHeaders } from 'node:http';
import { checkParams } from '../catalog/param-headers.ts';
import type { Tool } from '../catalog/tool.ts';
import type { ClientInfo, Params } from '../endpoint/client-era.ts';
import { takesTasks } from '../endpoint/task-support.ts';
import { Addresses } from './addresses.ts';
import type { OwnTool } from './gateway-own-tools.ts';
import type { RepairReport } from './outgoing/sent-definitions.ts';
import { createToolLister, type ToolLister } from './outgoing/tool-list.ts';
import { createParamHeaders } from './requested-call.ts';
import type { ServedHost, ServedSession } from './served-host.ts';
import { TASK_TOOLS } from './task-tools.ts';

export interface GatewayViewOptions {
  readonly host: ServedHost;
  /** Undefined: everything. */
  readonly profile: string | undefined;
  /** Tools of the gateway itself. */
  readonly own: readonly OwnTool[];
  readonly repaired: RepairReport;
}

export class GatewayView {
  readonly host: ServedHost;
  readonly profile: string | undefined;
  readonly addresses: Addresses = new Addresses();
  readonly own: ReadonlyMap<string, OwnTool>;
  /** Reports repairs that were made for clients. */
  readonly repaired: RepairReport;
  readonly listTools: ToolLister;
  readonly #paramHeaders: ReturnType<typeof createParamHeaders> = createParamHeaders();
  readonly #withTaskTools = new WeakMap<
    readonly Tool[],
    { readonly settings: unknown; readonly list: readonly Tool[] }
  >();
  #everything: ServedSession | undefined;

  constructor({ host, profile, own, repaired }: GatewayViewOptions) {
    this.host = host;
    this.profile = profile;
    this.repaired = repaired;
    this.own = new Map(own.map((tool) => [tool.definition.name, tool]));
    this.listTools = createToolLister(
      own.map(({ definition }) => definition),
      repaired,
    );
  }

  /** A session without a client, which has every tool and extension of the view. */
  get everything(): ServedSession {
    this.#everything ??= this.host.session();
    return this.#everything;
  }

  /** True if its clients get a reference in place of a repeated result. */
  get deduplicates(): boolean {
    const { profiles } = this.host;
    const { settings } = this.profile === undefined ? profiles : profiles.of(this.profile);
    return settings.deduplicate === true;
  }

  /** Returns one line on the budgets of its clients; '' without any. */
  budgetLine(): string {
    const limits = this.host.profiles.limitsOf(this.profile);
    return limits.length === 0
      ? ''
      : `Budgets: ${limits.join('; ')}. A call beyond one is refused with the time to wait.`;
  }

  /** Returns the tools of all its servers, deferred or not. */
  allTools(): readonly Tool[] {
    return this.everything.allTools();
  }

  /**
   * Returns the tools that a client without tasks has: with those that follow calls in the background, if a call may go on
   * there. Clients of 2025-11-25 choose a task for each call, so tools that may become one are marked.
   */
  withTaskTools(session: ServedSession, tools: readonly Tool[], clientInfo: ClientInfo): readonly Tool[] {
    if (!session.hasBackground || (clientInfo.era === 'modern' && takesTasks(clientInfo, {}))) return tools;
    const { settings } = this.host.profiles;
    const known = this.#withTaskTools.get(tools);
    if (known?.settings === settings) return known.list;
    const marked = tools.map((tool) =>
      tool.execution === undefined && session.backgroundAfter(tool) !== undefined
        ? { ...tool, execution: { taskSupport: 'optional' as const } }
        : tool,
    );
    const list = [...marked, ...TASK_TOOLS];
    this.#withTaskTools.set(tools, { settings, list });
    return list;
  }

  /** True if log messages of a server that belong to no request may be sent to its clients. */
  hears(server: string): boolean {
    return this.profile === undefined || this.host.profiles.of(this.profile).offersAll(server);
  }

  /** Throws an RpcFailure if the headers of a modern call contradict its arguments. */
  checkCall(headers: IncomingHttpHeaders, { name, arguments: args }: Params): void {
    if (typeof name !== 'string') return;
    const declaring = this.#paramHeaders(this.allTools());
    if (declaring.size === 0) return;
    const declared = declaring.get(this.#everything?.find(name)?.name ?? name);
    if (declared !== undefined) checkParams(headers, declared, args);
  }
}
