/** The HTTP+SSE transport of 2024-11-05, for older clients: one event stream down, posts up. */

import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import { type JsonRpcMessage, messageText } from '../lib/json-rpc.ts';
import type { Backend } from './backend.ts';
import { ClientConnection } from './client-connection.ts';
import { refuse } from './http-mcp.ts';
import { readBody } from './request-body.ts';

const STREAM_PATH = '/sse';
const POST_PATH = '/messages';
const MAX_STREAMS = 1_000;
const KEEP_ALIVE_MS = 15_000;
/** A client with more unread bytes than this is disconnected. */
const MAX_UNREAD_BYTES: number = 16 * 1024 * 1024;

interface Stream {
  readonly clientConnection: ClientConnection;
  readonly response: ServerResponse;
  send(message: JsonRpcMessage): boolean;
}

export class LegacySse {
  readonly #backend: Backend;
  readonly #streams = new Map<string, Stream>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(backend: Backend) {
    this.#backend = backend;
    this.#sweeper = setInterval(() => {
      for (const { response } of this.#streams.values())
        if (!response.writableEnded) response.write(': still here\n\n');
    }, KEEP_ALIVE_MS);
    this.#sweeper.unref();
  }

  handles(path: string): boolean {
    return path === STREAM_PATH || path === POST_PATH;
  }

  handle(request: IncomingMessage, response: ServerResponse, principal: string): void {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === STREAM_PATH && request.method === 'GET') {
      this.#open(response, principal);
      return;
    }
    if (pathname === POST_PATH && request.method === 'POST') {
      const stream = this.#streams.get(searchParams.get('sessionId') ?? '');
      if (stream?.clientConnection.principal !== principal) {
        refuse(response, 404, 'This session is not known here');
        return;
      }
      readBody(request, (body) => {
        if (!('value' in body)) return refuse(response, body.status, 'The body is not usable');
        response.writeHead(202).end('Accepted');
        const { value } = body;
        if (isRecord(value)) this.#received(stream, value);
      });
      return;
    }
    refuse(response, 405, 'HTTP+SSE does not use this method');
  }

  /** Ends the streams of one principal and their work; requests are answered with the reason. */
  dismiss(principal: string, reason: PlugboardError): void {
    const error = this.#backend.failureOf(reason, 'legacy').toJSON();
    for (const { clientConnection, response, send } of this.#streams.values()) {
      if (clientConnection.principal !== principal) continue;
      for (const { id } of clientConnection.works()) send({ jsonrpc: '2.0', id, error });
      response.end();
      clientConnection.close(reason);
    }
  }

  close(): void {
    clearInterval(this.#sweeper);
    for (const { response } of this.#streams.values()) response.end();
  }

  #open(response: ServerResponse, principal: string): void {
    if (this.#streams.size >= MAX_STREAMS) {
      refuse(response, 503, 'There are too many streams');
      return;
    }
    const id = randomUUID();
    const send = (message: JsonRpcMessage): boolean => {
      if (response.destroyed || response.writableEnded) return false;
      response.write(`event: message\ndata: ${messageText(message)}\n\n`);
      if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
      return true;
    };
    const clientConnection = new ClientConnection(this.#backend, {
      principal,
      stateless: false,
      broadcast: send,
    });
    this.#streams.set(id, { clientConnection, response, send });
    response.once('close', () => {
      this.#streams.delete(id);
      clientConnection.close(new PlugboardError('CANCELLED', 'The client disconnected'));
    });
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
    });
    response.write(`event: endpoint\ndata: ${POST_PATH}?sessionId=${id}\n\n`);
  }

  #received({ clientConnection, send }: Stream, frame: Record<string, unknown>): void {
    void clientConnection.receive(frame, { send, onGone: undefined })?.then((answer) => {
      if (answer !== undefined) send(answer);
    });
  }
}
