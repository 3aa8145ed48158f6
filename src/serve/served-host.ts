/** What serving needs of a host, and what it gives back. A `Host` is one. */

import type { CallOptions } from '../call/call.ts';
import type { CallResult } from '../catalog/accept-result.ts';
import type { Tool } from '../catalog/tool.ts';

export interface ServedHost {
  tools(): readonly Tool[];
  call(name: string, args: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<CallResult>;
  /** Text for the model, about the servers whose tools it sees. */
  instructions?(): string;
  on(event: 'tools', fn: () => void): () => void;
}

/** Something that is being served; closing it leaves the host alone, which is its owner's. */
export interface Served {
  /** May be called twice. */
  close(): Promise<void>;
  /** Resolves when serving has ended, by `close()` or because the client left. */
  readonly closed: Promise<void>;
}
