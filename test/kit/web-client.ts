/** A client of both eras on a function from request to response: one that is deployed, or the handler itself. */

export type Send = (request: Request) => Promise<Response>;
type Message = Readonly<Record<string, unknown>>;

const CLIENT = { name: 'web-client', version: '1' };
const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';
const META = 'io.modelcontextprotocol';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** All messages of the response; the last one answers the request. */
  readonly messages: readonly Message[];
}

/** Reads a response: one JSON value, or the events of a stream until it ends. */
async function read(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const text = await response.text();
  if (text === '') return { status, headers, messages: [] };
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  const events = isStream ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data) : [text];
  return { status, headers, messages: events.map((event) => JSON.parse(event)) };
}

export class WebClient {
  readonly #url: string;
  readonly #send: Send;
  readonly #headers: Readonly<Record<string, string>>;
  #id = 0;

  constructor(url: string, send: Send = fetch, headers: Readonly<Record<string, string>> = {}) {
    this.#url = url;
    this.#send = send;
    this.#headers = headers;
  }

  async post(message: Message, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const sent = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...this.#headers,
      ...headers,
    };
    return read(
      await this.#send(
        new Request(this.#url, { method: 'POST', headers: sent, body: JSON.stringify(message) }),
      ),
    );
  }

  /** Sends a request of the modern era. */
  modern(method: string, params: Message = {}, capabilities: Message = {}): Promise<Answer> {
    this.#id += 1;
    const _meta = {
      progressToken: 'p',
      [`${META}/protocolVersion`]: MODERN,
      [`${META}/clientCapabilities`]: capabilities,
      [`${META}/clientInfo`]: CLIENT,
    };
    const name = params['name'] ?? params['taskId'];
    return this.post(
      { jsonrpc: '2.0', id: this.#id, method, params: { ...params, _meta } },
      {
        'mcp-protocol-version': MODERN,
        'mcp-method': method,
        ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
      },
    );
  }

  /** Sends a request of the legacy era, in a session if there is one. */
  legacy(method: string, params: Message = {}, session?: string): Promise<Answer> {
    this.#id += 1;
    return this.post(
      { jsonrpc: '2.0', id: this.#id, method, params },
      { 'mcp-protocol-version': LEGACY, ...(session === undefined ? {} : { 'mcp-session-id': session }) },
    );
  }

  async initialize(): Promise<Answer> {
    return this.legacy('initialize', { protocolVersion: LEGACY, capabilities: {}, clientInfo: CLIENT });
  }
}

/** The result of the last message. */
export function resultOf({ messages }: Answer): Message {
  return (messages.at(-1)?.['result'] ?? messages.at(-1)) as Message;
}

/** What a client of each era finds at a server of `deployable.mjs`; the same wherever it is deployed. */
export async function bothEras(
  url: string,
  send?: Send,
  headers?: Readonly<Record<string, string>>,
  canAsk = true,
): Promise<unknown> {
  const client = new WebClient(url, send, headers);
  const count = { name: 'count', arguments: { to: 2 } };
  const opened = await client.initialize();
  const session = opened.headers.get('mcp-session-id') ?? undefined;
  const progress = ({ messages }: Answer): unknown =>
    messages
      .filter(({ method }) => method === 'notifications/progress')
      .map(({ params }) => (params as Message)['progress']);
  const legacy = await client.legacy('tools/call', { ...count, _meta: { progressToken: 'p' } }, session);
  const modern = await client.modern('tools/call', count);
  const answered = canAsk ? await question(client) : undefined;
  return {
    hasSession: session !== undefined,
    server: resultOf(opened)['serverInfo'],
    legacy: [progress(legacy), resultOf(legacy)['content']],
    modern: [progress(modern), resultOf(modern)['content']],
    ...(answered === undefined ? {} : { answered: resultOf(answered)['content'] }),
    invalid: resultOf(await client.modern('tools/call', { name: 'count', arguments: { to: 'x' } }))[
      'isError'
    ],
  };
}

/** Answers a question of the tool `ask`, in a second request. */
async function question(client: WebClient): Promise<Answer> {
  const asked = await client.modern('tools/call', { name: 'ask', arguments: {} }, { elicitation: {} });
  const { requestState, inputRequests } = resultOf(asked);
  const [question = ''] = Object.keys((inputRequests ?? {}) as Message);
  const accepted = { action: 'accept', content: { name: 'Ada' } };
  return client.modern(
    'tools/call',
    { name: 'ask', arguments: {}, requestState, inputResponses: { [question]: accepted } },
    { elicitation: {} },
  );
}

const TEXT = (text: string): readonly Message[] => [{ type: 'text', text }];

/** The value of `bothEras`. */
export const BOTH_ERAS: Message = {
  hasSession: true,
  server: { name: 'deployable', version: '1.0.0' },
  legacy: [[1, 2], TEXT('counted to 2')],
  modern: [[1, 2], TEXT('counted to 2')],
  answered: TEXT('Hello, Ada'),
  invalid: true,
};
