/** Tools of the gateway itself, beside those of its servers: what one is, and what it is given to work with. */

import type { SessionOptions } from '../call/session.ts';
import type { Tool } from '../catalog/tool.ts';
import type { Progress } from '../connection/peer.ts';
import type { Params } from '../endpoint/eras.ts';

export interface OwnCall {
  readonly arguments: Params;
  /** Who called, as far as it was proven. */
  readonly principal: string;
  readonly signal: AbortSignal;
  /** How the person behind this very request is asked. */
  readonly questions: SessionOptions;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  /** Tells the client something about this request: a log message, for clients that want such. */
  log(data: unknown): void;
}

export interface OwnTool {
  readonly definition: Omit<Tool, 'server' | 'tool' | 'deferred'>;
  /** Answers with a result of `tools/call`; what it rejects with is told to the model. */
  call(call: OwnCall): Promise<Params>;
}
