/** What a relay has to remember of one client's conversation, so that a new daemon can take it over in the middle. */

import { isRecord, isRequestId, type RequestId } from '../../lib/json-rpc.ts';

type Frame = Readonly<Record<string, unknown>>;

/** Requests that may be said again, because they change nothing or say what is so already. */
const REPEATABLE: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'server/discover',
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
  'subscriptions/listen',
]);

/** Ids of requests that the relay itself makes; their answers are for nobody else. */
const OWN_ID = 'plugboard-relay-';
/** Longer ids are looked for in the whole line. */
const HEAD_BYTES = 400;
/** How our side writes: the id before everything that may be long. */
const HEAD = /^\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|-?[\d.eE+-]+|null),"(result|error|method)":/;

/** How clients write a call: with its id before what may be long. */
const CALL = /^\{"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14}|"[\w-]{1,100}"),"method":"tools\/call",/;
/** Or behind it, as the SDK does. What ends like this and is JSON at all has this id: its last brace is the whole's. */
const CALL_FIRST = '{"method":"tools/call","params":{';
const CALL_LAST = /\},"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14}|"[\w-]{1,100}")\}\s*$/;
/** How a line is answered of which nobody knows whose it is. */
const REFUSED = '{"jsonrpc":"2.0","id":null,"error":';
/** What the two of them look at. */
const CALL_BYTES = 160;
/** More than the daemon works on for one client at a time. */
const MAX_PENDING = 32_768;

interface Pending {
  readonly method: string;
  /** With its end. */
  readonly line: Buffer;
}

export class PendingRequests {
  readonly #pending = new Map<RequestId, Pending>();
  readonly #questions = new Set<RequestId>();
  readonly #subscribed = new Map<string, Frame>();
  #initialize: Frame | undefined;
  #initialized = false;
  #level: Frame | undefined;
  #made = 0;

  /** Whether an answer is waited for; a stream of changes never has one. */
  get hasPending(): boolean {
    for (const { method } of this.#pending.values()) if (method !== 'subscriptions/listen') return true;
    return false;
  }

  /** A legacy client has been greeted: it may be told that lists changed. */
  get isInitialized(): boolean {
    return this.#initialized;
  }

  /** A line of the client, on its way to the daemon. */
  sent(line: Buffer): void {
    const call = callIn(line);
    if (call !== undefined) {
      this.#pend(JSON.parse(call), { method: 'tools/call', line });
      return;
    }
    const value = parsed(line.toString('utf8'));
    for (const frame of Array.isArray(value) ? value : [value]) {
      // Anything else is refused without its id, so nobody would ever strike it out again.
      if (isRecord(frame) && frame['jsonrpc'] === '2.0') this.#sent(frame, line);
    }
  }

  /** A line of the daemon, on its way to the client; false when it is not for the client. */
  received(line: Buffer): boolean {
    const head = headOf(line);
    if (head === undefined) {
      if (line.toString('latin1', 0, REFUSED.length) === REFUSED) this.#refused();
      return true;
    }
    const { id, kind } = head;
    if (kind === 'method') {
      this.#questions.add(id);
      return true;
    }
    if (typeof id === 'string' && id.startsWith(OWN_ID)) return false;
    this.#pending.delete(id);
    return true;
  }

  /** What brings a new daemon to where the lost one was. */
  opening(): readonly Frame[] {
    const answered = this.#initialize !== undefined && !this.#has('initialize');
    if (!answered) return [];
    const own = (frame: Frame): Frame => {
      this.#made += 1;
      return { ...frame, id: `${OWN_ID}${this.#made}` };
    };
    return [
      ...(this.#initialize === undefined ? [] : [own(this.#initialize)]),
      ...(this.#initialized ? [{ jsonrpc: '2.0', method: 'notifications/initialized' }] : []),
      ...(this.#level === undefined ? [] : [own(this.#level)]),
      ...[...this.#subscribed.values()].map(own),
    ];
  }

  /** Lines that the new daemon is given again; a batch is one line of several requests. */
  repeated(): readonly Buffer[] {
    return [...new Set([...this.#pending.values()].map(({ line }) => line))];
  }

  /** Requests whose outcome nobody knows; they are forgotten. */
  takeLost(): readonly RequestId[] {
    const lost: RequestId[] = [];
    for (const [id, { method }] of this.#pending) {
      if (REPEATABLE.has(method)) continue;
      this.#pending.delete(id);
      lost.push(id);
    }
    return lost;
  }

  /** Questions to the client that nobody waits for any more; they are forgotten. */
  takeQuestions(): readonly RequestId[] {
    const open = [...this.#questions];
    this.#questions.clear();
    return open;
  }

  #sent(frame: Frame, line: Buffer): void {
    const { id, method, params } = frame;
    if (typeof method !== 'string') {
      if (isRequestId(id)) this.#questions.delete(id);
      return;
    }
    if (method === 'notifications/initialized') this.#initialized = true;
    if (!isRequestId(id)) {
      this.#cancelled(method, params);
      return;
    }
    this.#pend(id, { method, line });
    if (method === 'tools/call') return;
    const uri = isRecord(params) ? params['uri'] : undefined;
    if (method === 'initialize') this.#initialize = frame;
    else if (method === 'logging/setLevel') this.#level = frame;
    else if (typeof uri !== 'string') return;
    else if (method === 'resources/subscribe') this.#subscribed.set(uri, frame);
    else if (method === 'resources/unsubscribe') this.#subscribed.delete(uri);
  }

  #pend(id: RequestId, pending: Pending): void {
    this.#pending.set(id, pending);
    if (this.#pending.size <= MAX_PENDING) return;
    const [oldest = id] = this.#pending.keys();
    this.#pending.delete(oldest);
  }

  /** Something was no JSON: of what was only looked at, that is not waited for. */
  #refused(): void {
    for (const [id, { line }] of this.#pending) {
      if (parsed(line.toString('utf8')) === undefined) this.#pending.delete(id);
    }
  }

  /** What a client takes back is not answered. */
  #cancelled(method: string, params: unknown): void {
    if (method !== 'notifications/cancelled' || !isRecord(params)) return;
    const { requestId } = params;
    if (isRequestId(requestId)) this.#pending.delete(requestId);
  }

  #has(method: string): boolean {
    for (const pending of this.#pending.values()) if (pending.method === method) return true;
    return false;
  }
}

/** The id of a call as it is written, without a look at the rest; undefined for everything else. */
function callIn(line: Buffer): string | undefined {
  const head = line.toString('latin1', 0, CALL_BYTES);
  const first = CALL.exec(head);
  if (first !== null) return first[1];
  if (!head.startsWith(CALL_FIRST)) return undefined;
  return CALL_LAST.exec(line.toString('latin1', Math.max(0, line.length - CALL_BYTES)))?.[1];
}

interface Head {
  readonly id: RequestId;
  readonly kind: string;
}

/** Who a line answers or asks; read from its first bytes, since what follows may be megabytes. */
function headOf(line: Buffer): Head | undefined {
  const [, id, kind] = HEAD.exec(line.toString('utf8', 0, HEAD_BYTES)) ?? [];
  if (id !== undefined && kind !== undefined) {
    const value = parsed(id);
    return isRequestId(value) ? { id: value, kind } : undefined;
  }
  if (line.length <= HEAD_BYTES || !line.subarray(0, HEAD_BYTES).includes('"id":')) return undefined;
  const value = parsed(line.toString('utf8'));
  if (!isRecord(value)) return undefined;
  const { id: own, method } = value;
  if (!isRequestId(own)) return undefined;
  return { id: own, kind: typeof method === 'string' ? 'method' : 'result' };
}

/** Undefined for what is no JSON: whoever it was meant for says what is wrong with it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
