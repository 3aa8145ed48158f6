/**
 * A transport that redacts secrets in errors, notices and messages of the server, and writes the server's log: stderr,
 * log messages, start and end. Everything is redacted before it is logged.
 */

import { TRANSPORTS } from '../config/transport-kinds.ts';
import { asPlugboardError, type PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import type { JsonRpcMessage } from '../lib/json-rpc.ts';
import { type Redact, redactError, redactMessage } from '../lib/redact.ts';
import { type Receiver, SENT, type SendOptions, type Transport } from './contract.ts';
import type { ServerLog } from './server-log.ts';

const LEVEL = /^[a-z]{1,16}$/;

export class ReportedTransport implements Transport {
  readonly kind: Transport['kind'];
  /** Only if the inner transport has it. */
  readonly sendText?: NonNullable<Transport['sendText']>;
  readonly #inner: Transport;
  readonly #log: ServerLog;
  readonly #redact: Redact | undefined;

  /** @param redact undefined if there are no secrets */
  constructor(inner: Transport, log: ServerLog, redact: Redact | undefined) {
    this.kind = inner.kind;
    this.#inner = inner;
    this.#log = log;
    this.#redact = redact;
    if (inner.sendText !== undefined)
      this.sendText = (message, options) => this.#safely(inner.sendText?.(message, options) ?? SENT);
  }

  /** Read on each access: it depends on the protocol version, which is negotiated after the transport is created. */
  get streamPerRequest(): boolean {
    return this.#inner.streamPerRequest;
  }

  get pid(): number | undefined {
    return this.#inner.pid;
  }

  get aheadMs(): number | undefined {
    return this.#inner.aheadMs;
  }

  async start(): Promise<void> {
    await this.#inner.start?.();
  }

  async open(receiver: Receiver, signal?: AbortSignal): Promise<void> {
    const redact = this.#redact;
    const wrapped: Receiver = {
      message: (given) => {
        const message = redact === undefined ? given : redactMessage(given, redact);
        if ('method' in message && message.method === 'notifications/message') this.#message(message);
        receiver.message(message);
      },
      lost: (id, error) => receiver.lost(id, this.#safe(error)),
      closed: (given) => {
        const error = given === undefined ? undefined : this.#safe(given);
        this.#write('plugboard', error === undefined ? 'ended' : error.message);
        this.#log.flush();
        receiver.closed(error);
      },
      notice: ({ level, message: given }) => {
        const message = this.#text(given);
        // Lines of stderr are the notices with the lowest level.
        this.#write(level === 'debug' ? 'stderr' : 'plugboard', message);
        receiver.notice({ level, message });
      },
    };
    try {
      await this.#inner.open(wrapped, signal);
      this.#write('plugboard', TRANSPORTS[this.kind].hasProcess ? 'started' : 'opened');
    } catch (thrown) {
      const error = this.#safe(thrown);
      this.#write('plugboard', error.message);
      this.#log.flush();
      throw error;
    }
  }

  send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    return this.#safely(this.#inner.send(message, options));
  }

  stderr(): string {
    return this.#text(this.#inner.stderr?.() ?? '');
  }

  noise(): string | undefined {
    const noise = this.#inner.noise?.();
    return noise === undefined ? undefined : this.#text(noise);
  }

  negotiated(protocolVersion: string): void {
    this.#inner.negotiated(protocolVersion);
  }

  async close(): Promise<void> {
    await this.#inner.close();
    this.#log.flush();
  }

  #safely(sent: Promise<void>): Promise<void> {
    if (this.#redact === undefined || sent === SENT) return sent;
    return sent.catch((thrown) => Promise.reject(this.#safe(thrown)));
  }

  #safe(thrown: unknown): PlugboardError {
    const error = asPlugboardError(thrown);
    return this.#redact === undefined ? error : redactError(error, this.#redact);
  }

  #text(text: string): string {
    return this.#redact === undefined ? text : this.#redact(text);
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
