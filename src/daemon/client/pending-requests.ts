/** The pending requests of a relay's client, so that a new daemon can continue the conversation. */

import { isRecord, parseJson } from '../../lib/json.ts';
import { isRequestId, type RequestId } from '../../lib/json-rpc.ts';

type Frame = Readonly<Record<string, unknown>>;

/** Requests that may be repeated, because they change nothing or are idempotent. */
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

/** Ids of requests that the relay itself sends; their responses are not forwarded. */
const OWN_ID = 'plugboard-relay-';
/** Longer ids are searched for in the whole line. */
const HEAD_BYTES = 400;
/** How our side serializes a message: the id before any member that may be long. */
const HEAD = /^\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|-?[\d.eE+-]+|null),"(result|error|method)":/;

const ID_MEMBER: Buffer = Buffer.from('{"jsonrpc":"2.0","id":');
const CALL_MEMBER: Buffer = Buffer.from(',"method":"tools/call",');
const RESULT_MEMBER: Buffer = Buffer.from(',"result":');
const ZERO = 0x30;
/** More may not be exact. */
const MAX_DIGITS = 15;

/** How clients serialize a call: with its id before any member that may be long. */
const CALL = /^\{"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14}|"[\w-]{1,100}"),"method":"tools\/call",/;
/**
 * Or after it, as the SDK does. A line that ends like this and is JSON at all has this id: its last brace closes the
 * whole object.
 */
const CALL_FIRST = '{"method":"tools/call","params":{';
const CALL_LAST = /\},"jsonrpc":"2\.0","id":(0|[1-9]\d{0,14}|"[\w-]{1,100}")\}\s*$/;
/** The error response to a line whose id is unknown. */
const REFUSED = '{"jsonrpc":"2.0","id":null,"error":';
/** The length that both patterns inspect. */
const CALL_BYTES = 160;
/** More than the daemon's limit for one client. */
const MAX_PENDING = 32_768;

interface Pending {
  readonly method: string;
  /** Includes the newline. */
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

  /** Whether a response is pending; a change stream never gets one. */
  get hasPending(): boolean {
    for (const { method } of this.#pending.values()) if (method !== 'subscriptions/listen') return true;
    return false;
  }

  /** True once a legacy client is initialized: it may receive list-changed notifications. */
  get isInitialized(): boolean {
    return this.#initialized;
  }

  /** Records a line of the client, on its way to the daemon. */
  sent(line: Buffer): void {
    const id = numberBefore(line, CALL_MEMBER);
    if (id !== undefined) {
      this.#pend(id, { method: 'tools/call', line });
      return;
    }
    const call = callIn(line);
    if (call !== undefined) {
      this.#pend(JSON.parse(call), { method: 'tools/call', line });
      return;
    }
    const value = parseJson(line.toString('utf8'));
    for (const frame of Array.isArray(value) ? value : [value]) {
      // Other messages are refused without their id, so they would never be removed again.
      if (isRecord(frame) && frame['jsonrpc'] === '2.0') this.#sent(frame, line);
    }
  }

  /** Records a line of the daemon, on its way to the client; false if it is not for the client. */
  received(line: Buffer): boolean {
    const answered = numberBefore(line, RESULT_MEMBER);
    if (answered !== undefined) {
      this.#pending.delete(answered);
      return true;
    }
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

  /** Returns the frames that bring a new daemon to the state of the lost one. */
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

  /** Returns the lines that are sent again to the new daemon; a batch is one line of several requests. */
  repeated(): readonly Buffer[] {
    return [...new Set([...this.#pending.values()].map(({ line }) => line))];
  }

  /** Removes and returns requests whose outcome is unknown. */
  takeLost(): readonly RequestId[] {
    const lost: RequestId[] = [];
    for (const [id, { method }] of this.#pending) {
      if (REPEATABLE.has(method)) continue;
      this.#pending.delete(id);
      lost.push(id);
    }
    return lost;
  }

  /** Removes and returns questions to the client that are obsolete. */
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

  /** Handles the refusal of a non-JSON line: recorded lines that do not parse are removed. */
  #refused(): void {
    for (const [id, { line }] of this.#pending) {
      if (parseJson(line.toString('utf8')) === undefined) this.#pending.delete(id);
    }
  }

  /** A cancelled request gets no response. */
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

/**
 * Returns the id of a line that begins with a number as its id and then this member; undefined for all other lines.
 * Nearly every line is one of these: reading bytes takes a tenth of the time of a pattern.
 */
function numberBefore(line: Buffer, member: Buffer): number | undefined {
  if (!hasAt(line, 0, ID_MEMBER)) return undefined;
  let at = ID_MEMBER.length;
  let id = 0;
  for (let digit = digitAt(line, at); digit !== undefined; digit = digitAt(line, at)) {
    id = id * 10 + digit;
    at += 1;
  }
  const digits = at - ID_MEMBER.length;
  const isPlain = digits === 1 || (digits > 1 && digits <= MAX_DIGITS && line[ID_MEMBER.length] !== ZERO);
  return isPlain && hasAt(line, at, member) ? id : undefined;
}

function digitAt(line: Buffer, at: number): number | undefined {
  const digit = (line[at] ?? 0) - ZERO;
  return digit >= 0 && digit <= 9 ? digit : undefined;
}

function hasAt(line: Buffer, from: number, bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at += 1) if (line[from + at] !== bytes[at]) return false;
  return true;
}

/** Returns the serialized id of a call, without parsing the rest; undefined for all other lines. */
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

/** Reads the id and kind of a line from its first bytes, since the rest may be megabytes. */
function headOf(line: Buffer): Head | undefined {
  const [, id, kind] = HEAD.exec(line.toString('utf8', 0, HEAD_BYTES)) ?? [];
  if (id !== undefined && kind !== undefined) {
    const value = parseJson(id);
    return isRequestId(value) ? { id: value, kind } : undefined;
  }
  if (line.length <= HEAD_BYTES || !line.subarray(0, HEAD_BYTES).includes('"id":')) return undefined;
  const value = parseJson(line.toString('utf8'));
  if (!isRecord(value)) return undefined;
  const { id: own, method } = value;
  if (!isRequestId(own)) return undefined;
  return { id: own, kind: typeof method === 'string' ? 'method' : 'result' };
}
