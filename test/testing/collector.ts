/** A receiver that remembers everything, for tests of transports. */

import { isDeepStrictEqual } from 'node:util';
import type { PlugboardError } from '../../src/errors.ts';
import type { JsonRpcMessage } from '../../src/lib/json-rpc.ts';
import type { Receiver } from '../../src/transport/contract.ts';

export interface Collector extends Receiver {
  readonly messages: JsonRpcMessage[];
  readonly notices: string[];
  readonly losses: { id: unknown; code: string }[];
  /** Every `closed` that came; the contract allows one. */
  readonly endings: (PlugboardError | undefined)[];
  /** Resolves when `count` messages are there. */
  received(count: number): Promise<JsonRpcMessage[]>;
  /** Resolves when the transport has ended, with its error. */
  readonly ended: Promise<PlugboardError | undefined>;
}

export function collector(): Collector {
  const messages: JsonRpcMessage[] = [];
  const notices: string[] = [];
  const losses: { id: unknown; code: string }[] = [];
  const endings: (PlugboardError | undefined)[] = [];
  const waiting = new Set<() => void>();
  let end: (error: PlugboardError | undefined) => void = () => undefined;
  const ended = new Promise<PlugboardError | undefined>((resolve) => {
    end = resolve;
  });
  return {
    messages,
    notices,
    losses,
    endings,
    ended,
    message(message) {
      messages.push(message);
      for (const wake of waiting) wake();
    },
    lost: (id, error) => void losses.push({ id, code: error.code }),
    notice: ({ message }) => void notices.push(message),
    closed(error) {
      endings.push(error);
      end(error);
    },
    async received(count) {
      while (messages.length < count) await new Promise<void>((resolve) => waiting.add(resolve));
      return messages;
    },
  };
}

/** The answer to one request, found by its id. */
export function answerTo(messages: readonly JsonRpcMessage[], id: unknown): JsonRpcMessage | undefined {
  return messages.find(
    (message) => 'id' in message && !('method' in message) && isDeepStrictEqual(message.id, id),
  );
}
