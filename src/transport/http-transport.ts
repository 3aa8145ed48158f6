/** The streamable HTTP transport, for both eras: one POST per message, responses as JSON or as an event stream. */

import type { Credentials } from '../auth/credentials.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/json.ts';
import type { JsonRpcMessage, RequestId } from '../lib/json-rpc.ts';
import { backoffMs, decideRetry } from '../lib/retry.ts';
import type { Receiver, SendOptions, Transport } from './contract.ts';
import { EventStream, eventFrames } from './event-stream.ts';
import { notMcp, sessionExpired, statusError } from './http-errors.ts';
import { cancelled, type Exchange, type Head, parseFrames, readBody, readText } from './http-exchange.ts';
import {
  appendForeign,
  appendMirrored,
  claimedVersion,
  headerValue,
  isModern,
  mediaType,
} from './http-headers.ts';
import { HTTP_LIMITS, type HttpLimits } from './http-limits.ts';
import { type Response, readFailed, request } from './http-request.ts';
import type { Exit } from './http-sockets.ts';
import { closedError, Wire } from './http-wire.ts';

export interface HttpTransportOptions {
  readonly url: URL;
  readonly clock: Clock;
  /** Credentials for the server; without them no authorization headers are sent. */
  readonly credentials?: Credentials | undefined;
  readonly limits?: Partial<HttpLimits> | undefined;
  readonly exit?: Exit | undefined;
}

const SESSION_ID = /^[!-~]+$/;

/** Creates a transport that sends nothing before its first message. Its server may be of either era. */
export function createHttpTransport(options: HttpTransportOptions): Transport {
  return new HttpTransport(options);
}

class HttpTransport implements Transport {
  readonly kind = 'http';
  readonly pid = undefined;
  readonly #wire: Wire;
  readonly #path: string;
  readonly #credentials: Credentials | undefined;
  #state: 'new' | 'open' | 'closed' = 'new';
  #receiver: Receiver | undefined;
  #closing: Promise<void> | undefined;
  #version: string | undefined;
  #session: string | undefined;
  #sessionWorked = false;
  #listening = false;

  constructor(options: HttpTransportOptions) {
    const limits = { ...HTTP_LIMITS, ...options.limits };
    const { url, clock, exit } = options;
    this.#wire = new Wire({ url, clock, limits, exit });
    this.#path = `${options.url.pathname}${options.url.search}`;
    this.#credentials = options.credentials;
  }

  /** Since 2026-07-28 closing a request's stream cancels it. */
  get streamPerRequest(): boolean {
    return this.#version !== undefined && isModern(this.#version);
  }

  async open(receiver: Receiver): Promise<void> {
    if (this.#state !== 'new') throw new PlugboardError('INTERNAL', 'A transport is opened once');
    this.#receiver = receiver;
    this.#state = 'open';
    await this.#wire.open();
  }

  negotiated(protocolVersion: string): void {
    this.#version = protocolVersion;
    if (isModern(protocolVersion)) this.#session = undefined;
  }

  async send(message: JsonRpcMessage, options: SendOptions = {}): Promise<void> {
    const receiver = this.#receiver;
    if (this.#state !== 'open' || !receiver) throw closedError({ notSent: true });
    const id = requestId(message);
    const { signal } = options;
    const opening = isMethod(message, 'initialize');
    if (opening) this.#session = undefined;
    const response = await request(
      this.#wire,
      {
        method: 'POST',
        path: this.#path,
        headers: this.#postHeaders(message, options),
        body: JSON.stringify(message),
        answerMs: id === undefined ? this.#wire.limits.headersMs : undefined,
        signal,
      },
      this.#credentials,
    );
    const { head, exchange } = response;
    if (head.status > 299) return this.#refused(response, id, signal);
    if (opening) this.#keepSession(head);
    else if (id !== undefined) this.#sessionWorked = true;
    if (id === undefined) {
      void readText(exchange);
      if (isMethod(message, 'notifications/initialized')) this.#listen(receiver);
      return;
    }
    const type = mediaType(head.headers);
    if (type === 'application/json') await this.#answer(exchange, id, receiver);
    else if (type !== 'text/event-stream') throw this.#noAnswer(response, type);
    else {
      const modern = isModern(claimedVersion(message) ?? this.#version ?? '');
      this.#follow(exchange, id, receiver, { signal, resumable: !modern }).catch((error) =>
        receiver.lost(id, asPlugboardError(error)),
      );
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const opened = this.#state === 'open';
    this.#state = 'closed';
    this.#wire.abortAll();
    if (opened && this.#session !== undefined) {
      await Promise.race([this.#endSession().catch(() => {}), this.#wire.pause(this.#wire.limits.closeMs)]);
    }
    await this.#wire.close();
    this.#receiver?.closed();
  }

  /** Best effort: a server that does not let clients end sessions responds with 405. */
  async #endSession(): Promise<void> {
    const headers = this.#headers(undefined);
    const line = { method: 'DELETE', url: new URL(this.#path, this.#wire.url).href };
    appendForeign(headers, (await this.#credentials?.headers(undefined, line)) ?? {});
    const answerMs = this.#wire.limits.closeMs;
    const exchange = this.#wire.start({ method: 'DELETE', path: this.#path, headers, answerMs });
    await exchange.head;
    await readText(exchange);
  }

  #headers(version: string | undefined): string[] {
    const headers = ['user-agent', 'plugboard', 'accept-encoding', 'identity'];
    const spoken = version ?? this.#version;
    if (spoken !== undefined) headers.push('mcp-protocol-version', spoken);
    if (this.#session !== undefined) headers.push('mcp-session-id', this.#session);
    return headers;
  }

  #postHeaders(message: JsonRpcMessage, options: SendOptions): string[] {
    const claimed = claimedVersion(message);
    const headers = this.#headers(claimed);
    headers.push('content-type', 'application/json', 'accept', 'application/json, text/event-stream');
    if (claimed !== undefined && isModern(claimed)) appendMirrored(headers, message);
    if (options.headers) appendForeign(headers, options.headers);
    return headers;
  }

  #keepSession(head: Head): void {
    const session = headerValue(head.headers, 'mcp-session-id');
    if (session !== undefined && SESSION_ID.test(session)) this.#session = session;
  }

  /** Handles a status outside 200–299: delivers the body if it is the response, else throws an error. */
  async #refused(
    response: Response,
    id: RequestId | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const failed = await readFailed(response);
    if (signal?.aborted) throw cancelled(signal);
    const context = {
      host: this.#wire.url.host,
      session: this.#session !== undefined,
      sessionWorked: this.#sessionWorked,
      now: this.#wire.clock.now(),
    };
    const isAccess = failed.status === 401 || failed.status === 403;
    if (id !== undefined && !isAccess && !sessionExpired(failed, context)) {
      const frames = parseFrames(failed.body) ?? [];
      const answer = frames.find((frame) => isAnswerTo(frame, id) && 'error' in frame);
      if (answer) return this.#receiver?.message(answer);
    }
    throw statusError(failed, context);
  }

  /** Reads a whole JSON body and delivers it. */
  async #answer(exchange: Exchange, id: RequestId, receiver: Receiver): Promise<void> {
    const body = await readBody(exchange, this.#wire.limits.maxBodyBytes);
    const frames = parseFrames(body.toString('utf8'));
    if (!frames) throw new PlugboardError('PROTOCOL_ERROR', "The server's answer is not a JSON-RPC message");
    let answered = false;
    for (const frame of frames) {
      answered ||= isAnswerTo(frame, id);
      receiver.message(frame);
    }
    if (answered) return;
    const reason = frames.find((frame) => 'error' in frame && isRecord(frame.error));
    throw new PlugboardError('PROTOCOL_ERROR', 'The server answered, but not this request', {
      detail: reason && 'error' in reason ? { rpcCode: reason.error.code, rpcData: reason.error.data } : {},
    });
  }

  #noAnswer(response: Response, type: string): PlugboardError {
    const { head, exchange } = response;
    const error =
      head.status === 202 || head.status === 204
        ? new PlugboardError(
            'PROTOCOL_ERROR',
            `The server took the request and gave no answer (HTTP ${head.status})`,
          )
        : notMcp(
            this.#wire.url.host,
            type === '' ? 'its answer has no type' : `it answered with ${type}`,
            head.status,
          );
    exchange.abort(error);
    return error;
  }

  /** Reads a request's event stream, over as many connections as necessary, until it is answered or lost. */
  async #follow(
    first: Exchange,
    id: RequestId,
    receiver: Receiver,
    options: { readonly signal: AbortSignal | undefined; readonly resumable: boolean },
  ): Promise<void> {
    const { limits } = this.#wire;
    const { signal } = options;
    let exchange = first;
    let answered = false;
    const stream = new EventStream(limits, (event) => {
      for (const frame of eventFrames(event, receiver)) {
        answered ||= isAnswerTo(frame, id);
        receiver.message(frame);
      }
      if (answered) exchange.endWithin(limits.lingerMs);
    });
    const done = (): boolean => answered || this.#state !== 'open' || signal?.aborted === true;
    let broken = await stream.read(exchange);
    for (let tries = 0; !done(); tries = stream.news ? 0 : tries + 1) {
      const resumable = options.resumable && stream.lastEventId !== undefined && tries < limits.maxResumes;
      if (!resumable || (broken && decideRetry('stream', broken) === 'fail')) {
        receiver.lost(id, lostError(broken, this.#wire.url.host));
        return;
      }
      await this.#wire.pause(stream.retryMs ?? resumeDelay(limits, tries), { signal, hold: true });
      if (done()) return;
      try {
        exchange = await this.#openStream(stream.lastEventId, signal);
        broken = await stream.read(exchange);
      } catch (error) {
        broken = asPlugboardError(error);
        stream.silent();
      }
    }
  }

  /** Opens the stream for server messages; a server may not have one. */
  #listen(receiver: Receiver): void {
    if (this.#listening || this.streamPerRequest) return;
    this.#listening = true;
    const open = (lastEventId: string | undefined): Promise<Exchange> =>
      this.#openStream(lastEventId, undefined);
    void listen(this.#wire, open, receiver, () => this.#state === 'open');
  }

  async #openStream(lastEventId: string | undefined, signal: AbortSignal | undefined): Promise<Exchange> {
    const headers = this.#headers(undefined);
    headers.push('accept', 'text/event-stream');
    if (lastEventId !== undefined) headers.push('last-event-id', asHeaderBytes(lastEventId));
    const response = await request(
      this.#wire,
      { method: 'GET', path: this.#path, headers, answerMs: this.#wire.limits.headersMs, signal },
      this.#credentials,
    );
    if (response.head.status > 299) await this.#refused(response, undefined, signal);
    const type = mediaType(response.head.headers);
    if (type !== 'text/event-stream') throw this.#noAnswer(response, type);
    return response.exchange;
  }
}

/** Event ids may contain any character; headers carry them as UTF-8, which undici writes byte by byte. */
function asHeaderBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

function requestId(message: JsonRpcMessage): RequestId | undefined {
  return 'method' in message && 'id' in message ? message.id : undefined;
}

function isMethod(message: JsonRpcMessage, method: string): boolean {
  return 'method' in message && message.method === method;
}

function isAnswerTo(frame: JsonRpcMessage, id: RequestId): boolean {
  return 'id' in frame && frame.id === id && !('method' in frame);
}

/**
 * Returns the error for a response that was lost. The server had received the request, so details of a failed resume
 * (not sent, session expired) must not make it look safe to repeat.
 */
function lostError(broken: PlugboardError | undefined, host: string): PlugboardError {
  if (broken && decideRetry('stream', broken) === 'fail' && !broken.detail.sessionExpired) return broken;
  return new PlugboardError('CONNECTION_LOST', `${host} ended the stream before it answered`, {
    cause: broken,
  });
}

/** Returns the delay before a stream is resumed, unless the server named one. */
function resumeDelay({ resumeDelayMs, maxResumeDelayMs }: HttpLimits, tries: number): number {
  return backoffMs(tries + 1, Math.random(), { firstMs: resumeDelayMs, maxMs: maxResumeDelayMs });
}

/**
 * Keeps the stream for server messages open until `wanted` is false or the server refuses it. Never rejects: requests
 * work without this stream.
 */
async function listen(
  wire: Wire,
  open: (lastEventId: string | undefined) => Promise<Exchange>,
  receiver: Receiver,
  wanted: () => boolean,
): Promise<void> {
  const { clock, limits } = wire;
  const stream = new EventStream(limits, (event) => {
    for (const frame of eventFrames(event, receiver)) receiver.message(frame);
  });
  for (let tries = 0; wanted() && tries < limits.maxResumes; tries++) {
    const since = clock.now();
    let error: PlugboardError | undefined;
    try {
      error = await stream.read(await open(stream.lastEventId));
      // A stream that delivered events or stayed open is not a failure, however it ended.
      if (stream.news || clock.now() - since >= limits.maxResumeDelayMs) tries = 0;
    } catch (thrown) {
      error = asPlugboardError(thrown);
      if (decideRetry('stream', error) === 'fail') {
        if (wanted())
          receiver.notice({ level: 'debug', message: `No stream of server messages: ${error.message}` });
        return;
      }
    }
    if (wanted())
      await wire.pause(stream.retryMs ?? error?.detail.retryAfterMs ?? resumeDelay(limits, tries));
  }
  if (wanted())
    receiver.notice({ level: 'info', message: 'The stream of server messages broke and did not come back.' });
}
