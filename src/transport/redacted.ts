/** A transport that redacts secrets in errors, notices and messages of the server. */

import { asPlugboardError } from '../errors.ts';
import type { JsonRpcMessage } from '../lib/json-rpc.ts';
import type { Redact } from '../lib/redact.ts';
import { redactError, redactMessage } from '../lib/redact.ts';
import type { Receiver, SendOptions, Transport } from './contract.ts';

export class RedactedTransport implements Transport {
  readonly kind: Transport['kind'];
  readonly #inner: Transport;
  readonly #redact: Redact;

  constructor(inner: Transport, redact: Redact) {
    this.kind = inner.kind;
    this.#inner = inner;
    this.#redact = redact;
  }

  /** Read on each access: it depends on the protocol version, which is negotiated after the transport is created. */
  get streamPerRequest(): boolean {
    return this.#inner.streamPerRequest;
  }

  get pid(): number | undefined {
    return this.#inner.pid;
  }

  async open(receiver: Receiver, signal?: AbortSignal): Promise<void> {
    const redact = this.#redact;
    const wrapped: Receiver = {
      message: (message) => receiver.message(redactMessage(message, redact)),
      lost: (id, error) => receiver.lost(id, redactError(error, redact)),
      closed: (error) => receiver.closed(error === undefined ? undefined : redactError(error, redact)),
      notice: ({ level, message }) => receiver.notice({ level, message: redact(message) }),
    };
    try {
      await this.#inner.open(wrapped, signal);
    } catch (thrown) {
      throw this.#safe(thrown);
    }
  }

  async send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    try {
      await this.#inner.send(message, options);
    } catch (thrown) {
      throw this.#safe(thrown);
    }
  }

  stderr(): string {
    return this.#redact(this.#inner.stderr?.() ?? '');
  }

  noise(): string | undefined {
    const noise = this.#inner.noise?.();
    return noise === undefined ? undefined : this.#redact(noise);
  }

  negotiated(protocolVersion: string): void {
    this.#inner.negotiated(protocolVersion);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #safe(thrown: unknown): Error {
    return redactError(asPlugboardError(thrown), this.#redact);
  }
}
