/** The interface of the gateway's own tools, in addition to those of its servers. */

import type { SessionOptions } from '../call/session.ts';
import type { Tool } from '../catalog/tool.ts';
import type { Progress } from '../connection/peer.ts';
import type { Params } from '../endpoint/client-era.ts';

export interface OwnCall {
  readonly arguments: Params;
  /** The caller, as far as it was authenticated. */
  readonly principal: string;
  readonly signal: AbortSignal;
  /** Callbacks that ask the person behind this request. */
  readonly questions: SessionOptions;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  /** Sends a log message about this request, to clients that requested log messages. */
  log(data: unknown): void;
}

export interface OwnTool {
  readonly definition: Omit<Tool, 'server' | 'tool' | 'deferred'>;
  /** Returns a result of `tools/call`; the model receives the text of a rejection. */
  call(call: OwnCall): Promise<Params>;
}
