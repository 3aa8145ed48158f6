/** In-memory client for tests of a server, without a process or a socket. */

import type { Era } from '../connection/eras.ts';
import { negotiate } from '../connection/negotiate.ts';
import { methodNotFound, Peer, type Progress } from '../connection/peer.ts';
import { requestWithRounds } from '../connection/rounds.ts';
import { systemClock } from '../lib/clock.ts';
import { isRecord } from '../lib/json.ts';
import { readVersion } from '../lib/version.ts';
import type { Transport } from '../transport/contract.ts';
import { memoryPair } from '../transport/memory-transport.ts';

type Params = Readonly<Record<string, unknown>>;

/** Anything that can be served over one end of an in-memory pair, such as a server of `plugboard/kit`. */
export interface Servable {
  /** Serves one client over a channel. */
  serve(channel: Transport): Promise<{ close(): Promise<void> }>;
}

/** Answers one kind of request from the server; the return value is the result. */
export type Answer = (params: Params) => unknown;

/** Options of `connectInMemory`. */
export interface ConnectOptions {
  /** Default: modern. */
  readonly era?: Era | undefined;
  /** Answers `elicitation/create`; without it the client does not declare the elicitation capability. */
  readonly elicit?: Answer | undefined;
  /** Answers `sampling/createMessage`. */
  readonly sample?: Answer | undefined;
  readonly roots?: readonly { readonly uri: string; readonly name?: string }[] | undefined;
  /** Minimum severity of the log messages to receive. */
  readonly logLevel?: string | undefined;
}

/** Options of one request of a test client. */
export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
  /** Is called for each progress notification. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** A client for tests, connected in memory. */
export interface TestClient {
  readonly protocolVersion: string;
  readonly capabilities: Params;
  /** Returns the tools as listed. */
  tools(): Promise<readonly Params[]>;
  /** Returns the result of a call as the server sent it. */
  call(name: string, args?: Params, options?: AskOptions): Promise<Params>;
  /** Reads a resource. */
  read(uri: string): Promise<readonly Params[]>;
  /** Returns the messages of a prompt. */
  prompt(name: string, args?: Readonly<Record<string, string>>): Promise<Params>;
  /** Sends any request. Rejects with a `PlugboardError` whose `detail.rpcCode` is the error's code. */
  request(method: string, params?: Params, options?: AskOptions): Promise<Params>;
  /** Notifications received so far, in order: log messages, changed lists. */
  readonly notifications: readonly { readonly method: string; readonly params: Params }[];
  /** Closes the connection. */
  close(): Promise<void>;
}

/**
 * Connects to a server in memory.
 *
 * @param server - A server of the kit, or anything else that serves a channel.
 * @param options - Era, answers to questions, log level.
 * @returns The client.
 * @example
 * const echo = tool({ name: 'echo', run: ({ message }) => message });
 * const client = await connectInMemory(defineServer({ name: 'echo', tools: [echo] }));
 * const { content } = await client.call('echo', { message: 'hi' });
 * content; // → [{ type: 'text', text: 'hi' }]
 * await client.close();
 */
export async function connectInMemory(server: Servable, options: ConnectOptions = {}): Promise<TestClient> {
  const { era = 'modern', elicit, sample, roots, logLevel = 'debug' } = options;
  const [ours, theirs] = memoryPair();
  const served = await server.serve(theirs);
  const notifications: { method: string; params: Params }[] = [];
  const answers: Readonly<Record<string, Answer | undefined>> = {
    'elicitation/create': elicit,
    'sampling/createMessage': sample,
    'roots/list': roots === undefined ? undefined : () => ({ roots }),
  };
  const answer = async (method: string, params: Params): Promise<unknown> => {
    const known = answers[method];
    if (known === undefined) throw methodNotFound(method);
    return known(params);
  };
  const peer = new Peer(
    ours,
    {
      request: answer,
      notification: (method, params) => void notifications.push({ method, params }),
      closed: () => {},
      notice: () => {},
    },
    systemClock,
  );
  await peer.open();
  const { negotiated } = await negotiate(peer, {
    client: { name: 'plugboard-testing', version: readVersion() },
    capabilities: {
      ...(elicit === undefined ? {} : { elicitation: { form: {}, url: {} } }),
      ...(sample === undefined ? {} : { sampling: {} }),
      ...(roots === undefined ? {} : { roots: {} }),
    },
    logLevel,
    verdict: era === 'legacy' ? { era } : undefined,
    clock: systemClock,
    signal: new AbortController().signal,
    notice: () => {},
  });
  const request = async (method: string, params: Params = {}, asked: AskOptions = {}): Promise<Params> => {
    const result = await requestWithRounds(peer, method, params, asked, answer);
    return isRecord(result) ? result : {};
  };
  const list = async (method: string, key: string, params?: Params): Promise<readonly Params[]> => {
    const { [key]: items } = await request(method, params);
    return Array.isArray(items) ? items.filter(isRecord) : [];
  };
  return {
    protocolVersion: negotiated.protocolVersion,
    capabilities: negotiated.capabilities,
    notifications,
    request,
    tools: () => list('tools/list', 'tools'),
    call: (name, args = {}, asked = {}) => request('tools/call', { name, arguments: args }, asked),
    read: (uri) => list('resources/read', 'contents', { uri }),
    prompt: (name, args = {}) => request('prompts/get', { name, arguments: args }),
    async close() {
      await peer.close();
      await served.close();
    },
  };
}
