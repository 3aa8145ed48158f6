/** What is told about each handler's run: to a function of the author's, and to OpenTelemetry. */

import type { Params } from '../endpoint/eras.ts';
import type { Context } from './context.ts';

export interface Handled {
  readonly method: string;
  /** Of the tool or prompt; the address of a resource. */
  readonly name: string | undefined;
  readonly context: Context;
}

/** Runs a handler, and tells somebody about it. */
export type Tracing = (handled: Handled, run: () => Promise<Params>) => Promise<Params>;
