/** The clients of the official SDKs, v1 and v2, behind one face; every message they receive is recorded as it came. */

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { sdkV1 } from '../../scripts/install-real-clients.mjs';

export type Json = Record<string, unknown>;
export type Kind = 'SDK v1' | 'SDK v2 legacy' | 'SDK v2 modern';
export const KINDS: readonly Kind[] = ['SDK v1', 'SDK v2 legacy', 'SDK v2 modern'];

/** Where a server is: an address, or a program. */
export interface Way {
  readonly url?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  readonly cwd?: string;
}

interface Transport {
  onmessage?: (message: Json, extra?: unknown) => void;
  close(): Promise<void>;
}

/** The part of both SDKs that is used here. */
interface Client {
  connect(transport: Transport): Promise<void>;
  close(): Promise<void>;
  setRequestHandler(what: unknown, handler: (request: { params: Json }) => Json): void;
  request(request: { method: string; params: Json }, ...rest: unknown[]): Promise<Json>;
  callTool(params: Json, ...rest: unknown[]): Promise<Json>;
  listTools(params?: Json, options?: Json): Promise<Json>;
  notification(notification: { method: string; params?: Json }): Promise<void>;
  getServerCapabilities(): Json;
  getProtocolEra?(): 'legacy' | 'modern' | undefined;
  listen?(filter: Json): Promise<{ close(): Promise<void> }>;
}

interface Sdk {
  readonly Client: new (info: object, options: object) => Client;
  readonly StdioClientTransport: new (options: object) => Transport;
  readonly StreamableHTTPClientTransport: new (url: URL, options?: object) => Transport;
  /** Schemas of v1 by their names. */
  readonly types: Record<string, unknown> | undefined;
}

/** What every client here can be asked; the answers are the same for all. */
const CAPABILITIES = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: { listChanged: true },
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
};
const ROOTS = [{ uri: 'file:///home/ada/app', name: 'app' }];
const TIMEOUT_MS = 20_000;
/** A notification that has not come by then does not come. */
const SEEN_MS = 2_000;

async function load(kind: Kind): Promise<Sdk> {
  const modules =
    kind === 'SDK v1'
      ? ['client/index.js', 'client/stdio.js', 'client/streamableHttp.js', 'types.js'].map(
          (file) => pathToFileURL(join(sdkV1, file)).href,
        )
      : ['@modelcontextprotocol/client', '@modelcontextprotocol/client/stdio'];
  const loaded = await Promise.all(modules.map((name) => import(name)));
  return { ...Object.assign({}, ...loaded), types: kind === 'SDK v1' ? loaded[3] : undefined };
}

/** The schemas of v1 for the results of its methods. */
const RESULTS: Readonly<Record<string, string>> = {
  'tools/list': 'ListToolsResultSchema',
  'resources/list': 'ListResourcesResultSchema',
  'resources/templates/list': 'ListResourceTemplatesResultSchema',
  'resources/read': 'ReadResourceResultSchema',
  'prompts/list': 'ListPromptsResultSchema',
  'prompts/get': 'GetPromptResultSchema',
  'completion/complete': 'CompleteResultSchema',
  'logging/setLevel': 'EmptyResultSchema',
  'resources/subscribe': 'EmptyResultSchema',
  'resources/unsubscribe': 'EmptyResultSchema',
};

/** The answer of one request: as it came, and whether the SDK accepted it. */
export interface Answer {
  readonly accepted: boolean;
  readonly result?: Json;
  readonly error?: Json;
}

export class SdkClient {
  readonly kind: Kind;
  readonly #sdk: Sdk;
  readonly #client: Client;
  /** Everything that arrived, in order. */
  readonly received: Json[] = [];
  /** Questions as the handlers of the client saw them. */
  readonly asked: Json[] = [];
  readonly #watchers = new Set<() => void>();

  private constructor(kind: Kind, sdk: Sdk) {
    this.kind = kind;
    this.#sdk = sdk;
    const mode = kind === 'SDK v2 modern' ? 'auto' : 'legacy';
    const options = kind === 'SDK v1' ? {} : { versionNegotiation: { mode } };
    const given = { capabilities: CAPABILITIES, ...options };
    this.#client = new sdk.Client({ name: 'differential', version: '1.0.0' }, given);
    this.#answer('elicitation/create', 'ElicitRequestSchema', (params) =>
      params['mode'] === 'url' ? { action: 'accept' } : { action: 'accept', content: filled(params) },
    );
    this.#answer('sampling/createMessage', 'CreateMessageRequestSchema', () => ({
      role: 'assistant',
      model: 'a-model',
      content: { type: 'text', text: 'Four.\r\n' },
    }));
    this.#answer('roots/list', 'ListRootsRequestSchema', () => ({ roots: ROOTS }));
  }

  static async open(kind: Kind, way: Way): Promise<SdkClient> {
    const sdk = await load(kind);
    const client = new SdkClient(kind, sdk);
    const { url, ...program } = way;
    const transport =
      url === undefined
        ? new sdk.StdioClientTransport({ ...program, stderr: 'ignore' })
        : new sdk.StreamableHTTPClientTransport(new URL(url));
    client.#tap(transport);
    await client.#client.connect(transport);
    return client;
  }

  get era(): 'legacy' | 'modern' {
    return this.#client.getProtocolEra?.() ?? 'legacy';
  }

  get capabilities(): Json {
    return this.#client.getServerCapabilities();
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  notify(method: string): Promise<void> {
    return this.#client.notification({ method });
  }

  /** The list as the SDK's own method reads it, so that it knows the tools; rejects if it refuses the list. */
  listTools(): Promise<Json> {
    const { types } = this.#sdk;
    return types === undefined
      ? this.#client.listTools(undefined, { cacheMode: 'refresh', timeout: TIMEOUT_MS })
      : this.#client.listTools();
  }

  request(method: string, params: Json, options: Json = {}): Promise<Answer> {
    const given = { timeout: TIMEOUT_MS, ...options };
    const { types } = this.#sdk;
    return this.#answerOf(() => {
      if (method === 'tools/call') {
        const more = types === undefined ? [given] : [undefined, given];
        return this.#client.callTool(params, ...more);
      }
      const schema =
        types === undefined ? undefined : (types[RESULTS[method] ?? 'ResultSchema'] ?? undefined);
      if (types !== undefined) return this.#client.request({ method, params }, schema, given);
      return method in RESULTS
        ? this.#client.request({ method, params }, given)
        : this.#client.request({ method, params }, z.looseObject({}), given);
    });
  }

  /** Listens for changes in the way of the era; resolves to the end of it. */
  async listen(uris: readonly string[]): Promise<() => Promise<unknown>> {
    if (this.era === 'modern') {
      const stream = await this.#client.listen?.({ toolsListChanged: true, resourceSubscriptions: uris });
      return async () => stream?.close();
    }
    for (const uri of uris) await this.request('resources/subscribe', { uri });
    return async () => {
      for (const uri of uris) await this.request('resources/unsubscribe', { uri });
    };
  }

  /** Resolves when a message after the `from`th fits, or to undefined after two seconds. */
  async seen(from: number, fits: (message: Json) => boolean): Promise<Json | undefined> {
    const limit = { isReached: false };
    const timer = setTimeout(() => {
      limit.isReached = true;
      this.#wake();
    }, SEEN_MS);
    try {
      for (;;) {
        const found = this.received.slice(from).find(fits);
        if (found !== undefined || limit.isReached) return found;
        await new Promise<void>((resolve) => this.#watchers.add(resolve));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  #wake(): void {
    for (const wake of this.#watchers) wake();
    this.#watchers.clear();
  }

  /** The last response that arrived during some work. */
  async #answerOf(work: () => Promise<unknown>): Promise<Answer> {
    const from = this.received.length;
    const accepted = await work().then(
      () => true,
      () => false,
    );
    const isAnswer = (message: Json): boolean => 'result' in message || 'error' in message;
    const answer = this.received.slice(from).findLast(isAnswer);
    const { result, error } = (answer ?? {}) as { result?: Json; error?: Json };
    return {
      accepted,
      ...(result === undefined ? {} : { result }),
      ...(error === undefined ? {} : { error }),
    };
  }

  /** v1 takes the schema of a request, v2 its name. */
  #answer(method: string, schema: string, give: (params: Json) => Json): void {
    const { types } = this.#sdk;
    this.#client.setRequestHandler(types === undefined ? method : types[schema], ({ params = {} }) => {
      this.asked.push({ method, params });
      return give(params);
    });
  }

  /** Messages are recorded before the SDK reads them. SDKs chain handlers, so one message may pass here twice. */
  #tap(transport: Transport): void {
    const recorded = new WeakSet<Json>();
    let handler: Transport['onmessage'];
    Object.defineProperty(transport, 'onmessage', {
      get: () => handler,
      set: (given: Transport['onmessage']) => {
        handler = (message, extra) => {
          if (!recorded.has(message)) this.received.push(structuredClone(message));
          recorded.add(message);
          given?.(message, extra);
          this.#wake();
        };
      },
    });
  }
}

/** One answer to every form. */
function filled({ requestedSchema }: Json): Json {
  const { properties = {} } = (requestedSchema ?? {}) as { properties?: Record<string, Json> };
  const values: Record<string, unknown> = {
    name: 'Zoë\u200d',
    mail: 'ada@example.com',
    age: 36,
    sure: false,
    color: 'g',
    many: ['x'],
  };
  return Object.fromEntries(Object.keys(properties).map((key) => [key, values[key] ?? 'other']));
}
