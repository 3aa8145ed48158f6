/** Calls of the page that go on when it is reloaded: started without waiting, with their results kept for a while. */

import { randomUUID } from 'node:crypto';
import type { CallOptions } from '../call/call.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { HostSession } from '../host/host-session.ts';
import type { Traffic } from './traffic.ts';

const MAX_KEPT_RESULTS = 50;
const MAX_KEPT_CHARS: number = 64 * 1024 * 1024;

export interface StartedCall {
  readonly id: string;
  readonly key: string;
  readonly ref: string;
}

type Settled = { readonly answer: unknown; readonly chars: number } | { readonly error: PlugboardError };

export interface RequestedCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly options: Pick<CallOptions, 'timeoutMs' | 'ref'>;
}

/** Calls a tool as `/api/call` does, with the answer of that route. */
export async function callForPage(
  session: HostSession,
  { name, args }: Pick<RequestedCall, 'name' | 'args'>,
  options: CallOptions,
): Promise<unknown> {
  let mismatch: readonly string[] | undefined;
  const onMismatch = (problems: readonly string[]): void => {
    mismatch = problems;
  };
  const result = await session.call(name, args, { ...options, onMismatch });
  return mismatch === undefined ? result : { ...result, mismatch };
}

export class BackgroundCalls {
  readonly #session: HostSession;
  readonly #traffic: Traffic;
  /** By id, oldest first; undefined while a call runs. */
  readonly #kept = new Map<string, Settled | undefined>();

  constructor(session: HostSession, traffic: Traffic) {
    this.#session = session;
    this.#traffic = traffic;
  }

  /** Resolves when the call has begun. Rejects if it cannot begin, such as for an unknown tool. */
  start(requested: RequestedCall): Promise<StartedCall> {
    // Another client can choose the same ref: the session decides.
    const ref = requested.options.ref ?? randomUUID();
    return new Promise((resolve, reject) => {
      let id: string | undefined;
      const stop = this.#traffic.on('call.begin', (begun) => {
        if (id !== undefined || begun.ref !== ref || begun.session !== this.#session.id) return;
        id = begun.id;
        this.#kept.set(id, undefined);
        stop();
        resolve({ id, key: this.#traffic.keyOf(id), ref });
      });
      callForPage(this.#session, requested, { ...requested.options, ref })
        .then(
          (answer): Settled => ({ answer, chars: JSON.stringify(answer).length }),
          (thrown: unknown): Settled => ({ error: asPlugboardError(thrown) }),
        )
        .then((settled) => {
          stop();
          if (id !== undefined) this.#keep(id, settled);
          else if ('error' in settled) reject(settled.error);
          else reject(answersAtOnce(requested.name));
        });
    });
  }

  /** Returns how a call ended; `running`, or undefined if it is not kept. */
  resultOf(id: string): Settled | 'running' | undefined {
    return this.#kept.has(id) ? (this.#kept.get(id) ?? 'running') : undefined;
  }

  #keep(id: string, settled: Settled): void {
    this.#kept.delete(id);
    this.#kept.set(id, settled);
    const ended = [...this.#kept].filter(([, each]) => each !== undefined);
    let chars = 0;
    for (const [at, [old, each]] of ended.reverse().entries()) {
      chars += each !== undefined && 'chars' in each ? each.chars : 0;
      if (at >= MAX_KEPT_RESULTS || (chars > MAX_KEPT_CHARS && at > 0)) this.#kept.delete(old);
    }
  }
}

/** A tool of no server, such as tool_search, has no record. */
function answersAtOnce(name: string): PlugboardError {
  return new PlugboardError('USAGE', `${name} cannot be called in the background`, {
    hint: 'Send the request without "wait".',
  });
}
