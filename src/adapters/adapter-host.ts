/** What an adapter needs of a host, and what every adapter can be told. A `Host` and a `HostSession` are hosts. */

import type { CallOptions } from '../call/call.ts';
import type { ShapedResult } from '../call/shape.ts';
import type { Tool } from '../catalog/tool.ts';
import type { Progress } from '../connection/peer.ts';
import type { Unsubscribe } from '../lib/emitter.ts';

export interface AdapterHost {
  tools(): readonly Tool[];
  call(name: string, args: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<ShapedResult>;
  /** Tells that other tools are there now. */
  on?(event: 'tools', listener: () => void): Unsubscribe;
}

/** One call as its model made it. */
export interface ModelCall {
  readonly name: string;
  /** The provider's id of the call; empty where it gives none. */
  readonly id: string;
}

/** A tool that a provider would not take, and why. The others are not harmed by it. */
export interface QuarantinedTool {
  readonly name: string;
  readonly server: string;
  readonly reason: string;
}

export interface AdapterOptions {
  readonly onProgress?: ((progress: Progress, call: ModelCall) => void) | undefined;
  /** Told once for each tool that is left out because no schema could be made of its own. */
  readonly onQuarantine?: ((tool: QuarantinedTool) => void) | undefined;
  /** Ends every call of this adapter, beside the signal of a single call. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** Longer descriptions are cut: some deployments refuse a request for them (Azure: 1,024). */
  readonly maxDescriptionChars?: number | undefined;
}

/** What can be said about a single call. */
export interface ExecuteOptions {
  readonly signal?: AbortSignal | undefined;
}
