/** Clients of both eras and of two principals that work through a load balancer, and the outcome of each of their calls. */

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { legacySession, modern } from '../serve/bare-client.ts';
import { until, type World } from './replicas.ts';

type Headers = Record<string, string>;
type Message = Readonly<Record<string, unknown>>;

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');
const tokenOf = (client: string): string => `the-token-of-${client}-in-a-cluster`;
const NAMES = ['ada', 'bob'];
/** The principals, for `clients` of config.json. */
export const CLIENTS: object = Object.fromEntries(
  NAMES.map((name) => [name, { token: hashOf(tokenOf(name)) }]),
);
const bearerOf = (at: number): Headers => ({
  authorization: `Bearer ${tokenOf(NAMES[at % NAMES.length] ?? '')}`,
});
const ELICITS = { elicitation: { form: {} } };
const ACCEPTS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

const WRITERS = 6;
const MODERN_WRITERS = 2;
const OTHERS = 2;
/** Clients that call at the same time: writers, and two each that ask, step and subscribe, in both eras where there are. */
export const CALLERS: number = WRITERS + MODERN_WRITERS + OTHERS * 4;

export interface Outcomes {
  /** Calls that were answered with their result. */
  readonly ok: readonly string[];
  /** Calls that failed: with an error, or because the balancer lost the connection. */
  readonly failed: readonly string[];
  /** The answers of failed calls. */
  readonly reasons: readonly string[];
  /** Calls whose session was unknown. */
  readonly lostSessions: readonly string[];
  /** Answers, questions, progress and updates that belong to another call or client. */
  readonly foreign: readonly string[];
  /** Subscriptions that have no updates at the end. */
  readonly silent: readonly string[];
  /** The writes that servers ran, and those that were answered. */
  readonly ran: readonly string[];
  readonly written: readonly string[];
}

/** Works through the balancer until `work` ends. */
export async function loadDuring(world: World, url: string, work: () => Promise<void>): Promise<Outcomes> {
  const load = new Load(url);
  const clients = await load.begin();
  try {
    await work();
  } finally {
    load.stop();
    await Promise.all(clients);
  }
  return { ...load.outcomes, silent: await load.silent(), ran: linesOf(world) };
}

export function linesOf({ calls }: World): readonly string[] {
  const text = existsSync(calls) ? readFileSync(calls, 'utf8') : '';
  return text.split('\n').filter((line) => line !== '');
}

/** Returns a function that resolves when servers ran this many more writes. */
export function progressOf(world: World, writes = 30): () => Promise<void> {
  return async () => {
    const before = linesOf(world).length;
    await until(() => linesOf(world).length >= before + writes, 'progress');
  };
}

/** The faults that must never occur, whatever fails. */
export function faultsOf({ lostSessions, foreign, silent, ran, written, failed }: Outcomes): object {
  const [once, answered, unanswered] = [new Set(ran), new Set(written), new Set(failed)];
  return {
    lostSessions,
    foreign,
    silent,
    doubled: once.size === ran.length ? [] : ran.filter((id, at) => ran.indexOf(id) !== at),
    missing: written.filter((id) => !once.has(id)),
    unknown: ran.filter((id) => !answered.has(id) && !unanswered.has(id)),
  };
}

/** `faultsOf` without one. */
export const NO_FAULTS: object = {
  lostSessions: [],
  foreign: [],
  silent: [],
  doubled: [],
  missing: [],
  unknown: [],
};

class Load {
  readonly outcomes = {
    ok: [] as string[],
    failed: [] as string[],
    reasons: [] as string[],
    lostSessions: [] as string[],
    foreign: [] as string[],
    written: [] as string[],
  };
  readonly #url: string;
  readonly #subscribers: Subscriber[] = [];
  #isOver = false;

  constructor(url: string) {
    this.#url = url;
  }

  async begin(): Promise<readonly Promise<void>[]> {
    const sessions = await Promise.all(
      Array.from({ length: WRITERS + OTHERS * 3 }, (_, at) =>
        legacySession(this.#url, '2025-11-25', ELICITS, bearerOf(at)),
      ),
    );
    const kinds = [
      ...Array(WRITERS).fill('write'),
      ...Array(OTHERS).fill('ask'),
      ...Array(OTHERS).fill('steps'),
      ...Array(OTHERS).fill('subscribe'),
    ];
    const legacy = sessions.map((session, at) => {
      const name = `legacy-${kinds[at]}-${at}`;
      if (kinds[at] === 'ask') return this.#repeat(name, (id) => this.#ask(id, session));
      if (kinds[at] === 'steps') return this.#repeat(name, (id) => this.#step(id, session));
      if (kinds[at] === 'subscribe') return this.#subscribe(name, session);
      return this.#repeat(name, (id) => this.#write(id, session, at % 3 === 0 ? 'web' : 'work'));
    });
    const young = Array.from({ length: MODERN_WRITERS + OTHERS }, (_, at) => {
      const headers = bearerOf(at);
      return at < MODERN_WRITERS
        ? this.#repeat(`modern-write-${at}`, (id) => this.#modernWrite(id, headers))
        : this.#repeat(`modern-ask-${at}`, (id) => this.#modernAsk(id, headers));
    });
    return [...legacy, ...young];
  }

  stop(): void {
    this.#isOver = true;
  }

  /** Returns the subscriptions whose update does not arrive. */
  async silent(): Promise<readonly string[]> {
    const late = await Promise.all(
      this.#subscribers.map(async (subscriber) => ((await subscriber.isAlive()) ? [] : [subscriber.name])),
    );
    for (const subscriber of this.#subscribers) subscriber.close();
    return late.flat();
  }

  async #repeat(name: string, act: (id: string) => Promise<void>): Promise<void> {
    for (let at = 0; !this.#isOver; at += 1) await act(`${name}-${at}`);
  }

  /** Records the outcome of a call; `expected` is the text of its result. */
  #ended(id: string, { status, text }: Answer, expected: string): void {
    if (status === 404) this.outcomes.lostSessions.push(id);
    else if (text.includes(`"${expected}"`)) {
      this.outcomes.ok.push(id);
      if (expected.startsWith('written')) this.outcomes.written.push(id);
    } else if (/"(written|stepped|accept) /.test(text)) this.outcomes.foreign.push(`${id}: ${text}`);
    else {
      this.outcomes.failed.push(id);
      this.outcomes.reasons.push(`${status} ${text.slice(0, 200)}`);
    }
  }

  async #write(id: string, session: Headers, server: string): Promise<void> {
    this.#ended(id, await this.#call(session, `${server}__write`, id), `written ${id}`);
  }

  async #step(id: string, session: Headers): Promise<void> {
    const answer = await this.#call(session, 'work__steps', id, ({ method, params }) => {
      const { progressToken } = (params ?? {}) as Message;
      if (method === 'notifications/progress' && progressToken !== id) this.outcomes.foreign.push(id);
    });
    this.#ended(id, answer, `stepped ${id}`);
  }

  async #ask(id: string, session: Headers): Promise<void> {
    const answer = await this.#call(session, 'work__ask', id, ({ id: question, method, params }) => {
      if (method !== 'elicitation/create') return;
      if (!String((params as Message)['message']).includes(`for ${id}?`)) this.outcomes.foreign.push(id);
      const result = { action: 'accept', content: { color: id } };
      void this.#post(session, { jsonrpc: '2.0', id: question, result });
    });
    this.#ended(id, answer, `accept ${id}`);
  }

  async #modernWrite(id: string, headers: Headers): Promise<void> {
    const params = { name: 'work__write', arguments: { id } };
    this.#ended(id, await this.#modern(id, params, headers), `written ${id}`);
  }

  async #modernAsk(id: string, headers: Headers): Promise<void> {
    const params = { name: 'work__ask', arguments: { id } };
    const asked = await this.#modern(id, params, headers);
    const { requestState, inputRequests = {} } = resultOf(asked.text);
    const [[key, question] = []] = Object.entries(inputRequests as Message);
    if (key === undefined) return this.#ended(id, asked, `accept ${id}`);
    if (!JSON.stringify(question).includes(`for ${id}?`)) this.outcomes.foreign.push(id);
    const inputResponses = { [key]: { action: 'accept', content: { color: id } } };
    this.#ended(
      id,
      await this.#modern(id, { ...params, requestState, inputResponses }, headers),
      `accept ${id}`,
    );
  }

  async #subscribe(name: string, session: Headers): Promise<void> {
    const subscriber = new Subscriber(name, this.#url, session, (uri) => this.outcomes.foreign.push(uri));
    this.#subscribers.push(subscriber);
    await subscriber.open();
    await this.#repeat(name, async (id) => {
      const { status, text } = await this.#call(session, 'work__touch', name);
      if (status === 404) this.outcomes.lostSessions.push(id);
      else if (text.includes(`touched ${name}`)) this.outcomes.ok.push(id);
      else this.outcomes.failed.push(id);
    });
  }

  async #modern(id: string, params: Record<string, unknown>, headers: Headers): Promise<Answer> {
    try {
      const { status, messages } = await modern(this.#url, id, 'tools/call', params, ELICITS, headers);
      return { status, text: JSON.stringify(messages.at(-1) ?? {}) };
    } catch (error) {
      return { status: 0, text: String(error) };
    }
  }

  #call(session: Headers, name: string, id: string, onEvent?: (message: Message) => void): Promise<Answer> {
    const params = { name, arguments: { id }, _meta: { progressToken: id } };
    return this.#post(session, { jsonrpc: '2.0', id, method: 'tools/call', params }, onEvent);
  }

  /** A balancer that lost its replica answers with a page, or not at all. */
  async #post(
    session: Headers,
    message: object,
    onEvent: (message: Message) => void = () => {},
  ): Promise<Answer> {
    try {
      const body = JSON.stringify(message);
      const response = await fetch(this.#url, { method: 'POST', headers: { ...ACCEPTS, ...session }, body });
      let text = '';
      if (response.headers.get('content-type') !== 'text/event-stream') text = await response.text();
      else
        for await (const event of eventsOf(response)) {
          text = event;
          onEvent(JSON.parse(event));
        }
      return { status: response.status, text };
    } catch (error) {
      return { status: 0, text: String(error) };
    }
  }
}

interface Answer {
  readonly status: number;
  /** The last message. */
  readonly text: string;
}

/** A client with an open stream that subscribes to a resource of its own. */
class Subscriber {
  readonly name: string;
  readonly #url: string;
  readonly #session: Headers;
  readonly #onForeign: (uri: string) => void;
  #updates = 0;
  #closing = new AbortController();

  constructor(name: string, url: string, session: Headers, onForeign: (uri: string) => void) {
    this.name = name;
    this.#url = url;
    this.#session = session;
    this.#onForeign = onForeign;
  }

  async open(): Promise<void> {
    void this.#listen();
    const params = { uri: `note://${this.name}` };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 'subscribe', method: 'resources/subscribe', params });
    await fetch(this.#url, { method: 'POST', headers: { ...ACCEPTS, ...this.#session }, body }).then((r) =>
      r.text(),
    );
  }

  /** Touches the resource until an update arrives. */
  async isAlive(): Promise<boolean> {
    const before = this.#updates;
    const params = { name: 'work__touch', arguments: { id: this.name } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 'touch', method: 'tools/call', params });
    const touched = async (): Promise<boolean> => {
      await fetch(this.#url, { method: 'POST', headers: { ...ACCEPTS, ...this.#session }, body })
        .then((response) => response.text())
        .catch(() => {});
      return this.#updates > before;
    };
    return until(touched, 'an update').then(
      () => true,
      () => false,
    );
  }

  close(): void {
    this.#closing.abort();
  }

  /** Opens the stream again whenever it ends, as clients do. */
  async #listen(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        const response = await fetch(this.#url, { headers: { ...ACCEPTS, ...this.#session }, signal });
        for await (const event of eventsOf(response)) this.#received(JSON.parse(event));
      } catch {
        // The replica or the balancer closed it.
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  #received({ method, params }: Message): void {
    if (method !== 'notifications/resources/updated') return;
    const uri = String((params as Message)['uri']);
    if (uri.includes(this.name)) this.#updates += 1;
    else this.#onForeign(`${this.name} got ${uri}`);
  }
}

async function* eventsOf(response: Response): AsyncGenerator<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const data = /^data: (.+)$/m.exec(event)?.[1];
      if (data !== undefined) yield data;
    }
  }
}

function resultOf(text: string): Message {
  try {
    return ((JSON.parse(text) as Message)['result'] ?? {}) as Message;
  } catch {
    return {};
  }
}
