/** One caller of a host: what it is shown, what it may do without asking, and where its questions go. */

import type { CallOptions } from './call/call.ts';
import type { Session } from './call/session.ts';
import type { ShapedResult } from './call/shape.ts';
import { visibleTools } from './catalog/deferral.ts';
import type { Tool } from './catalog/tool.ts';
import type { HostCore } from './host-core.ts';
import type { Cancellable } from './lib/cancellation.ts';

/** Use `host.session()`. It owns nothing that has to be closed: what it was allowed ends with it. */
export class HostSession {
  readonly #core: HostCore;
  readonly #session: Session;

  constructor(core: HostCore, session: Session) {
    this.#core = core;
    this.#session = session;
  }

  get id(): string {
    return this.#session.id;
  }

  /** What this caller's model should be given now, in stable order; what it has found comes last. */
  tools(): readonly Tool[] {
    return visibleTools(this.#core.deferral(), this.#session.loaded);
  }

  /** Every tool there is, deferred or not: for people, who are not short of context. */
  allTools(): readonly Tool[] {
    return this.#core.catalog.snapshot.tools;
  }

  /** What a server asks while it does this work is asked of this caller, as it is during a call. */
  async during<T>(server: string, asking: Cancellable, work: () => Promise<T>): Promise<T> {
    const { inFlight } = this.#core;
    const own = { ...asking, session: this.#session };
    inFlight.begin(server, own);
    try {
      return await work();
    } finally {
      inFlight.end(server, own);
    }
  }

  call(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
    options: CallOptions = {},
  ): Promise<ShapedResult> {
    const { signal, cancellation, onProgress, timeoutMs } = options;
    return this.#core.pipeline({
      id: this.#core.nextCallId(),
      name,
      arguments: args,
      session: this.#session,
      signal,
      cancellation,
      onProgress,
      timeoutMs,
    });
  }
}
