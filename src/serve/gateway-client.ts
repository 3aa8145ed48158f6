/** One client of the gateway: its session of the host, and the responses to its requests. */

import { notReadOnly } from '../call/approve.ts';
import { createMemory, type SessionMemory } from '../call/session.ts';
import type { ShapedResult } from '../call/shape.ts';
import { isCallTool, wrappedCall } from '../catalog/call-tool.ts';
import { CALL_TOOL_READ, TOOL_SEARCH } from '../catalog/deferral.ts';
import { RESULT_ID, RESULT_PREFIX } from '../catalog/result-tool-definition.ts';
import { RUN } from '../catalog/run-tool-definition.ts';
import { cleanMeta, type HandedOn } from '../connection/handed-on.ts';
import { type LogLevel, moreVerbose } from '../connection/log-levels.ts';
import type { Progress } from '../connection/peer.ts';
import type { ClientHandler, ClientMemory, ListKind, RecordedMemory } from '../endpoint/backend.ts';
import type { ClientConnection } from '../endpoint/client-connection.ts';
import { type ClientInfo, canElicit, type Params } from '../endpoint/client-era.ts';
import { firstPage, progressOf } from '../endpoint/requests.ts';
import { resourceNotFound } from '../endpoint/rpc-failure.ts';
import { takesTasks, tasksCapability } from '../endpoint/task-support.ts';
import type { Work } from '../endpoint/work.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { ListWait } from '../host/first-lists.ts';
import type { Clock } from '../lib/clock.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import { isRecord } from '../lib/json.ts';
import { serverMeta, withoutReserved } from './attribution.ts';
import { taskOwner } from './callers.ts';
import { type QuestionQueue, questionsOf } from './client-questions.ts';
import { ClientTasks } from './client-tasks.ts';
import { hasUi, ownerOf, toolFor, withExtensions } from './extension-methods.ts';
import { finishedTask } from './finished-task.ts';
import type { Gateway } from './gateway.ts';
import { complete, getPrompt, placeOf, readResource, watchable } from './gateway-content.ts';
import { failureOf, urlsFailure } from './gateway-failure.ts';
import { GATEWAY_METHODS } from './gateway-methods.ts';
import type { OwnTool } from './gateway-own-tools.ts';
import type { GatewayView } from './gateway-view.ts';
import { type Reader, readerOf } from './outgoing/reader.ts';
import { sentResult } from './outgoing/results.ts';
import { Relisting } from './relisting.ts';
import {
  capabilitiesBy,
  handedOnBy,
  type RequestedCall,
  refused,
  refusedWrapped,
  requestedCall,
} from './requested-call.ts';
import type { ServedSession } from './served-host.ts';
import { callTaskTool, isTaskTool } from './task-tools.ts';

/** Lists the resources, templates or prompts of all servers. */
export type ContentList = (view: GatewayView, listWait: ListWait) => Promise<Params>;

/** The capabilities that are forwarded for a client, while a person looks at the page or not. */
interface DeclaredCapabilities {
  readonly clientInfo: ClientInfo;
  readonly approvalQueue: QuestionQueue | undefined;
  readonly declared: Params;
}

export class GatewayClient implements ClientHandler {
  readonly methods: typeof GATEWAY_METHODS = GATEWAY_METHODS;
  readonly clientConnection: ClientConnection;
  readonly view: GatewayView;
  readonly #gateway: Gateway;
  /** Created on first use: a stateless request that does not list needs none. */
  #relisting: Relisting | undefined;
  /** Created on first use: most stateless requests need none. */
  #tasks: ClientTasks | undefined;
  #session: ServedSession | undefined;
  readonly #memory: SessionMemory | undefined;
  /** The approvals and loaded tools of a session; undefined for a client without one. */
  readonly memory: ClientMemory | undefined;
  #capabilities: DeclaredCapabilities | undefined;
  #reader: { readonly clientInfo: ClientInfo; readonly reader: Reader } | undefined;
  #removeFromGateway: (() => void) | undefined;
  #hasResults = false;
  /** The most verbose level that a modern request asked for. */
  #logLevel: LogLevel | undefined;

  constructor(gateway: Gateway, view: GatewayView, clientConnection: ClientConnection) {
    this.#gateway = gateway;
    this.view = view;
    this.clientConnection = clientConnection;
    this.#memory = clientConnection.isStateless ? undefined : createMemory();
    this.memory = this.#memory && new RecordableMemory(this.#memory);
  }

  /** Tasks that this client follows itself. */
  get tasks(): ClientTasks {
    this.#tasks ??= new ClientTasks(this.#gateway.tasks, this);
    return this.#tasks;
  }

  /** The owner of its stored tasks. */
  get taskOwner(): string {
    const { clientConnection } = this;
    return taskOwner(this.#gateway.principalOf(clientConnection), this.#gateway.placeOf(this));
  }

  /** The id of a stored task for this client; a replica seals the ids of its tasks. */
  storedTaskId(id: string): string {
    return this.#gateway.hasReplicas ? this.issueTaskId() : id;
  }

  issueTaskId(): string {
    return this.#gateway.issueHandle('task', this.clientConnection.principal);
  }

  remember({ allowed, loaded }: RecordedMemory): void {
    for (const rule of allowed) this.#memory?.allowed.add(rule);
    for (const tool of loaded) this.#memory?.loaded.add(tool);
  }

  get hidesRules(): boolean {
    return this.view.profile !== undefined;
  }

  /** The id of its session; undefined before it needs one. */
  get sessionId(): string | undefined {
    return this.#session?.id;
  }

  enter(): void {
    this.session();
  }

  leave(): void {
    if (this.#session === undefined) return;
    this.#removeFromGateway?.();
    this.#removeFromGateway = undefined;
    this.#tasks?.leave();
    this.#session.end();
  }

  /** Notifies the client that a list changed. True if a legacy client was reached. */
  listChanged(kind: ListKind): boolean {
    const isReached = this.clientConnection.listChanged(kind);
    if (kind === 'tools') {
      this.#gateway.listWait.notified(this.clientConnection);
      if (isReached) this.#relisted().notified();
    }
    return isReached;
  }

  about(client: Pick<ClientInfo, 'era' | 'version'>): Params {
    const { everything } = this.view;
    const instructions = [this.view.budgetLine(), everything.instructions()]
      .filter((part) => part !== '')
      .join('\n\n');
    return {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
        ...withExtensions(tasksCapability(client), everything),
      },
      ...(instructions === '' ? {} : { instructions }),
    };
  }

  // Implementations of the rows of `methods.ts`.

  listTools(params: Params, clientInfo: ClientInfo): Params | Promise<Params> {
    firstPage(params);
    const { listWait } = this.#gateway;
    listWait.listed(this.clientConnection, clientInfo.client);
    return (
      this.view.host.firstLists
        .tools(listWait.of(clientInfo.client))
        ?.then(() => this.#listTools(clientInfo)) ?? this.#listTools(clientInfo)
    );
  }

  /** The list waits for servers that start, as long as this client can wait. */
  listContent(list: ContentList, params: Params, { client }: ClientInfo): Promise<Params> {
    firstPage(params);
    return list(this.view, this.#gateway.listWait.of(client));
  }

  call(params: Params, work: Work): Promise<Params> {
    const requested = requestedCall(params);
    if (!isCallTool(requested.name)) return this.#callNamed(requested, params, work, refused);
    const wrapped = wrappedCall(requested.args);
    if (wrapped instanceof PlugboardError) return Promise.resolve(refusedWrapped(wrapped));
    const readOnly = requested.name === CALL_TOOL_READ;
    return this.#callNamed({ ...wrapped, readOnly }, params, work, refusedWrapped);
  }

  /** A program of an ended process goes on here. */
  continued(method: string, params: Params, continuation: string): Params | undefined {
    if (method !== 'tools/call' || params['name'] !== RUN) return undefined;
    return { ...params, arguments: { resume: continuation } };
  }

  read(params: Params, work: Work): Promise<Params> {
    const { uri } = params;
    if (typeof uri === 'string' && uri.startsWith(RESULT_PREFIX)) return this.#readResult(uri, work);
    return readResource(
      this.view,
      this.#gateway.outputs,
      params,
      work.clientInfo,
      this.clientConnection.principal,
      ({ server, uri }) =>
        this.#during(server, work, (session) =>
          session.read(server, uri, {
            signal: work.signal,
            handedOn: this.#handedOn(params, work),
          }),
        ),
    );
  }

  prompt(params: Params, work: Work): Promise<Params> {
    return getPrompt(this.view, params, work.clientInfo, ({ server, name }, args) =>
      this.#during(server, work, (session) =>
        session.prompt(server, name, args, {
          signal: work.signal,
          handedOn: this.#handedOn(params, work),
        }),
      ),
    );
  }

  complete(params: Params, work: Work): Promise<Params> {
    return complete(this.view, params, work.clientInfo, (ref, argument, context) =>
      this.session().complete(ref, argument, {
        signal: work.signal,
        context,
        handedOn: this.#handedOn(params, work),
      }),
    );
  }

  watchTask(taskId: string, clientInfo: ClientInfo, changed: (state: Params) => void): Unsubscribe {
    return this.tasks.watch(taskId, clientInfo, changed);
  }

  /** Handles a request without a row: it goes to the one server that declares the extension it belongs to. */
  async extension(method: string, given: Params, work: Work): Promise<Params> {
    const { _meta: _own, ...params } = given;
    const session = this.session();
    const { name, uri } = params;
    const tool =
      typeof name === 'string'
        ? toolFor(session, name, { clientInfo: work.clientInfo, found: session.find(name) })
        : undefined;
    const place = typeof uri === 'string' ? await placeOf(this.view, uri) : undefined;
    const server = ownerOf(session, method, given, { tool, place });
    const translated = {
      ...params,
      ...(tool?.server === server ? { name: tool.tool } : {}),
      ...(place?.server === server ? { uri: place.uri } : {}),
    };
    const result = await this.#during(server, work, (caller) =>
      caller.request(server, method, translated, {
        signal: work.signal,
        onProgress: passedProgress(given, work, this.clientConnection),
        handedOn: this.#handedOn({ _meta: _own }, work),
      }),
    );
    this.view.addresses.remember(server, result);
    return result;
  }

  wantsLog(level: LogLevel): void {
    this.session().setLogLevel(level);
  }

  /** Sends a log message of a server or about it, with the server's name in `_meta`: a gateway has several. */
  log(server: string, level: LogLevel, params: Params): void {
    const { logger = server, _meta } = params;
    const meta = { ...withoutReserved(isRecord(_meta) ? _meta : {}), ...serverMeta(server) };
    const isLegacy = ({ clientInfo }: Work): boolean => clientInfo.era === 'legacy';
    this.clientConnection.log(
      level,
      { ...params, logger, _meta: meta },
      (work) => isLegacy(work) || work.server === server,
    );
  }

  async watch(uri: unknown, clientInfo: ClientInfo, changed: (uri: string) => void): Promise<Unsubscribe> {
    const { place, addressOf } = await watchable(this.view, uri, clientInfo);
    return this.session().subscribe(place.server, place.uri, (update) => changed(addressOf(update.uri)));
  }

  /** Returns the request that a question belongs to: the host has checked that it is one of this client's. */
  workFor(server: string | undefined, signal: AbortSignal | undefined): Work | undefined {
    const works = this.clientConnection.works().toReversed();
    const own = works.find((work) => work.signal === signal);
    if (own !== undefined) return own;
    return works.find((work) => server !== undefined && work.server === server) ?? works[0];
  }

  /** Returns a way to ask outside of any request. */
  outside(): ReturnType<ClientConnection['outside']> {
    return this.clientConnection.outside();
  }

  rootsChanged(): void {
    void this.#session?.rootsChanged();
  }

  get clock(): Clock {
    return this.#gateway.clock;
  }

  get approvalQueue(): QuestionQueue | undefined {
    const { approvalQueue } = this.#gateway;
    return approvalQueue?.isAttended === true ? approvalQueue : undefined;
  }

  /** Questions of the server during `run` belong to this request of this client. */
  #during<T>(server: string, work: Work, run: (session: ServedSession) => Promise<T>): Promise<T> {
    const session = this.session();
    work.server = server;
    this.#wantLogs(work, session);
    return run(session);
  }

  session(): ServedSession {
    if (this.#session === undefined) {
      const { approve, elicit, sample, sampling, roots } = questionsOf(this);
      this.#session = this.#gateway.host.session({
        approvals: this.#gateway.approvals,
        gateway: true,
        client: this.#gateway.principalOf(this.clientConnection).client,
        deduplicate: this.view.deduplicates,
        profile: this.view.profile,
        describe: () => this.#gateway.placeOf(this),
        // Stateless requests are separated by their principal, as far as it was authenticated.
        stateOf: this.clientConnection.isStateless
          ? { principal: `${this.#gateway.id} ${this.clientConnection.principal}` }
          : 'session',
        canBeAsked: () => this.#canBeAsked(),
        memory: this.#memory,
        approve,
        elicit,
        sample,
        sampling,
        roots,
      });
      this.#removeFromGateway = this.#gateway.enter(this.#session.id, this);
    }
    return this.#session;
  }

  /** Sets the log level: modern clients request log messages per request; a legacy server has one level for all. */
  #wantLogs({ clientInfo }: Work, session: ServedSession): void {
    if (clientInfo.era === 'legacy' || clientInfo.logLevel === undefined) return;
    this.#logLevel = moreVerbose(clientInfo.logLevel, this.#logLevel);
    session.setLogLevel(this.#logLevel);
  }

  /** Returns the conversion of a server's results for the client of a request. */
  passOn(work: Pick<Work, 'clientInfo' | 'server'>, tool: string): (result: ShapedResult) => Params {
    return (result) => this.#sent(result, work, tool);
  }

  #sent(
    result: ShapedResult,
    { clientInfo, server }: Pick<Work, 'clientInfo' | 'server'>,
    tool: string,
  ): Params {
    const { outputs } = this.#gateway;
    const { addresses, repaired } = this.view;
    const { principal } = this.clientConnection;
    return sentResult(result, {
      reader: this.#readerFor(clientInfo),
      bind: (content) => (server === undefined ? content : addresses.bind(server, content)),
      offer: (truncated) => outputs.offer(truncated, principal),
      note: (text) => repaired(server ?? tool, `result of ${tool}`, text),
    });
  }

  #handedOn(params: Params, { clientInfo }: Work): HandedOn {
    const { approvalQueue } = this;
    if (this.#capabilities?.clientInfo !== clientInfo || this.#capabilities.approvalQueue !== approvalQueue) {
      const declared = capabilitiesBy(clientInfo, approvalQueue);
      this.#capabilities = { clientInfo, approvalQueue, declared };
    }
    return handedOnBy(params, clientInfo, this.#capabilities.declared);
  }

  /** The calls of a legacy client share one `ClientInfo`. */
  #readerFor(clientInfo: ClientInfo): Reader {
    if (this.#reader?.clientInfo !== clientInfo) this.#reader = { clientInfo, reader: readerOf(clientInfo) };
    return this.#reader.reader;
  }

  #relisted(): Relisting {
    this.#relisting ??= new Relisting(this.#gateway.clock);
    return this.#relisting;
  }

  #canBeAsked(): boolean {
    return this.approvalQueue !== undefined || this.clientConnection.canAsk;
  }

  #listTools(clientInfo: ClientInfo): Params {
    this.#relisted().listed();
    // Stateless requests come over HTTP.
    const reader = readerOf(clientInfo, this.clientConnection.isStateless);
    const session = this.session();
    const tools = session.tools({ isWithApps: hasUi(clientInfo) });
    return { tools: this.view.listTools(this.view.withTaskTools(session, tools, clientInfo), reader) };
  }

  async #callNamed(
    call: RequestedCall,
    params: Params,
    work: Work,
    refuse: (error: PlugboardError) => Params,
  ): Promise<Params> {
    const { clientConnection } = this;
    const { name, args } = call;
    const own = this.view.own.get(name);
    const session = this.session();
    const found = session.find(name);
    const isTaker = takesTasks(work.clientInfo, params);
    const task = isTaker ? this.tasks.wanted(found, params, work) : undefined;
    const isLimited =
      task === undefined && found !== undefined && (isTaker || session.backgroundAfter(found) !== undefined);
    const waits = isLimited ? this.tasks.waitFor(found, params, work) : undefined;
    try {
      if (found === undefined && own === undefined && isTaskTool(name) && session.hasBackground)
        return await this.#callTaskTool(call, work);
      if (own !== undefined) {
        if (call.readOnly === true && own.definition.annotations?.readOnlyHint !== true)
          throw notReadOnly(name);
        return await this.#callOwn(own, args, params, work);
      }
      const tool = toolFor(session, name, { clientInfo: work.clientInfo, found });
      work.server = tool?.server;
      this.#wantLogs(work, session);
      const before = name === TOOL_SEARCH ? session.tools().length : 0;
      const called = found === undefined ? (tool?.name ?? name) : name;
      const options = {
        cancellation: work,
        onProgress: passedProgress(params, work, clientConnection),
        handedOn: this.#handedOn(params, work),
        task: task?.request,
        onProgram: (id: string) => {
          work.continuation = id;
        },
        readOnly: call.readOnly,
        select: call.select,
      };
      const awaited = waits === undefined ? undefined : await waits.call(session, called, args, options);
      if (awaited !== undefined && 'response' in awaited) return awaited.response;
      const result = awaited?.result ?? (await session.call(called, args, options));
      if (task !== undefined && (result.task !== undefined || work.clientInfo.era === 'legacy')) {
        const { server = '' } = work;
        return this.tasks.handOn(task, work, result.task ?? finishedTask(server, result, this.clock.now()));
      }
      if (name === TOOL_SEARCH && session.tools().length > before) await this.#foundTools(work);
      // The tool that reads stored results is listed from now on.
      if (result.truncated?.ref !== undefined && !this.#hasResults) {
        this.#hasResults = true;
        await this.#foundTools(work);
      }
      return this.#sent(result, work, name);
    } catch (thrown) {
      const error = asPlugboardError(thrown);
      const isAskable = this.approvalQueue !== undefined || canElicit(work.clientInfo, 'url');
      const unasked = isAskable ? undefined : urlsFailure(error);
      if (unasked !== undefined) throw unasked;
      // It may belong to a server that is still starting; only that one is awaited.
      const arrival = error.code === 'UNKNOWN_TOOL' ? this.view.host.firstLists.arrival(name) : undefined;
      return arrival === undefined
        ? refuse(error)
        : arrival.then(() => this.#callNamed(call, params, work, refuse));
    }
  }

  /** Appends found tools to the list of a legacy client, and delays the response until it has listed them. */
  async #foundTools(work: Work): Promise<void> {
    if (work.clientInfo.era === 'legacy' && this.listChanged('tools')) await this.#relisted().hold(work);
  }

  /** Reads a stored result, or a part of it: agents have tools for resources, also where their list of tools is fixed. */
  async #readResult(uri: string, { clientInfo }: Work): Promise<Params> {
    try {
      return { contents: [await this.session().storedResult(uri)] };
    } catch (thrown) {
      const error = asPlugboardError(thrown);
      const isPart = error.code === 'INVALID_ARGUMENTS' && uri.includes('?');
      throw isPart ? failureOf(error) : resourceNotFound(uri, clientInfo.era);
    }
  }

  /** Answers one of the tools that follow calls in the background. */
  #callTaskTool({ name, args }: RequestedCall, { clientInfo }: Work): Promise<Params> {
    return callTaskTool({
      name,
      args,
      session: this.session(),
      owner: this.taskOwner,
      clock: this.clock,
      passOn: ({ info: { server, name: tool } }, result) => this.#sent(result, { clientInfo, server }, tool),
    });
  }

  /** Its questions belong to this request, and to no other of this client. */
  async #callOwn(tool: OwnTool, args: Params, params: Params, work: Work): Promise<Params> {
    const { name, annotations } = tool.definition;
    await this.session().approveOwn({ tool: name, annotations, arguments: args, signal: work.signal });
    return tool.call({
      arguments: args,
      principal: this.clientConnection.principal,
      signal: work.signal,
      questions: questionsOf({
        approvalQueue: this.approvalQueue,
        workFor: () => work,
        clock: this.clock,
        hidesRules: this.hidesRules,
      }),
      onProgress: progressOf(params, work),
      log: (data) => {
        if (work.clientInfo.era === 'modern' && work.clientInfo.logLevel === undefined) return;
        work.notify('notifications/message', { level: 'info', logger: tool.definition.name, data });
      },
    });
  }
}

/**
 * Forwards progress of a server, with the part of its `_meta` that clients may receive; that of a legacy task
 * continues after the response.
 */
function passedProgress(
  params: Params,
  work: Work,
  clientConnection: ClientConnection,
): ((progress: Progress) => void) | undefined {
  // Most requests do not ask for progress.
  if (params['_meta'] === undefined) return undefined;
  const report = progressOf(params, {
    notify: (method, params) => {
      if (work.exchange === undefined) clientConnection.notify(method, params);
      else work.notify(method, params);
    },
  });
  if (report === undefined) return undefined;
  return (progress) => {
    const { _meta, ...rest } = progress;
    report(_meta === undefined ? progress : { ...rest, ...cleanMeta(_meta) });
  };
}

/** Stored results stay in the process, so the tool that reads them is not recorded. */
class RecordableMemory implements ClientMemory {
  readonly #memory: SessionMemory;

  constructor(memory: SessionMemory) {
    this.#memory = memory;
  }

  get size(): number {
    return this.#memory.allowed.size + this.#memory.loaded.size;
  }

  toRecord(): RecordedMemory {
    const { allowed, loaded } = this.#memory;
    return { allowed: [...allowed], loaded: [...loaded].filter((tool) => tool !== RESULT_ID) };
  }
}
