/**
 * Pass-through: exposes one server of a shared host to another host as it is, with its own names and results. The
 * other host decides what its callers may see and do; this side queues its calls and routes the server's questions.
 */

import { type Era, META, type Negotiated } from '../../connection/eras.ts';
import type { LogLevel } from '../../connection/log-levels.ts';
import { createdTask } from '../../connection/tasks.ts';
import type { Backend, ClientHandler } from '../../endpoint/backend.ts';
import type { ClientConnection } from '../../endpoint/client-connection.ts';
import type { ClientInfo, Params } from '../../endpoint/client-era.ts';
import { SuspendedRequests } from '../../endpoint/client-rounds.ts';
import type { Method, MethodTable, WorkMethod } from '../../endpoint/methods.ts';
import { firstPage, progressOf } from '../../endpoint/requests.ts';
import { RpcFailure, unknownMethod } from '../../endpoint/rpc-failure.ts';
import type { Work } from '../../endpoint/work.ts';
import { asPlugboardError, PlugboardError } from '../../errors.ts';
import type { Host } from '../../host/host.ts';
import type { HostSession } from '../../host/host-session.ts';
import type { ServerProxy } from '../../host/server-proxy.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Unsubscribe } from '../../lib/emitter.ts';
import { isRecord } from '../../lib/json.ts';
import { RPC_INTERNAL_ERROR } from '../../lib/json-rpc.ts';
import { questionsOf } from '../../serve/client-questions.ts';
import type { RequestedServer } from '../protocol/daemon-messages.ts';
import { ERROR_KEY, encodeError } from '../protocol/error-codec.ts';
import { isWanted } from './hosts.ts';
import type { McpSession } from './mcp-session.ts';

/** Specific to one agent: not sent to a process that others use. */
const PRIVATE = /^codex\/sandbox-state/;

/** Returns undefined if the host has no such server, or a different one of that name. */
export function openPassThrough(host: Host, wanted: RequestedServer, clock: Clock): PassThrough | undefined {
  if (!host.servers().some(({ name }) => name === wanted.name)) return undefined;
  const server = new PassThrough(host, wanted.name, clock);
  if (isWanted(server.spec, wanted)) return server;
  server.leave();
  return undefined;
}

/** Forwarded to the server, which may ask questions during the request. */
const ASKED: WorkMethod<PassThrough> = {
  rounds: true,
  work: (server, params, work, method) => server.pass(method, params, work, true),
};

const PASS_THROUGH_METHODS: MethodTable<PassThrough> = {
  requests: new Map<string, Method<PassThrough>>([
    ['server/discover', { answer: (server) => server.discover() }],
    ['tools/list', { answer: (server, params, { era }) => server.listTools(params, era) }],
    ['tools/call', ASKED],
    ['resources/read', ASKED],
    ['prompts/get', ASKED],
    ['tasks/result', { era: 'legacy', work: ASKED.work }],
  ]),
  notifications: new Map([
    ['notifications/roots/list_changed', { notified: (server: PassThrough) => server.rootsChanged() }],
  ]),
  fallback: { work: (server, params, work, method) => server.pass(method, params, work, false) },
};

export class PassThrough implements Backend, ClientHandler {
  readonly methods: typeof PASS_THROUGH_METHODS = PASS_THROUGH_METHODS;
  readonly clock: Clock;
  readonly suspended: SuspendedRequests;
  readonly isClosing = false;
  /** Results are the server's own, including its identity. */
  readonly identity = undefined;
  readonly #host: Host;
  readonly #session: HostSession;
  readonly #passage: ServerProxy;
  readonly #tasks = new PassedTasks();
  #clientConnection: ClientConnection | undefined;
  #stop: readonly Unsubscribe[] = [];

  constructor(host: Host, name: string, clock: Clock) {
    this.#host = host;
    this.clock = clock;
    this.suspended = new SuspendedRequests(clock);
    this.#session = host.session({
      canBeAsked: () => this.#canBeAsked(),
      ...questionsOf({
        approvalQueue: undefined,
        workFor: (_server, signal) => this.#workFor(signal),
        outside: async () => this.#clientConnection?.outside(),
        clock,
        isHost: true,
      }),
    });
    this.#passage = this.#session.passage(name);
  }

  get spec(): ServerProxy['spec'] {
    return this.#passage.spec;
  }

  handlerFor(clientConnection: ClientConnection): ClientHandler {
    this.#clientConnection = clientConnection;
    return this;
  }

  /** Reports the server's process to the client: its pid, its log messages, and its end. */
  accompany(client: McpSession): void {
    const { id } = this.#session;
    const { name } = this.spec;
    this.#stop = [
      this.#passage.follow({
        listChanged: (kind) => this.#clientConnection?.listChanged(kind),
        started: (pid) => client.send({ plugboard: 'started', pid }),
        lost: (error) => client.end({ plugboard: 'ended', error: encodeError(error) }),
        taskChanged: (state) => {
          if (!this.#tasks.has(state)) return;
          this.#clientConnection?.notify('notifications/tasks/status', state);
          this.#tasks.seen('notifications/tasks/status', state, state);
        },
      }),
      this.#host.on('message', ({ server, level, params, session }) => {
        if (server === name && session === id) this.#clientConnection?.log(level, params);
      }),
      this.#host.on('elicitation.complete', ({ session, elicitationId }) => {
        if (session === id) this.#clientConnection?.pageDone(elicitationId);
      }),
    ];
    const { pid } = this.#passage;
    if (pid !== undefined) client.send({ plugboard: 'started', pid });
  }

  failureOf(thrown: unknown): RpcFailure {
    const error = asPlugboardError(thrown);
    const { rpcCode, rpcMessage, rpcData } = error.detail;
    if (rpcCode !== undefined && rpcMessage !== undefined)
      return new RpcFailure(rpcCode, rpcMessage, theirs(rpcData));
    return new RpcFailure(RPC_INTERNAL_ERROR, error.message, { [ERROR_KEY]: encodeError(error) });
  }

  async close(): Promise<void> {
    this.leave();
  }

  rootsChanged(): void {
    void this.#session.rootsChanged();
  }

  // Requests of the client.

  about(): Params {
    return {};
  }

  enter(): void {
    // Nothing to start: clients get notifications only after they have initialized.
  }

  leave(): void {
    for (const stop of this.#stop) stop();
    this.#stop = [];
    this.suspended.close(new PlugboardError('CANCELLED', 'The client disconnected'));
    this.#tasks.close();
    this.#session.end();
  }

  wantsLog(level: LogLevel): void {
    this.#session.setLogLevel(level);
  }

  async initialized(): Promise<Params> {
    const { era: _era, ...agreed } = await this.#agreed('legacy', 'initialize');
    return agreed;
  }

  async discover(): Promise<Params> {
    const { protocolVersion, capabilities, instructions, serverInfo } = await this.#agreed(
      'modern',
      'server/discover',
    );
    return {
      resultType: 'complete',
      supportedVersions: [protocolVersion],
      capabilities,
      ...(instructions === undefined ? {} : { instructions }),
      ...(serverInfo === undefined ? {} : { _meta: { [META.serverInfo]: serverInfo } }),
    };
  }

  async listTools(params: Params, era: Era): Promise<Params> {
    firstPage(params);
    await this.#agreed(era, 'tools/list');
    const { items, cut: _cut, ...hints } = await this.#passage.tools();
    return { tools: items, ...hints };
  }

  /** Sends a request to the server unchanged; `mayAsk`: whether the server may ask about it. */
  async pass(method: string, params: Params, work: Work, mayAsk: boolean): Promise<Params> {
    if (PRIVATE.test(method)) throw unknownMethod(method);
    await this.#agreed(work.clientInfo.era, method);
    const begun = this.#tasks.begin(method, params, work, this.#clientConnection);
    try {
      const result = await this.#passage.request(method, handedOn(params), {
        cancellation: work,
        onProgress: begun === undefined ? progressOf(params, work) : begun.onProgress,
        progressUntil: begun?.progressUntil,
        mayAsk,
      });
      begun?.answered(result);
      if (this.#tasks.has(params)) this.#tasks.seen(method, params, result);
      // The peer accepts only objects as results.
      return result as Params;
    } catch (error) {
      begun?.failed();
      throw error;
    }
  }

  watchTask(taskId: string, _clientInfo: ClientInfo, changed: (state: Params) => void): Unsubscribe {
    return this.#passage.watchTask(taskId, changed);
  }

  watch(uri: unknown, _clientInfo: ClientInfo, changed: (uri: string) => void): Promise<Unsubscribe> {
    return this.#session.subscribe(this.spec.name, String(uri), (update) => changed(update.uri));
  }

  // Private members.

  /** Returns the values negotiated with the server; for a client of the other era the method is unknown. */
  async #agreed(era: Era, method: string): Promise<Negotiated> {
    const agreed = await this.#passage.negotiated();
    if (agreed.era !== era) throw unknownMethod(method);
    return agreed;
  }

  #workFor(signal: AbortSignal | undefined): Work | undefined {
    const works = this.#clientConnection?.works().toReversed() ?? [];
    return (
      works.find((work) => work.signal === signal) ?? works.find(({ tool }) => tool !== undefined) ?? works[0]
    );
  }

  #canBeAsked(): boolean {
    return this.#clientConnection?.canAsk === true;
  }
}

/** Removes the progress token, because progress uses our own. */
function handedOn(params: Params): Params {
  const meta = params['_meta'];
  if (!isRecord(meta)) return params;
  const { progressToken: _token, ...rest } = meta;
  return { ...params, _meta: rest };
}

/** Strips our reserved error key from the server's data so it cannot be spoofed. */
function theirs(data: unknown): unknown {
  if (!isRecord(data)) return data;
  const { [ERROR_KEY]: _said, ...rest } = data;
  return rest;
}

/** The oldest is dropped if there are more. */
const MAX_TASKS = 1_000;
const ENDED: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled']);

/** A call that may become a task. */
interface Begun {
  readonly onProgress: ReturnType<typeof progressOf>;
  readonly progressUntil: AbortSignal;
  /** Called with the server's response. */
  answered(result: unknown): void;
  failed(): void;
}

/**
 * The tasks that a client of a pass-through began: their progress and states are sent after the responses to its
 * calls.
 */
class PassedTasks {
  readonly #tasks = new Map<string, AbortController>();

  /** Records a legacy client's call that requests a task; undefined for every other request. */
  begin(
    method: string,
    params: Params,
    work: Work,
    clientConnection: ClientConnection | undefined,
  ): Begun | undefined {
    if (method !== 'tools/call' || work.clientInfo.era === 'modern' || !isRecord(params['task']))
      return undefined;
    const ended = new AbortController();
    return {
      onProgress: progressOf(params, {
        notify: (name, params) => {
          if (work.exchange === undefined) clientConnection?.notify(name, params);
          else work.notify(name, params);
        },
      }),
      progressUntil: ended.signal,
      answered: (result) => {
        const task = createdTask(result, 'legacy');
        if (task === undefined) ended.abort();
        else this.#keep(task.taskId, ended);
      },
      failed: () => ended.abort(),
    };
  }

  has({ taskId }: Params): boolean {
    return typeof taskId === 'string' && this.#tasks.has(taskId);
  }

  /** Handles a server's response about a task, or a reported state. */
  seen(method: string, params: Params, state: unknown): void {
    const { taskId } = params;
    const status = isRecord(state) ? state['status'] : undefined;
    if (method === 'tasks/result' || ENDED.has(status)) this.#drop(taskId);
  }

  close(): void {
    for (const taskId of [...this.#tasks.keys()]) this.#drop(taskId);
  }

  #keep(taskId: string, ended: AbortController): void {
    const [oldest] = this.#tasks.keys();
    if (this.#tasks.size >= MAX_TASKS) this.#drop(oldest);
    this.#tasks.set(taskId, ended);
  }

  #drop(taskId: unknown): void {
    if (typeof taskId !== 'string') return;
    this.#tasks.get(taskId)?.abort();
    this.#tasks.delete(taskId);
  }
}
