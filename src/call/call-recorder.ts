/** The interface that receives every call of a host with its values: for the page, and for the history of calls. */

import type { PlugboardError } from '../errors.ts';
import type { Call } from './call.ts';
import type { Outcome } from './observe.ts';
import type { ShapedResult } from './shape.ts';

export interface CallEnd {
  readonly outcome: Outcome;
  readonly ms: number;
  /** One of both. */
  readonly result?: ShapedResult | undefined;
  readonly error?: PlugboardError | undefined;
}

export interface CallRecorder {
  /** `at`: milliseconds since the epoch. */
  begun(call: Call, at: number): void;
  ended(call: Call, at: number, end: CallEnd): void;
}
