/** The part of a host that adapters use, and the options of every adapter. A `Host` and a `HostSession` satisfy it. */

import type { CallOptions } from '../call/call.ts';
import type { ShapedResult } from '../call/shape.ts';
import type { Tool } from '../catalog/tool.ts';
import type { Progress } from '../connection/peer.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import type { MediaFamily } from './media.ts';

/** A `Host`, a `HostSession`, or your own object around one. */
export interface AdapterHost {
  /** Returns the tools for the model. */
  tools(): readonly Tool[];
  /** Calls a tool. */
  call(name: string, args: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<ShapedResult>;
  /** Returns the tool of a name, also one that a search has not found yet. */
  find?(name: string): Tool | undefined;
  /** Whether a call would need an approval. */
  approvalOf?(
    name: string,
    args?: Readonly<Record<string, unknown>>,
  ): { readonly decision: 'allow' | 'ask' | 'deny' } | undefined;
  /** Returns the problems with the arguments of a call; undefined if there is no such tool. */
  checkArguments?(
    name: string,
    args: Readonly<Record<string, unknown>>,
  ): Promise<readonly string[] | undefined>;
  /** The id of a session; a host has none. */
  readonly id?: string;
  /** Reports that the tools changed. */
  on?(event: 'tools', listener: () => void): Unsubscribe;
}

/** One call as its model made it. */
export interface ModelCall {
  readonly name: string;
  /** The provider's id of the call; empty if it has none. */
  readonly id: string;
}

/** A tool that is not offered, with the reason. The others are not affected. */
export interface QuarantinedTool {
  readonly name: string;
  readonly server: string;
  readonly reason: string;
}

/** Options that every adapter has. */
export interface AdapterOptions {
  /** Called for each progress notification of a call. */
  readonly onProgress?: ((progress: Progress, call: ModelCall) => void) | undefined;
  /** Called once for each tool that is omitted: its schema cannot be converted, or one of your tools has its name. */
  readonly onQuarantine?: ((tool: QuarantinedTool) => void) | undefined;
  /** Cancels every call of this adapter, in addition to the signal of a single call. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The longest time without a response or progress in a call, in milliseconds (default: the server's
   * `toolTimeoutMs`).
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Longer descriptions are truncated (default: no limit; a server's own may have 32,768 characters). Some
   * deployments reject a request with long ones (Azure: 1,024).
   */
  readonly maxDescriptionChars?: number | undefined;
  /**
   * Media types that the model accepts in results: a family of `MEDIA_TYPES`, or types such as `image/png`. Other
   * media is saved as a file, and the model gets a note with its path. The default depends on the adapter.
   */
  readonly media?: MediaFamily | readonly string[] | undefined;
  /**
   * How tools that `tool_search` finds are called. `both` (default): through `call_tool`, which works wherever the
   * list of tools is fixed or copied, and by name where the list is read for each request. `call_tool`: only through
   * it, and the list never changes, which keeps the provider's prompt cache. `name`: only by name.
   */
  readonly found?: 'both' | 'call_tool' | 'name' | undefined;
  /**
   * When the model gets structured content, as JSON. `without-text` (default): if the result has no text, which
   * servers write for models. `always`: in addition to the text, unless the text is the same JSON.
   */
  readonly structuredContent?: 'without-text' | 'always' | undefined;
  /**
   * Whether a result that the model has already is replaced by a short reference, which the tool `result` reads. Default:
   * true for a session, which is one conversation; false for a host, whose conversations are not known.
   */
  readonly deduplicate?: boolean | undefined;
}

/** Options of a single call. */
export interface ExecuteOptions {
  /** Cancels this call, in addition to the adapter's `signal`. */
  readonly signal?: AbortSignal | undefined;
}
