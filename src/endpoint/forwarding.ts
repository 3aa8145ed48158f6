/** Passes a client's request to the process that has its session, and the response back. */

import type { ServerResponse } from 'node:http';
import { isRecord } from '../lib/json.ts';
import { type JsonRpcMessage, messageText, type RequestId } from '../lib/json-rpc.ts';
import type { McpRequest, Peer, Replicas } from './replicas.ts';
import { readMessage } from './request-body.ts';
import { endWith, eventOf } from './response-stream.ts';

/** A client with more unread bytes than this is disconnected. */
const MAX_UNREAD_BYTES: number = 16 * 1024 * 1024;
const PASSED_HEADERS: readonly string[] = ['accept', 'content-type', 'last-event-id'];
const PASSED_PREFIX = 'mcp-';
/** Requests that change nothing: they are sent again if their process ended. */
const REPEATABLE: ReadonlySet<string> = new Set([
  'ping',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
]);

/** One request to pass on. */
export interface Passed {
  readonly request: McpRequest;
  readonly response: ServerResponse;
  readonly principal: string;
  readonly body: Buffer;
}

export interface PassHandlers {
  /** The request was not handled, or can safely be handled again. */
  repeat(): void;
  /** Returns the response to a request whose process ended while it ran. */
  lost(id: RequestId): JsonRpcMessage;
}

/** Passes a request on; the response is written as it arrives. */
export function passOn(replicas: Replicas, peer: Peer, passed: Passed, handlers: PassHandlers): void {
  const { request, response, principal, body } = passed;
  let state: 'waiting' | 'streaming' | 'over' = 'waiting';
  const over = (): void => {
    state = 'over';
    response.off('close', dropped);
  };
  const cancel = replicas.send(
    peer,
    { method: request.method, headers: passedHeaders(request), principal, body },
    {
      head(status, headers) {
        state = 'streaming';
        response.writeHead(status, headers);
      },
      data(bytes) {
        if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
        else response.write(bytes);
      },
      end() {
        over();
        response.end();
      },
      unsent() {
        over();
        handlers.repeat();
      },
      lost() {
        const isStreaming = state === 'streaming';
        over();
        if (!isStreaming && isRepeatable(passed)) handlers.repeat();
        else answerLost(passed, isStreaming, handlers);
      },
    },
  );
  function dropped(): void {
    if (state === 'over') return;
    over();
    cancel();
  }
  response.on('close', dropped);
}

function passedHeaders({ headers }: McpRequest): McpRequest['headers'] {
  const passed: Record<string, string> = {};
  for (const name in headers) {
    if (!name.startsWith(PASSED_PREFIX) && !PASSED_HEADERS.includes(name)) continue;
    const { [name]: value } = headers;
    if (typeof value === 'string') passed[name] = value;
  }
  return passed;
}

function framesOf(body: Buffer): readonly Readonly<Record<string, unknown>>[] {
  const value = readMessage(body.toString('utf8'));
  return (Array.isArray(value) ? value : [value]).filter(isRecord);
}

function isRepeatable({ request, body }: Passed): boolean {
  if (request.method !== 'POST') return request.method === 'GET';
  // Notifications and answers belong to work that has ended.
  return framesOf(body).every(
    ({ id, method }) => id === undefined || (typeof method === 'string' && REPEATABLE.has(method)),
  );
}

/** Answers each request of the body with an error: it may have run, so it is not sent again. */
function answerLost({ request, response, body }: Passed, isStreaming: boolean, { lost }: PassHandlers): void {
  if (response.destroyed) return;
  const requests = request.method === 'POST' ? framesOf(body) : [];
  const answers = requests.flatMap(({ id, method }) =>
    (typeof id === 'string' || typeof id === 'number') && method !== undefined ? [lost(id)] : [],
  );
  if (isStreaming) {
    for (const answer of answers) response.write(eventOf(answer));
    response.end();
  } else if (answers.length === 0) response.writeHead(202).end();
  else {
    const texts = answers.map(messageText).join(',');
    endWith(response, 200, body[0] === BRACKET ? `[${texts}]` : texts);
  }
}

/** `[`, with which a batch begins. */
const BRACKET = 0x5b;
