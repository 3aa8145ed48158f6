/**
 * Connections to other replicas, one for each, which carry any number of requests.
 *
 * TLS with a key of the cluster authenticates both sides and encrypts calls, once for each connection: a signature for
 * each request would leave bodies readable and would have to remember nonces.
 */

import { connect, type TLSSocket } from 'node:tls';
import type { ForwardedRequest, ForwardReceiver, Peer } from '../endpoint/replicas.ts';
import { isRecord } from '../lib/json.ts';
import type { ClusterKeys } from './cluster-keys.ts';
import { FRAME, type Frame, frameOf, splitHead, withHead } from './link-frames.ts';
import { LinkSocket } from './link-socket.ts';

const CONNECT_MS = 2_000;
const MAX_STREAM = 0xff_ff_ff_ff;

/** TLS 1.3 has other pre-shared keys, which Node does not offer. */
export const LINK_TLS = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const;

/** One open connection. */
class Link {
  readonly #socket: LinkSocket;
  readonly #receivers = new Map<number, ForwardReceiver>();
  #last = 0;

  constructor(socket: TLSSocket, closed: () => void) {
    this.#socket = new LinkSocket(socket, {
      received: (frame) => this.#received(frame),
      closed: () => {
        closed();
        const receivers = [...this.#receivers.values()];
        this.#receivers.clear();
        for (const receiver of receivers) receiver.lost();
      },
    });
  }

  get isClosed(): boolean {
    return this.#socket.isClosed;
  }

  open({ method, headers, principal, body }: ForwardedRequest, receiver: ForwardReceiver): () => void {
    this.#last = this.#last === MAX_STREAM ? 1 : this.#last + 1;
    const stream = this.#last;
    this.#receivers.set(stream, receiver);
    this.#socket.send(frameOf(FRAME.open, stream, withHead([method, principal, headers], body)));
    return () => {
      if (this.#receivers.delete(stream)) this.#socket.send(frameOf(FRAME.abort, stream));
    };
  }

  close(): void {
    this.#socket.close();
  }

  #received({ type, stream, payload }: Frame): void {
    const receiver = this.#receivers.get(stream);
    if (receiver === undefined) return;
    switch (type) {
      case FRAME.whole:
      case FRAME.head: {
        const { head, bytes } = splitHead(payload);
        const [status, headers] = Array.isArray(head) ? head : [];
        receiver.head(Number(status), isRecord(headers) ? (headers as Record<string, string>) : {});
        if (bytes.length > 0) receiver.data(bytes);
        if (type === FRAME.whole) this.#end(stream, receiver);
        break;
      }
      case FRAME.data:
        receiver.data(payload);
        break;
      case FRAME.end:
        this.#end(stream, receiver);
        break;
      case FRAME.closing:
        this.#receivers.delete(stream);
        receiver.unsent();
        break;
      case FRAME.abort:
        this.#receivers.delete(stream);
        receiver.lost();
        break;
    }
  }

  #end(stream: number, receiver: ForwardReceiver): void {
    this.#receivers.delete(stream);
    receiver.end();
  }
}

export class ReplicaLinks {
  readonly #keys: ClusterKeys;
  readonly #links = new Map<string, Link>();
  readonly #opening = new Map<string, Promise<Link | undefined>>();
  #isClosed = false;

  constructor(keys: ClusterKeys) {
    this.#keys = keys;
  }

  /** True if a connection to a replica is open. */
  has(id: string): boolean {
    return this.#links.has(id);
  }

  send(peer: Peer, request: ForwardedRequest, receiver: ForwardReceiver): () => void {
    const link = this.#links.get(peer.id);
    if (link !== undefined && !link.isClosed) return link.open(request, receiver);
    let cancel: (() => void) | undefined;
    let isCancelled = false;
    void this.#open(peer).then((opened) => {
      if (isCancelled) return;
      if (opened === undefined) receiver.unsent();
      else cancel = opened.open(request, receiver);
    });
    return () => {
      isCancelled = true;
      cancel?.();
    };
  }

  close(): void {
    this.#isClosed = true;
    for (const link of this.#links.values()) link.close();
  }

  #open(peer: Peer): Promise<Link | undefined> {
    const opening =
      this.#opening.get(peer.id) ?? this.#connect(peer).finally(() => this.#opening.delete(peer.id));
    this.#opening.set(peer.id, opening);
    return opening;
  }

  async #connect({ id, address }: Peer): Promise<Link | undefined> {
    // A replica that was not restarted yet knows only the old key.
    for (const { id: identity, key } of this.#keys.linkKeys) {
      const socket = await connected(address, `${identity}:${id}`, key);
      if (socket === undefined) continue;
      const link = new Link(socket, () => {
        if (this.#links.get(id) === link) this.#links.delete(id);
      });
      if (this.#isClosed) link.close();
      else this.#links.set(id, link);
      return link;
    }
    return undefined;
  }
}

/** Returns undefined if the replica cannot be reached, or does not know the key. */
function connected(address: string, identity: string, psk: Buffer): Promise<TLSSocket | undefined> {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  return new Promise((resolve) => {
    const socket = connect({
      ...LINK_TLS,
      host,
      port: Number(address.slice(colon + 1)),
      pskCallback: () => ({ psk, identity }),
      // Both sides prove that they have the key; there is no certificate.
      checkServerIdentity: () => undefined,
    });
    const failed = (): void => {
      socket.destroy();
      resolve(undefined);
    };
    const timer = setTimeout(failed, CONNECT_MS);
    socket.once('error', failed);
    socket.once('close', failed);
    socket.once('secureConnect', () => {
      clearTimeout(timer);
      socket.off('error', failed).off('close', failed);
      resolve(socket);
    });
  });
}
