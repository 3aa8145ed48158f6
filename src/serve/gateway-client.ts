/** One client of the gateway: its session of the host, and the responses to its requests. */

import type { ShapedResult } from '../call/shape.ts';
import { wrappedCall } from '../catalog/call-tool.ts';
import { CALL_TOOL, TOOL_SEARCH } from '../catalog/deferral.ts';
import { cleanMeta } from '../connection/handed-on.ts';
import { type LogLevel, moreVerbose } from '../connection/log-levels.ts';
import type { Progress } from '../connection/peer.ts';
import type { Attendant, ListKind } from '../endpoint/backend.ts';
import type { Front } from '../endpoint/client-connection.ts';
import type { Asker, Params } from '../endpoint/client-era.ts';
import { canElicit } from '../endpoint/elicitation.ts';
import { firstPage, progressOf } from '../endpoint/requests.ts';
import type { Work } from '../endpoint/work.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { serverMeta, withoutReserved } from './attribution.ts';
import { type QuestionDesk, questionsOf } from './client-questions.ts';
import { ClientTasks } from './client-tasks.ts';
import { hasUi, ownerOf, toolFor, withExtensions } from './extension-methods.ts';
import { finishedTask } from './finished-task.ts';
import { handedOnBy } from './forwarded-fields.ts';
import type { Gateway } from './gateway.ts';
import {
  complete,
  getPrompt,
  listPrompts,
  listResources,
  listTemplates,
  placeOf,
  readResource,
  watchable,
} from './gateway-content.ts';
import { urlsFailure } from './gateway-failure.ts';
import { GATEWAY_METHODS } from './gateway-methods.ts';
import type { OwnTool } from './gateway-own-tools.ts';
import { takesTasks, tasksCapability } from './gateway-tasks.ts';
import { readerOf } from './outgoing/reader.ts';
import { sentResult } from './outgoing/results.ts';
import { Relisting } from './relisting.ts';
import { type RequestedCall, refused, refusedWrapped, requestedCall } from './requested-call.ts';
import type { ServedSession } from './served-host.ts';

export class GatewayClient implements Attendant {
  readonly methods: typeof GATEWAY_METHODS = GATEWAY_METHODS;
  readonly front: Front;
  readonly #gateway: Gateway;
  readonly #relisting: Relisting;
  /** Created on first use: most stateless requests need none. */
  #tasks: ClientTasks | undefined;
  #session: ServedSession | undefined;
  /** The most verbose level that a modern request asked for. */
  #logLevel: LogLevel | undefined;

  constructor(gateway: Gateway, front: Front) {
    this.#gateway = gateway;
    this.front = front;
    this.#relisting = new Relisting(gateway.clock);
  }

  /** Tasks that this client follows itself. */
  get tasks(): ClientTasks {
    this.#tasks ??= new ClientTasks({
      tasks: this.#gateway.tasks,
      front: this.front,
      clock: this.#gateway.clock,
      session: () => this.#open(),
      desk: () => this.desk,
      passOn: (to, tool) => this.#passOn(to, tool),
    });
    return this.#tasks;
  }

  enter(): void {
    this.#open();
  }

  leave(): void {
    if (this.#session === undefined) return;
    this.#gateway.leave(this.#session.id);
    this.#tasks?.leave();
    this.#session.end();
  }

  /** Notifies the client that a list changed. True if a legacy client was reached. */
  listChanged(kind: ListKind): boolean {
    const isReached = this.front.listChanged(kind);
    if (kind === 'tools') {
      this.#gateway.patience.told(this.front);
      if (isReached) this.#relisting.told();
    }
    return isReached;
  }

  about(client: Pick<Asker, 'era' | 'version'>): Params {
    const instructions = this.#gateway.host.instructions();
    return {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        completions: {},
        logging: {},
        ...withExtensions(tasksCapability(client), this.#gateway.everything),
      },
      ...(instructions === '' ? {} : { instructions }),
    };
  }

  // Implementations of the rows of `methods.ts`.

  listTools(params: Params, asker: Asker): Params | Promise<Params> {
    firstPage(params);
    const { host, patience } = this.#gateway;
    patience.listed(this.front, asker.client);
    return (
      host.firstLists.tools(patience.of(asker.client))?.then(() => this.#listTools(asker)) ??
      this.#listTools(asker)
    );
  }

  listResources(params: Params, { client }: Asker): Promise<Params> {
    firstPage(params);
    return listResources(this.#gateway, this.#gateway.patience.of(client));
  }

  listTemplates(params: Params, { client }: Asker): Promise<Params> {
    firstPage(params);
    return listTemplates(this.#gateway, this.#gateway.patience.of(client));
  }

  listPrompts(params: Params, { client }: Asker): Promise<Params> {
    firstPage(params);
    return listPrompts(this.#gateway, this.#gateway.patience.of(client));
  }

  async call(params: Params, work: Work): Promise<Params> {
    const requested = requestedCall(params);
    if (requested.name !== CALL_TOOL) return this.#callNamed(requested, params, work, refused);
    const wrapped = wrappedCall(requested.args);
    if (wrapped instanceof PlugboardError) return refusedWrapped(wrapped, undefined);
    return this.#callNamed(wrapped, params, work, (error) =>
      refusedWrapped(error, this.#open().find(wrapped.name)),
    );
  }

  read(params: Params, work: Work): Promise<Params> {
    return readResource(this.#gateway, params, work.asker, this.front.principal, ({ server, uri }) =>
      this.#during(server, work, (session) =>
        session.read(server, uri, {
          signal: work.signal,
          handedOn: handedOnBy(params, work.asker, this.desk),
        }),
      ),
    );
  }

  prompt(params: Params, work: Work): Promise<Params> {
    return getPrompt(this.#gateway, params, work.asker, ({ server, name }, args) =>
      this.#during(server, work, (session) =>
        session.prompt(server, name, args, {
          signal: work.signal,
          handedOn: handedOnBy(params, work.asker, this.desk),
        }),
      ),
    );
  }

  complete(params: Params, work: Work): Promise<Params> {
    return complete(this.#gateway, params, work.asker, (ref, argument, context) =>
      this.#open().complete(ref, argument, {
        signal: work.signal,
        context,
        handedOn: handedOnBy(params, work.asker, this.desk),
      }),
    );
  }

  watchTask(taskId: string, asker: Asker, changed: (state: Params) => void): Unsubscribe {
    return this.tasks.watch(taskId, asker, changed);
  }

  /** Handles a request without a row: it goes to the one server that declares the extension it belongs to. */
  async extension(method: string, given: Params, work: Work): Promise<Params> {
    const { _meta: _own, ...params } = given;
    const session = this.#open();
    const { name, uri } = params;
    const tool =
      typeof name === 'string'
        ? toolFor(session, name, { asker: work.asker, found: session.find(name) })
        : undefined;
    const place = typeof uri === 'string' ? await placeOf(this.#gateway, uri) : undefined;
    const server = ownerOf(session, method, given, { tool, place });
    const translated = {
      ...params,
      ...(tool?.server === server ? { name: tool.tool } : {}),
      ...(place?.server === server ? { uri: place.uri } : {}),
    };
    const result = await this.#during(server, work, (caller) =>
      caller.request(server, method, translated, {
        signal: work.signal,
        onProgress: passedProgress(given, work, this.front),
        handedOn: handedOnBy({ _meta: _own }, work.asker, this.desk),
      }),
    );
    this.#gateway.addresses.remember(server, result);
    return result;
  }

  wantsLog(level: LogLevel): void {
    this.#open().setLogLevel(level);
  }

  /** Sends a log message of a server or about it, with the server's name in `_meta`: a gateway has several. */
  log(server: string, level: LogLevel, params: Params): void {
    const { logger = server, _meta } = params;
    const meta = { ...withoutReserved(isRecord(_meta) ? _meta : {}), ...serverMeta(server) };
    const isLegacy = ({ asker }: Work): boolean => asker.era === 'legacy';
    this.front.log(
      level,
      { ...params, logger, _meta: meta },
      (work) => isLegacy(work) || work.server === server,
    );
  }

  async watch(uri: unknown, asker: Asker, changed: (uri: string) => void): Promise<Unsubscribe> {
    const { place, addressOf } = await watchable(this.#gateway, uri, asker);
    return this.#open().subscribe(place.server, place.uri, (update) => changed(addressOf(update.uri)));
  }

  /** Returns the request that a question belongs to: the host has checked that it is one of this client's. */
  workFor(server: string | undefined, signal: AbortSignal | undefined): Work | undefined {
    const works = this.front.works().toReversed();
    const own = works.find((work) => work.signal === signal);
    if (own !== undefined) return own;
    return works.find((work) => server !== undefined && work.server === server) ?? works[0];
  }

  /** Returns a way to ask outside of any request. */
  outside(): ReturnType<Front['outside']> {
    return this.front.outside();
  }

  rootsChanged(): void {
    void this.#session?.rootsChanged();
  }

  get clock(): Clock {
    return this.#gateway.clock;
  }

  get desk(): QuestionDesk | undefined {
    const { desk } = this.#gateway;
    return desk?.isAttended === true ? desk : undefined;
  }

  /** Questions of the server during `run` belong to this request of this client. */
  #during<T>(server: string, work: Work, run: (session: ServedSession) => Promise<T>): Promise<T> {
    const session = this.#open();
    work.server = server;
    this.#wantLogs(work, session);
    return run(session);
  }

  #open(): ServedSession {
    if (this.#session === undefined) {
      this.#session = this.#gateway.host.session({
        approvals: this.#gateway.approvals,
        gateway: true,
        // Stateless requests are separated by their principal, as far as it was authenticated.
        stateOf: this.front.isStateless
          ? { principal: `${this.#gateway.id} ${this.front.principal}` }
          : 'session',
        canBeAsked: () => this.#canBeAsked(),
        ...questionsOf(this),
      });
      this.#gateway.enter(this.#session.id, this);
    }
    return this.#session;
  }

  /** Sets the log level: modern clients request log messages per request; a legacy server has one level for all. */
  #wantLogs({ asker }: Work, session: ServedSession): void {
    if (asker.era === 'legacy' || asker.logLevel === undefined) return;
    this.#logLevel = moreVerbose(asker.logLevel, this.#logLevel);
    session.setLogLevel(this.#logLevel);
  }

  /** Returns the conversion of a server's results for the client of a request. */
  #passOn({ asker, server }: Pick<Work, 'asker' | 'server'>, tool: string): (result: ShapedResult) => Params {
    const { outputs, addresses } = this.#gateway;
    const { principal } = this.front;
    return (result) =>
      sentResult(result, {
        reader: readerOf(asker),
        bind: (content) => (server === undefined ? content : addresses.bind(server, content)),
        offer: (file) => outputs.offer(file, principal),
        note: (text) => this.#gateway.repaired(server ?? tool, `result of ${tool}`, text),
      });
  }

  #canBeAsked(): boolean {
    return this.desk !== undefined || this.front.canAsk;
  }

  #listTools(asker: Asker): Params {
    this.#relisting.listed();
    // Stateless requests come over HTTP.
    const reader = readerOf(asker, this.front.isStateless);
    return { tools: this.#gateway.listTools(this.#open().tools({ isWithApps: hasUi(asker) }), reader) };
  }

  async #callNamed(
    call: RequestedCall,
    params: Params,
    work: Work,
    refuse: (error: PlugboardError) => Params,
  ): Promise<Params> {
    const { front } = this;
    const { name, args } = call;
    const own = this.#gateway.own.get(name);
    const session = this.#open();
    const found = session.find(name);
    const task = takesTasks(work.asker, params) ? this.tasks.wanted(found, params, work) : undefined;
    try {
      if (own !== undefined) return await this.#callOwn(own, args, params, work);
      const tool = toolFor(session, name, { asker: work.asker, found });
      work.server = tool?.server;
      this.#wantLogs(work, session);
      const before = name === TOOL_SEARCH ? session.tools().length : 0;
      const called = found === undefined ? (tool?.name ?? name) : name;
      const result = await session.call(called, args, {
        cancellation: work,
        onProgress: passedProgress(params, work, front),
        handedOn: handedOnBy(params, work.asker, this.desk),
        task: task?.wish,
      });
      if (task !== undefined && (result.task !== undefined || work.asker.era === 'legacy')) {
        const { server = '' } = work;
        return this.tasks.handOn(task, work, result.task ?? finishedTask(server, result, this.clock.now()));
      }
      if (name === TOOL_SEARCH && session.tools().length > before) await this.#foundTools(work);
      return this.#passOn(work, name)(result);
    } catch (thrown) {
      const error = asPlugboardError(thrown);
      const isAskable = this.desk !== undefined || canElicit(work.asker, 'url');
      const unasked = isAskable ? undefined : urlsFailure(error);
      if (unasked !== undefined) throw unasked;
      // It may belong to a server that is still starting; only that one is awaited.
      const arrival = error.code === 'UNKNOWN_TOOL' ? this.#gateway.host.firstLists.arrival(name) : undefined;
      return arrival === undefined
        ? refuse(error)
        : arrival.then(() => this.#callNamed(call, params, work, refuse));
    }
  }

  /** Appends found tools to the list of a legacy client, and delays the response until it has listed them. */
  async #foundTools(work: Work): Promise<void> {
    if (work.asker.era === 'legacy' && this.listChanged('tools')) await this.#relisting.hold(work);
  }

  /** Its questions belong to this request, and to no other of this client. */
  async #callOwn(tool: OwnTool, args: Params, params: Params, work: Work): Promise<Params> {
    const { name, annotations } = tool.definition;
    await this.#open().approveOwn({ tool: name, annotations, arguments: args, signal: work.signal });
    return tool.call({
      arguments: args,
      principal: this.front.principal,
      signal: work.signal,
      questions: questionsOf({ desk: this.desk, workFor: () => work, clock: this.clock }),
      onProgress: progressOf(params, work),
      log: (data) => {
        if (work.asker.era === 'modern' && work.asker.logLevel === undefined) return;
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
  front: Front,
): ((progress: Progress) => void) | undefined {
  const report = progressOf(params, {
    notify: (method, told) => {
      if (work.exchange === undefined) front.notify(method, told);
      else work.notify(method, told);
    },
  });
  if (report === undefined) return undefined;
  return (progress) => {
    const { _meta, ...rest } = progress;
    report(_meta === undefined ? progress : { ...rest, ...cleanMeta(_meta) });
  };
}
