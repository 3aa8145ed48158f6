/** A transport that writes the server's log: stderr, log messages, start and end. Its input is already redacted. */

import { TRANSPORTS } from '../config/transport-kinds.ts';
import { asPlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import type { JsonRpcMessage } from '../lib/json-rpc.ts';
import type { Receiver, SendOptions, Transport } from './contract.ts';
import type { ServerLog } from './server-log.ts';

const LEVEL = /^[a-z]{1,16}$/;

export class LoggedTransport implements Transport {
  readonly kind: Transport['kind'];
  readonly #inner: Transport;
  readonly #log: ServerLog;

  constructor(inner: Transport, log: ServerLog) {
    this.kind = inner.kind;
    this.#inner = inner;
    this.#log = log;
  }

  get streamPerRequest(): boolean {
    return this.#inner.streamPerRequest;
  }

  get pid(): number | undefined {
    return this.#inner.pid;
  }

  async open(receiver: Receiver, signal?: AbortSignal): Promise<void> {
    const wrapped: Receiver = {
      message: (message) => {
        if ('method' in message && message.method === 'notifications/message') this.#message(message);
        receiver.message(message);
      },
      lost: (id, error) => receiver.lost(id, error),
      closed: (error) => {
        this.#write('plugboard', error === undefined ? 'ended' : error.message);
        this.#log.flush();
        receiver.closed(error);
      },
      notice: (notice) => {
        // Lines of stderr are the notices with the lowest level.
        this.#write(notice.level === 'debug' ? 'stderr' : 'plugboard', notice.message);
        receiver.notice(notice);
      },
    };
    try {
      await this.#inner.open(wrapped, signal);
      this.#write('plugboard', TRANSPORTS[this.kind].hasProcess ? 'started' : 'opened');
    } catch (thrown) {
      this.#write('plugboard', asPlugboardError(thrown).message);
      this.#log.flush();
      throw thrown;
    }
  }

  send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    return this.#inner.send(message, options);
  }

  stderr(): string {
    return this.#inner.stderr?.() ?? '';
  }

  noise(): string | undefined {
    return this.#inner.noise?.();
  }

  negotiated(protocolVersion: string): void {
    this.#inner.negotiated(protocolVersion);
  }

  async close(): Promise<void> {
    await this.#inner.close();
    this.#log.flush();
  }

  #message(message: JsonRpcMessage): void {
    const params = 'params' in message && isRecord(message.params) ? message.params : {};
    const { level, logger, data } = params;
    const kind = typeof level === 'string' && LEVEL.test(level) ? level : 'info';
    const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
    this.#write(kind, typeof logger === 'string' ? `${logger}: ${text}` : text);
  }

  #write(kind: string, text: string): void {
    this.#log.add(kind, this.#inner.pid, text);
  }
}
