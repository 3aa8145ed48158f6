/** One session of a host: its visible tools, its approvals, and where its questions are sent. */

import { type ApprovalState, approvalState, type Judged, type OwnAction } from '../call/approve.ts';
import type { ContentAction } from '../call/approve-content.ts';
import { LOCAL_OWNER } from '../call/become-task.ts';
import { accountsOf } from '../call/budget.ts';
import type { CallOptions } from '../call/call.ts';
import { hasReference, withResults } from '../call/fill-references.ts';
import { checkSignal, faultOfCallOptions } from '../call/options-check.ts';
import { settingsIn } from '../call/resolved-call.ts';
import { dataOf } from '../call/result-store.ts';
import type { Session } from '../call/session.ts';
import { approvalsFor, offersContent, searchFor, snapshotFor } from '../call/session-view.ts';
import type { ShapedResult } from '../call/shape.ts';
import { argumentProblems } from '../call/validate.ts';
import { type WrappedCall, wrappedCall } from '../catalog/call-tool.ts';
import { joinInstructions, type Snapshot } from '../catalog/catalog.ts';
import type { Completion, CompletionOptions, CompletionRef } from '../catalog/completion.ts';
import { type Capability, isDeclared } from '../catalog/content-lists.ts';
import { CALL_TOOL, type Deferral, visibleTools } from '../catalog/deferral.ts';
import { type DeclaredExtensions, extensionsIn } from '../catalog/extensions.ts';
import type { PromptArguments, PromptResult } from '../catalog/prompts.ts';
import {
  isResourceTool,
  LIST_RESOURCES,
  READ_METHOD,
  READ_RESOURCE,
  resourceRuleNames,
} from '../catalog/resource-tool-definitions.ts';
import type { ReadResult } from '../catalog/resources.ts';
import type { ResourceListener } from '../catalog/resources-subscribe.ts';
import { RESULT, RESULT_ID, RESULT_TOOL } from '../catalog/result-tool-definition.ts';
import { RUN, runTool } from '../catalog/run-tool-definition.ts';
import type { Tool } from '../catalog/tool.ts';
import type { ToolSettings } from '../config/entry.ts';
import { unknownServer } from '../config/unknown-server.ts';
import type { Connection } from '../connection/connection.ts';
import { passedMeta } from '../connection/handed-on.ts';
import type { LogLevel } from '../connection/log-levels.ts';
import type { Params } from '../connection/peer.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { type Cancellable, cancellationBy, whileOpen } from '../lib/cancellation.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import type { Spellings } from '../policy/approval.ts';
import type { BudgetUse } from '../policy/budgets.ts';
import type { RunningTask } from '../tasks/running-task.ts';
import type { TaskInfo } from '../tasks/task-record.ts';
import type { BackgroundTask } from './background-task.ts';
import type { ContentCaller, ContentOptions, Expansion } from './host-content.ts';
import type { HostCore } from './host-core.ts';
import { hostDeferral } from './host-deferral.ts';
import { checkEvent, onSession } from './host-events.ts';
import type { HostEvents } from './host-options.ts';
import { primaryOf, resourceToolsFor } from './host-resource-tools.ts';
import { givenText, type SearchResult, searchResult } from './host-search.ts';
import { checkRawMethod } from './raw-request.ts';
import { ServerProxy } from './server-proxy.ts';
import { type ToolSchemas, type TypedTools, typedTools } from './typed-tools.ts';

const LISTING_ALLOWED: ApprovalState = { decision: 'allow', reason: 'it lists what there is' };
const RESULT_ALLOWED: ApprovalState = { decision: 'allow', reason: 'it reads a result of the session' };
const RUN_ALLOWED: ApprovalState = {
  decision: 'allow',
  reason: 'each call of a program is approved by itself',
};

/** A session of a host. Use `host.session()`, and `end()` when the caller is gone. */
export class HostSession {
  readonly #core: HostCore;
  readonly #session: Session;
  #isEnded = false;
  readonly #subscriptions: Unsubscribe[] = [];
  readonly #deferral: () => Deferral;
  /** The ends of its calls that may go on in the background. */
  readonly #tasks = new Set<Promise<void>>();
  /** The tools of a session that may use only some. */
  #offered: { readonly snapshot: Snapshot; readonly tools: readonly Tool[] } | undefined;

  constructor(core: HostCore, session: Session) {
    this.#core = core;
    this.#session = session;
    const { offers, profile } = session;
    if (offers === undefined) this.#deferral = profile?.deferral ?? core.deferral;
    else
      this.#deferral = hostDeferral(core, {
        offers,
        snapshot: () => this.#snapshot,
        codeMode: () => core.codeModeFor(session) !== undefined,
      });
  }

  get id(): string {
    return this.#session.id;
  }

  /**
   * Returns the tools for this session's model, in stable order; tools loaded by search come last. `isWithApps`:
   * includes the tools for user interfaces of servers, for gateway clients that show these.
   */
  tools({ isWithApps = false }: { readonly isWithApps?: boolean } = {}): readonly Tool[] {
    const { gatewayView } = this.#core;
    this.#core.freshen();
    const deferral = this.#deferral();
    const { loaded, gateway, kept } = this.#session;
    const tools = gateway
      ? gatewayView(this.#snapshot, deferral, loaded, isWithApps)
      : visibleTools(deferral, loaded, this.resourceTools());
    kept.form ??= this.#core.definitionsFor(this.#session);
    const listed = kept.form === 'compact' ? this.#core.compact.list(tools) : tools;
    const run = this.#runTool();
    if (run === undefined) return listed;
    this.#core.calls.expectPrograms(this.#core.codeModeFor(this.#session) ?? {});
    return [run, ...listed];
  }

  /** Returns the tool that runs programs, with signatures of the tools that this session may use. */
  #runTool(): Tool | undefined {
    const settings = this.#core.codeModeFor(this.#session);
    const snapshot = this.#snapshot;
    // A server's tool may have this name without its server.
    if (settings === undefined || snapshot.find(RUN) !== undefined) return undefined;
    const { offers } = this.#session;
    if (offers !== undefined && this.#offered?.snapshot !== snapshot) {
      const tools = snapshot.tools.filter((tool) => offers(tool.server, snapshot.ruleNames(tool).assigned));
      this.#offered = { snapshot, tools };
    }
    return runTool(this.#offered?.tools ?? snapshot.tools, settings.descriptionTokens);
  }

  /** Returns the resource tools for this session's model. */
  resourceTools(): readonly Tool[] {
    return resourceToolsFor(this.#core, this.#session);
  }

  /** Returns the tool of a name in any spelling, deferred or not. */
  find(name: string): Tool | undefined {
    if (name === RESULT && this.#session.loaded.has(RESULT_ID)) return RESULT_TOOL;
    if (name === RUN) {
      const run = this.#runTool();
      if (run !== undefined) return run;
    }
    if (isResourceTool(name)) return this.resourceTools().find((tool) => tool.name === name);
    const snapshot = this.#snapshot;
    const tool = snapshot.find(name);
    const { offers } = this.#session;
    if (tool === undefined || offers === undefined) return tool;
    return offers(tool.server, snapshot.ruleNames(tool).assigned) ? tool : undefined;
  }

  /** Returns every tool, deferred or not: for people, who have no context limit. */
  allTools(): readonly Tool[] {
    return this.#snapshot.tools;
  }

  /** Returns the names of a tool that rules are matched against; undefined if there is no such tool. */
  spellings(name: string): Spellings | undefined {
    const snapshot = this.#snapshot;
    const tool = snapshot.find(name);
    return tool === undefined ? undefined : snapshot.ruleNames(tool).assigned;
  }

  /** As the host's. */
  approvalOf(given: string, input?: Readonly<Record<string, unknown>>): ApprovalState | undefined {
    const meant = this.#meant(given, input ?? {});
    if (meant instanceof PlugboardError) return undefined;
    const { name, args } = meant;
    if (this.find(name)?.name === LIST_RESOURCES) return LISTING_ALLOWED;
    const found = this.find(name);
    if (found === RESULT_TOOL) return RESULT_ALLOWED;
    if (found?.name === RUN && found.server === '') return RUN_ALLOWED;
    const judged = this.#judged(name, args);
    if (judged === undefined) return undefined;
    // Rules decide on the content of references, which is read when the tool is called.
    const known = input === undefined || hasReference(args) ? judged : { ...judged, arguments: args };
    return approvalState(known, approvalsFor(this.#session));
  }

  /**
   * Allows the calls of a tool without a question, like an answer of `approve`: `session` until this session ends,
   * `always` with a rule in the person's configuration. For programs that ask the person in another way, such as
   * through a framework. `args` are needed for `read_mcp_resource`, whose `server` they name,
   * and for `call_tool`, whose tool they name.
   */
  async allow(
    given: string,
    until: 'session' | 'always',
    input?: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    this.#core.checkOpen();
    if (this.#isEnded) throw this.#ended();
    if (until !== 'session' && until !== 'always')
      throw new PlugboardError('USAGE', `allow() takes "session" or "always", not ${JSON.stringify(until)}`, {
        hint: '"session" allows until the session ends, "always" adds a rule to the configuration.',
      });
    const meant = this.#meant(given, input ?? {});
    if (meant instanceof PlugboardError) throw meant;
    const { name, args } = meant;
    const found = this.find(name)?.name;
    if (found === LIST_RESOURCES || found === RESULT) return;
    const judged = this.#judged(name, args);
    if (judged === undefined && found === READ_RESOURCE)
      throw new PlugboardError('INVALID_ARGUMENTS', `${READ_RESOURCE} is allowed for one server at a time`, {
        hint: `Give the arguments of the call: allow('${READ_RESOURCE}', '${until}', { server: '…' }).`,
      });
    if (judged === undefined)
      throw new PlugboardError('UNKNOWN_TOOL', `There is no tool called ${JSON.stringify(name)} to allow`, {
        hint: 'List the tools again: they change as servers start and stop.',
      });
    await this.#core.approvals.allow(
      this.#session,
      input === undefined ? judged : { ...judged, arguments: args },
      until === 'always' ? 'allow-always' : 'allow-session',
    );
  }

  /**
   * Returns one sentence for each problem that a call with these arguments would be rejected for; empty if there are
   * none, undefined if there is no such tool. No tool is called and no question is asked.
   */
  async checkArguments(
    given: string,
    input: Readonly<Record<string, unknown>>,
  ): Promise<readonly string[] | undefined> {
    const meant = this.#meant(given, input);
    if (meant instanceof PlugboardError) return [meant.message];
    const { name, args } = meant;
    const tool = this.find(name);
    if (tool === undefined) return undefined;
    const { calls } = this.#core;
    try {
      const filled = hasReference(args) ? await withResults(calls, this.#session, args, tool) : args;
      return argumentProblems(filled, tool, await calls.argumentChecker());
    } catch (thrown) {
      return [asPlugboardError(thrown).message];
    }
  }

  /** Returns the current use of the budgets that apply to this session: those of the configuration, then its own. */
  budgets(): readonly BudgetUse[] {
    return accountsOf(this.#core.calls, this.#session)?.flatMap((account) => account.use()) ?? [];
  }

  /** Reads a resource: text, or bytes as base64. */
  async read(server: string, uri: string, options: ContentOptions = {}): Promise<ReadResult> {
    await this.#approve('resource', server, uri, options.signal);
    return this.#run(server, options, (connection, given) => this.#core.content.read(connection, uri, given));
  }

  /** Like the host's `subscribe`, at the process that serves this session. */
  async subscribe(server: string, uri: string, listener: ResourceListener): Promise<Unsubscribe> {
    this.#checkOffered(server);
    await this.#approveSilently('resource', server, uri);
    const stop = await this.#core.content.subscribe(this.#own(server), uri, listener);
    if (this.#isEnded) stop();
    else this.#subscriptions.push(stop);
    return stop;
  }

  /** Returns suggestions for an argument of a prompt or of a resource template. */
  async complete(
    ref: CompletionRef,
    argument: { readonly name: string; readonly value: string },
    options: CompletionOptions = {},
  ): Promise<Completion> {
    this.#checkOffered(ref.server);
    if (ref.type === 'ref/prompt') await this.#approveSilently('prompt', ref.server, ref.name);
    else await this.#approveSilently('resource', ref.server, ref.uri);
    const own = this.#own(ref.server);
    const given = this.#core.contentOptions(own, this.#session, options);
    return this.#core.content.complete(own, ref, argument, given);
  }

  /** Returns the messages of a prompt. */
  async prompt(
    server: string,
    name: string,
    args: PromptArguments = {},
    options: ContentOptions = {},
  ): Promise<PromptResult> {
    await this.#approve('prompt', server, name, options.signal, args);
    return this.#run(server, options, (connection, given) =>
      this.#core.content.prompt(connection, name, args, given),
    );
  }

  /** Returns false if a server is known to have no resources, or no prompts. */
  mayHave(server: string, capability: Capability): boolean {
    if (!offersContent(this.#session, server)) return false;
    const negotiated = this.#core.pool.get(server)?.negotiated;
    if (negotiated === undefined) return !this.#core.loader.lacked(server, capability);
    return isDeclared(negotiated, capability);
  }

  /** Returns the protocol extensions of each server: as it declares them, or did when its tools were last listed. */
  extensions(): ReadonlyMap<string, DeclaredExtensions> {
    const { pool, loader } = this.#core;
    return new Map(
      pool
        .all()
        .filter(({ name }) => offersContent(this.#session, name))
        .map(({ name, negotiated }) => [
          name,
          negotiated === undefined ? loader.extensionsOf(name) : extensionsIn(negotiated.capabilities),
        ]),
    );
  }

  /**
   * Sends a request of a method that the host has no function for: of an extension, or specific to one server. Its
   * params and its result are passed on unchanged.
   */
  async request(
    server: string,
    method: string,
    params: Params = {},
    options: ContentOptions & Pick<CallOptions, 'onProgress'> = {},
  ): Promise<Params> {
    checkRawMethod(server, method);
    const { signal, onProgress } = options;
    await this.#approve('extension', server, method, signal, params);
    return this.#run(server, options, (connection, given) =>
      this.#core.content.request(connection, method, params, { ...given, onProgress }),
    );
  }

  /**
   * Sends a notification of a method that the host has no function for. Resolves when it is sent: notifications have
   * no response.
   */
  async notify(
    server: string,
    method: string,
    params: Params = {},
    options: Pick<ContentOptions, 'signal'> = {},
  ): Promise<void> {
    checkRawMethod(server, method, 'notification');
    const { signal } = options;
    await this.#approve('extension', server, method, signal, params);
    return this.#run(server, options, (connection) => connection.notify(method, params, signal));
  }

  /**
   * Returns the instructions of the servers of this session's visible tools, for the system prompt; '' if there are
   * none.
   */
  instructions(): string {
    const visible = new Set(this.tools().map((tool) => tool.server));
    return joinInstructions(
      [...visible].flatMap((server) => {
        // They may name tools that the session does not have.
        if (!offersContent(this.#session, server)) return [];
        const text = this.#core.catalog.listing(server)?.instructions;
        return text === undefined ? [] : [{ server, text }];
      }),
    );
  }

  /** Like the host's `search`. Found tools are not loaded by it; `tool_search` does that. */
  async search(query: string, options: { readonly limit?: number } = {}): Promise<readonly SearchResult[]> {
    this.#core.checkOpen();
    this.#core.freshen();
    const { limit } = options;
    const { offers } = this.#session;
    const search = searchFor(this.#core, this.#session);
    const hits = await search(givenText('query', query), offers === undefined ? limit : undefined);
    const own = offers === undefined ? hits : hits.filter(({ tool }) => this.find(tool.name) !== undefined);
    return own.slice(0, limit).map(searchResult);
  }

  /** Like the host's `on`, with the events of this session only; events about servers reach every session. */
  on<Name extends keyof HostEvents>(event: Name, listener: (event: HostEvents[Name]) => void): Unsubscribe {
    checkEvent(event, listener);
    return onSession(this.#core.events, this.#session, event, listener);
  }

  /** Like the host's `expand`; `allows` excludes servers whose content this session may not name. */
  expand(
    text: string,
    options: ContentOptions = {},
    allows: (server: string) => boolean = () => true,
  ): Promise<Expansion> {
    const caller: ContentCaller = {
      approve: async ({ server, kind, name, arguments: args }) => {
        if (!offersContent(this.#session, server)) throw unknownServer(server);
        if (allows(server)) return this.#approve(kind, server, name, options.signal, args);
        throw new PlugboardError('DENIED', `${server} is not among the servers that may be used here`, {
          server,
        });
      },
      used: (primary) => this.#core.work.of(primary, this.#session),
    };
    return this.#core.content.expand(text, caller, options);
  }

  /** Returns one server as a pass-through, for a caller that has its own host and shares only the process. */
  passage(server: string): ServerProxy {
    const { work, pool } = this.#core;
    const primary = (): Connection | undefined => pool.get(server);
    return new ServerProxy(primaryOf(this.#core, server), { work, session: this.#session, primary });
  }

  /** Sets the least severe log level for this session; it is requested from its servers. */
  setLogLevel(level: LogLevel): void {
    this.#core.logDemand.want(this.#session, level);
  }

  /** Notifies servers that the roots changed. Call it when `roots` returns other ones than before. */
  rootsChanged(): Promise<void> {
    return this.#core.rootsChanged(this.#session);
  }

  /**
   * Ends the session: its calls and requests are cancelled, here (CANCELLED) and at their servers, its questions are
   * withdrawn, its subscriptions end, and its dedicated processes are stopped. May be called twice.
   */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#core.endSession(this.#session, this.#tasks.size === 0 ? undefined : Promise.all(this.#tasks));
    for (const stop of this.#subscriptions.splice(0)) stop();
  }

  /** Resolves if this session may use one of the gateway's own tools. */
  approveOwn(action: OwnAction): Promise<void> {
    return this.#core.approvals.approveOwn(this.#session, action);
  }

  /** Returns how long a caller waits for a call before it goes on as a task, as it is configured; undefined: always. */
  backgroundAfter(tool: Tool): number | undefined {
    const entry = this.#core.pool.get(tool.server)?.spec.entry;
    if (entry === undefined) return undefined;
    const own = settingsIn(entry, tool, () => this.#snapshot.ruleNames(tool))?.backgroundAfter;
    return own ?? entry.backgroundAfter ?? this.#defaultBackgroundAfter;
  }

  /** True if a call of one of its servers may go on as a task. */
  get hasBackground(): boolean {
    if (this.#defaultBackgroundAfter !== undefined) return true;
    return this.#core.pool.all().some(({ name, spec: { entry } }) => {
      const isSet =
        entry.backgroundAfter !== undefined || Object.values(entry.tools ?? {}).some(isBackground);
      return isSet && (this.#session.profile === undefined || this.#session.profile.offersAll(name));
    });
  }

  /** Returns a task of an owner. */
  async task(id: string, owner: string): Promise<BackgroundTask> {
    const { findTask } = await import('./host-tasks.ts');
    return findTask(this.#core, id, owner);
  }

  /** Returns the tasks of an owner, newest first. */
  async tasks(owner: string): Promise<readonly TaskInfo[]> {
    const { listTasks } = await import('./host-tasks.ts');
    return listTasks(this.#core, owner);
  }

  /** Like the host's `call`. */
  call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options: CallOptions & { readonly background: true },
  ): Promise<BackgroundTask>;
  call<T = unknown>(
    name: string,
    args?: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<ShapedResult<T>>;
  call<T = unknown>(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
    options: CallOptions = {},
  ): Promise<ShapedResult<T> | BackgroundTask> {
    if (this.#isEnded) return Promise.reject(this.#ended());
    if (options.background === true) return this.#callInBackground(name, args, options);
    const { onProgress, timeoutMs, ref, onMismatch, handedOn, task, becomes, onProgram, ownProgram } =
      options;
    const {
      media,
      mediaLimits,
      viaCallTool,
      meta,
      approved,
      select,
      keepsStructured,
      readOnly,
      deduplicate,
    } = options;
    const fault = faultOfCallOptions(options);
    if (fault !== undefined) return Promise.reject(fault);
    const { signal, cancellation, release } = this.#cancellable(options);
    const sent = this.#core.calls.pipeline({
      id: this.#core.calls.nextId(),
      name,
      arguments: args,
      session: this.#session,
      signal,
      cancellation,
      onProgress,
      timeoutMs,
      ref,
      onMismatch,
      handedOn:
        meta === undefined ? handedOn : { ...handedOn, meta: passedMeta({ ...handedOn?.meta, ...meta }) },
      task,
      becomes,
      onProgram,
      ownProgram,
      media,
      mediaLimits,
      viaCallTool,
      readOnly,
      approved,
      select,
      deduplicate,
      keepsStructured,
      // Set by stages; declared here, because members that are added later cost an allocation.
      tool: undefined,
      connection: undefined,
      decision: undefined,
      rule: undefined,
    });
    if (release !== undefined) sent.then(release, release);
    if (becomes !== undefined) this.#outlasted(sent);
    // The type of the structured content is not checked.
    return sent as Promise<ShapedResult<T>>;
  }

  /** Resolves when the call was allowed and its task is stored; rejects if it was refused before. */
  #callInBackground(
    name: string,
    args: Readonly<Record<string, unknown>>,
    { background: _true, ...options }: CallOptions,
  ): Promise<BackgroundTask> {
    const fault = faultOfCallOptions(options);
    if (fault !== undefined) return Promise.reject(fault);
    // The signal ends the start only: from then on, the task is cancelled by its handle.
    const { cancellation, release } = cancellationBy(options.signal);
    return new Promise((resolve, reject) => {
      let isTask = false;
      const begun = (task: RunningTask): void => {
        isTask = true;
        release();
        this.#handleOf(task).then(resolve, reject);
      };
      this.call(name, args, {
        ...options,
        signal: undefined,
        cancellation,
        becomes: { owner: LOCAL_OWNER, begun },
      }).then(
        () => {
          if (!isTask) reject(answersAtOnce(name));
        },
        (error: unknown) => {
          if (!isTask) reject(error);
        },
      );
    });
  }

  async #handleOf({ record }: RunningTask): Promise<BackgroundTask> {
    const { findTask } = await import('./host-tasks.ts');
    return findTask(this.#core, record.id);
  }

  /** Keeps the processes of the session for a call that goes on after its end. */
  #outlasted(sent: Promise<unknown>): void {
    const ended: Promise<void> = sent.then(
      () => void this.#tasks.delete(ended),
      () => void this.#tasks.delete(ended),
    );
    this.#tasks.add(ended);
  }

  /** Calls that are recorded can be stopped by a person at the page, and tasks by their id. */
  #cancellable(options: CallOptions): Cancellable & { readonly release?: () => void } {
    if (options.cancellation !== undefined) return options;
    if (this.#core.recorders.length === 0 && options.becomes === undefined) return options;
    return cancellationBy(options.signal);
  }

  /**
   * Returns a stored result, or a part of it, as the content of a resource: `plugboard://result/<id>?lines=1-40`. Rejects
   * if this session has no such result.
   */
  async storedResult(
    uri: string,
  ): Promise<{ readonly uri: string; readonly mimeType: string; readonly text: string }> {
    const { partOfAddress, readPart } = await import('../call/read-result.ts');
    const { address, part } = partOfAddress(uri) ?? { address: uri, part: {} };
    const text = await readPart(this.#core.calls, this.#session, address, part);
    return { uri, mimeType: typeof dataOf(text) === 'string' ? 'text/plain' : 'application/json', text };
  }

  /** Like the host's `typed`. */
  typed<const S extends ToolSchemas>(schemas: S): TypedTools<S> {
    return typedTools(schemas, (name, args, options) => this.call(name, args, options));
  }

  /** The call inside a `call_tool`, which adapters offer; every other call as it is. */
  #meant(name: string, args: Readonly<Record<string, unknown>>): WrappedCall | PlugboardError {
    return name === CALL_TOOL && this.find(name) === undefined ? wrappedCall(args) : { name, args };
  }

  /** Returns the facts that rules and approval modes decide a call on. */
  #judged(name: string, args: Readonly<Record<string, unknown>>): Judged | undefined {
    const { pool, config, approvals } = this.#core;
    const found = this.find(name);
    const tool = found?.name === READ_RESOURCE ? readBy(found, args['server']) : found;
    const spec = tool && pool.get(tool.server)?.spec;
    if (tool === undefined || spec === undefined) return undefined;
    const { allowed: sessionAllows } = this.#session;
    const names = tool.tool === READ_METHOD ? resourceRuleNames(tool.server) : this.#snapshot.ruleNames(tool);
    const settings = this.#session.profile?.settings ?? config.settings;
    return {
      tool,
      spec,
      names,
      settings,
      sessionAllows,
      alwaysAllows: approvals.always,
      started: this.#core,
    };
  }

  get #defaultBackgroundAfter(): number | undefined {
    return this.#session.profile?.backgroundAfter ?? this.#core.config.settings.defaults?.backgroundAfter;
  }

  /** The tools of the session's profile, or all. */
  get #snapshot(): Snapshot {
    return snapshotFor(this.#core, this.#session);
  }

  /** A server outside of the profile is unknown. */
  #checkOffered(server: string): void {
    if (!offersContent(this.#session, server)) throw unknownServer(server);
  }

  #ended(): PlugboardError {
    return new PlugboardError('USAGE', `The session ${this.id} has ended`, {
      hint: 'Make another one with host.session().',
    });
  }

  async #approve(
    kind: ContentAction['kind'],
    server: string,
    name: string,
    signal: AbortSignal | undefined,
    args?: unknown,
  ): Promise<void> {
    checkSignal(signal);
    if (this.#isEnded) throw this.#ended();
    this.#checkOffered(server);
    const action = { server, kind, name, signal, arguments: args, mayAsk: true };
    return this.#core.approvals.approveContent(this.#session, action);
  }

  /** Like `#approve`, without a question: refuses unless already allowed. */
  #approveSilently(kind: ContentAction['kind'], server: string, name: string): Promise<void> {
    if (this.#isEnded) return Promise.reject(this.#ended());
    return this.#core.approvals.approveContent(this.#session, { server, kind, name, mayAsk: false });
  }

  async #run<T>(
    server: string,
    options: ContentOptions,
    act: (connection: Connection, options: ContentOptions) => Promise<T>,
  ): Promise<T> {
    const session = this.#session;
    const primary = primaryOf(this.#core, server);
    return whileOpen(options, session.ended, (signal) => {
      // A question that arrives with the response finds this session through it; many requests may share a signal.
      const work = { session, signal };
      return this.#core.work.run(primary, work, (connection) =>
        act(connection, { ...this.#core.contentOptions(connection, session, options), signal, owner: work }),
      );
    });
  }

  #own(server: string): Connection {
    return this.#core.work.of(primaryOf(this.#core, server), this.#session);
  }
}

function isBackground({ backgroundAfter }: ToolSettings): boolean {
  return backgroundAfter !== undefined;
}

/** A tool of no server, such as tool_search, has no record. */
function answersAtOnce(name: string): PlugboardError {
  return new PlugboardError('USAGE', `${name} cannot be called in the background`, {
    hint: 'Call it without "background": it answers at once.',
  });
}

/** Returns the tool as its calls identify it, if a server is named. */
function readBy(tool: Tool, server: unknown): Tool | undefined {
  return typeof server === 'string' ? { ...tool, server, tool: READ_METHOD } : undefined;
}
