/** Keeps the last calls and their outcomes, for the timeline and the charts of the page. */

import { definitionCost } from '../catalog/deferral.ts';
import type { Tool } from '../catalog/tool.ts';
import type { Host } from '../host/host.ts';
import type { HostEvents } from '../host/host-options.ts';
import type { Clock } from '../lib/clock.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { groupBy } from '../lib/group-by.ts';
import { StringMap } from '../lib/string-map.ts';
import type { Traffic, TrafficEvents } from './traffic.ts';

export const MAX_KEPT_CALLS = 10_000;
/** Points of a server's sparkline. */
const MAX_CHART_POINTS = 60;

export interface CallRecord {
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  readonly session: string;
  /** The client of a gateway, and its profile. */
  readonly client?: string;
  readonly profile?: string;
  /** The program of the client, and the folder that it works in. */
  readonly agent?: { readonly name: string; readonly version: string };
  readonly folder?: string;
  /** The caller's own name for it. */
  readonly ref?: string;
  /** Unique also among the calls of other runs. */
  readonly key?: string;
  /** Start time, milliseconds since the epoch. */
  readonly at: number;
  /** The other fields are set once it has ended. */
  readonly ms?: number;
  readonly outcome?: HostEvents['call.end']['outcome'];
  readonly code?: string;
  /** The rule that decided, if one did. */
  readonly rule?: string;
  readonly progress?: Omit<HostEvents['call.progress'], 'id'>;
}

/** A mutable record, because every call passes here. */
type Kept = { -readonly [Key in keyof CallRecord]: CallRecord[Key] };

export interface ServerStats {
  readonly name: string;
  readonly tools: number;
  /** Token cost of its tools' definitions for a model that is given all of them. */
  readonly definitionTokens: number;
  /** Counts of the calls that are still kept. */
  readonly calls: number;
  readonly running: number;
  readonly failed: number;
  readonly p50?: number;
  readonly p95?: number;
  /** The newest durations in milliseconds, oldest first. */
  readonly recent: readonly number[];
}

export interface ToolStats {
  readonly tool: string;
  readonly name: string;
  readonly definitionTokens: number;
  readonly calls: number;
  readonly failed: number;
  readonly p50?: number;
  readonly p95?: number;
}

/** Counts of the calls of one client that are still kept. */
export interface ClientCalls {
  readonly calls: number;
  readonly running: number;
  readonly failed: number;
  /** Start of the newest, milliseconds since the epoch. */
  readonly last: number;
}

export class RecentCalls {
  /**
   * A ring buffer in the order in which calls began. Deleting the oldest key of a map instead would walk over all
   * deleted slots.
   */
  readonly #kept: Kept[] = [];
  #oldest = 0;
  /** Calls that have not ended. */
  readonly #running = new StringMap<Kept>();
  readonly #stops: readonly (() => void)[];
  /** Token costs are computed once: a definition never changes, it is replaced. */
  readonly #costs = new WeakMap<Tool['inputSchema'], number>();

  constructor(traffic: Pick<Traffic, 'on'>, clock: Clock) {
    this.#stops = [
      traffic.on('call.begin', (begun) => {
        const { id, server, tool, session, client, profile, ref, key, agent, folder } = begun;
        const call: Kept = { id, server, tool, session, at: begun.at ?? clock.now() };
        if (key !== undefined) call.key = key;
        if (agent !== undefined) call.agent = agent;
        if (folder !== undefined) call.folder = folder;
        if (client !== undefined) call.client = client;
        if (profile !== undefined) call.profile = profile;
        if (ref !== undefined) call.ref = ref;
        this.#begin(call);
      }),
      traffic.on('call.progress', ({ id, ...progress }) => {
        const call = this.#running.get(id);
        if (call !== undefined) call.progress = progress;
      }),
      traffic.on('call.end', (end) => this.#end(end)),
    ];
  }

  /** Returns the calls that have not ended, newest first. */
  running(): readonly CallRecord[] {
    return [...this.#running.values()].reverse();
  }

  /** Returns a call by its id or key, if it is still kept. */
  find(id: string): CallRecord | undefined {
    return this.#running.get(id) ?? this.#inOrder().findLast((call) => call.id === id || call.key === id);
  }

  /** Returns the calls, newest first. */
  list(limit: number): readonly CallRecord[] {
    return this.#inOrder().slice(-limit).reverse();
  }

  /** Returns the counts of the kept calls of each client. */
  byClient(): ReadonlyMap<string, ClientCalls> {
    const calls = groupBy(this.#inOrder(), ({ client }) => client ?? '');
    calls.delete('');
    return new Map(
      [...calls].map(([client, own]) => [
        client,
        {
          calls: own.length,
          running: own.filter(({ outcome }) => outcome === undefined).length,
          failed: own.filter(({ outcome }) => outcome !== undefined && outcome !== 'ok').length,
          last: own.at(-1)?.at ?? 0,
        },
      ]),
    );
  }

  stats(host: Pick<Host, 'servers' | 'tools'>): readonly ServerStats[] {
    const costs = groupBy(host.tools({ all: true }), ({ server }) => server);
    const calls = groupBy(this.#inOrder(), ({ server }) => server);
    return host.servers().map(({ name, tools }) => {
      const own = calls.get(name) ?? [];
      const times = own.flatMap(({ ms }) => ms ?? []);
      return {
        name,
        tools,
        definitionTokens: (costs.get(name) ?? []).reduce((sum, tool) => sum + this.#costOf(tool), 0),
        calls: own.length,
        running: own.length - times.length,
        failed: own.filter(({ outcome }) => outcome !== undefined && outcome !== 'ok').length,
        ...percentiles(times),
        recent: times.slice(-MAX_CHART_POINTS),
      };
    });
  }

  /** Returns the counts, latencies and token costs of each tool of a server. */
  toolStats(host: Pick<Host, 'tools'>, server: string): readonly ToolStats[] {
    const calls = groupBy(
      this.#inOrder().filter((call) => call.server === server),
      ({ tool }) => tool,
    );
    return host
      .tools({ all: true })
      .filter((tool) => tool.server === server)
      .map((tool) => {
        const own = calls.get(tool.tool) ?? [];
        return {
          tool: tool.tool,
          name: tool.name,
          definitionTokens: this.#costOf(tool),
          calls: own.length,
          failed: own.filter(({ outcome }) => outcome !== undefined && outcome !== 'ok').length,
          ...percentiles(own.flatMap(({ ms }) => ms ?? [])),
        };
      });
  }

  close(): void {
    for (const stop of this.#stops) stop();
  }

  #begin(call: Kept): void {
    this.#running.set(call.id, call);
    if (this.#kept.length < MAX_KEPT_CALLS) {
      this.#kept.push(call);
      return;
    }
    this.#kept[this.#oldest] = call;
    this.#oldest = (this.#oldest + 1) % MAX_KEPT_CALLS;
  }

  #inOrder(): readonly CallRecord[] {
    return [...this.#kept.slice(this.#oldest), ...this.#kept.slice(0, this.#oldest)];
  }

  #end({ id, ms, outcome, code, rule }: TrafficEvents['call.end']): void {
    const call = this.#running.get(id);
    if (call === undefined) return;
    this.#running.delete(id);
    call.ms = ms;
    call.outcome = outcome;
    if (code !== undefined) call.code = code;
    if (rule !== undefined) call.rule = rule;
  }

  #costOf(tool: Tool): number {
    return getOrMake(this.#costs, tool.inputSchema, () => definitionCost(tool));
  }
}

function percentiles(times: readonly number[]): { readonly p50?: number; readonly p95?: number } {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number | undefined => sorted[Math.ceil(sorted.length * share) - 1];
  const [p50, p95] = [at(0.5), at(0.95)];
  return p50 === undefined || p95 === undefined ? {} : { p50, p95 };
}
