/** Accepts connections of other replicas, and handles the requests that they forward. */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:tls';
import type { ForwardHandler, McpResponse } from '../endpoint/replicas.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import type { ClusterKeys } from './cluster-keys.ts';
import { FRAME, type Frame, frameOf, PART_BYTES, splitHead, withHead } from './link-frames.ts';
import { LinkSocket } from './link-socket.ts';
import { LINK_TLS } from './replica-links.ts';

/** A connection with more unread bytes than this counts as full for the streams on it. */
const MAX_BACKLOG_BYTES: number = 64 * 1024 * 1024;

/** The response to a forwarded request, which is sent to the replica that has the client's connection. */
class ForwardedResponse implements McpResponse {
  readonly #socket: LinkSocket;
  readonly #stream: number;
  readonly #done: () => void;
  readonly #headers: Record<string, string | number> = {};
  readonly #onClose: (() => void)[] = [];
  #status = 200;
  #isSent = false;
  #isOver = false;

  constructor(socket: LinkSocket, stream: number, done: () => void) {
    this.#socket = socket;
    this.#stream = stream;
    this.#done = done;
  }

  get writableLength(): number {
    return this.#socket.backlog > MAX_BACKLOG_BYTES ? this.#socket.backlog : 0;
  }

  setHeader(name: string, value: string): void {
    this.#headers[name] = value;
  }

  writeHead(status: number, headers: Readonly<Record<string, string | number>> = {}): this {
    this.#status = status;
    Object.assign(this.#headers, headers);
    return this;
  }

  flushHeaders(): void {
    if (this.#isSent || this.#isOver) return;
    this.#isSent = true;
    this.#send(FRAME.head, withHead([this.#status, this.#headers], NOTHING));
  }

  write(text: string): void {
    if (this.#isOver) return;
    this.flushHeaders();
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += PART_BYTES)
      this.#send(FRAME.data, bytes.subarray(at, at + PART_BYTES));
  }

  end(text = ''): void {
    if (this.#isOver) return;
    if (!this.#isSent && text.length < PART_BYTES) {
      this.#send(FRAME.whole, withHead([this.#status, this.#headers], Buffer.from(text)));
    } else {
      this.write(text);
      this.#send(FRAME.end, NOTHING);
    }
    this.#over();
  }

  destroy(): void {
    if (this.#isOver) return;
    this.#send(FRAME.abort, NOTHING);
    this.#over();
  }

  on(_event: 'close', listener: () => void): void {
    this.#onClose.push(listener);
  }

  /** Handles the end of the client's connection, or of that to its replica. */
  dropped(): void {
    if (!this.#isOver) this.#over();
  }

  #send(type: number, payload: Uint8Array): void {
    this.#socket.send(frameOf(type, this.#stream, payload));
  }

  #over(): void {
    this.#isOver = true;
    this.#done();
    for (const listener of this.#onClose) listener();
  }
}

const NOTHING: Buffer = Buffer.alloc(0);

export class ReplicaListener {
  readonly #server: Server;
  readonly #sockets = new Set<LinkSocket>();
  #handler: ForwardHandler | undefined;
  #isLeaving = false;

  constructor(keys: ClusterKeys, replica: string) {
    this.#server = createServer(
      {
        ...LINK_TLS,
        pskCallback: (_socket, identity) => {
          // An address can be reused: the identity names the replica that is meant.
          const [id, meant] = identity.split(':');
          return meant === replica ? (keys.linkKeys.find((each) => each.id === id)?.key ?? null) : null;
        },
      },
      (socket) => {
        const responses = new Map<number, ForwardedResponse>();
        const link: LinkSocket = new LinkSocket(socket, {
          received: (frame) => this.#received(link, responses, frame),
          closed: () => {
            this.#sockets.delete(link);
            for (const response of [...responses.values()]) response.dropped();
          },
        });
        this.#sockets.add(link);
      },
    );
    this.#server.on('tlsClientError', () => {});
  }

  /** Returns the port. */
  async listen(host: string, port: number): Promise<number> {
    this.#server.listen(port, host);
    try {
      await once(this.#server, 'listening');
    } catch (cause) {
      throw new PlugboardError('START_FAILED', `Cannot listen for other replicas on ${host}, port ${port}`, {
        hint: 'Set PLUGBOARD_CLUSTER_ADDRESS to an address of this machine that other replicas reach.',
        cause,
      });
    }
    // A listening TCP server has an address with a port.
    return (this.#server.address() as AddressInfo).port;
  }

  accept(handler: ForwardHandler): void {
    this.#handler = handler;
  }

  /** Refuses new requests; those that run continue. */
  leave(): void {
    this.#isLeaving = true;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.close();
  }

  #received(link: LinkSocket, responses: Map<number, ForwardedResponse>, frame: Frame): void {
    const { type, stream, payload } = frame;
    if (type === FRAME.abort) responses.get(stream)?.dropped();
    if (type !== FRAME.open) return;
    if (this.#handler === undefined || this.#isLeaving) {
      link.send(frameOf(FRAME.closing, stream));
      return;
    }
    const { head, bytes } = splitHead(payload);
    const [method, principal, headers] = Array.isArray(head) ? head : [];
    const response = new ForwardedResponse(link, stream, () => responses.delete(stream));
    responses.set(stream, response);
    if (typeof method !== 'string' || typeof principal !== 'string' || !isRecord(headers)) {
      response.destroy();
      return;
    }
    const request = { method, principal, headers: headers as Record<string, string>, body: bytes };
    const refused = (isHandled: boolean): void => {
      if (isHandled) return;
      responses.delete(stream);
      link.send(frameOf(FRAME.closing, stream));
    };
    const handled = this.#handler(request, response);
    if (typeof handled === 'boolean') refused(handled);
    else void handled.then(refused);
  }
}
