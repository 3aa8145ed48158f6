/** Wires a host: builds every layer once and connects them. The public operations are in `host.ts`. */

import { rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { absenceOf, awaitedOwnerOf, ownerOf, possibleOwnersOf } from '../call/absent-server.ts';
import { decisionOn, type Judged, keepAllowed } from '../call/approve.ts';
import { approveContent, type ContentAction, contentDenial } from '../call/approve-content.ts';
import { approveOwn, type OwnAction } from '../call/approve-own.ts';
import type { ArgumentChecker } from '../call/argument-check.ts';
import { type AuditLog, createAuditLog } from '../call/audit-log.ts';
import type { CallContext, Handler, ResourceAccess } from '../call/call.ts';
import { LogDemand } from '../call/log-demand.ts';
import { createOutputFiles, type OutputFiles } from '../call/output-files.ts';
import { createPipeline } from '../call/pipeline.ts';
import { createSession, type Session, type SessionOptions } from '../call/session.ts';
import { Questions } from '../call/session-questions.ts';
import { SessionWork } from '../call/session-work.ts';
import { collect } from '../call/task.ts';
import type { Telemetry } from '../call/telemetry.ts';
import type { Prompt, Resource } from '../catalog/accept-lists.ts';
import { type CatalogCache, openCatalogCache } from '../catalog/cache.ts';
import { Catalog, taskSupportOf } from '../catalog/catalog.ts';
import { CatalogLoader } from '../catalog/catalog-loader.ts';
import { openContentCache } from '../catalog/content-cache.ts';
import { AGENT, AGENT_REPLY, CALL_TOOL, type Deferral, TOOL_SEARCH } from '../catalog/deferral.ts';
import { createGatewayView, type GatewayView } from '../catalog/gateway-view.ts';
import { type KnownToolsWriter, openKnownToolsWriter } from '../catalog/known-tools-writer.ts';
import { type LastFailures, openLastFailures } from '../catalog/last-failures.ts';
import { LIST_RESOURCES, READ_RESOURCE } from '../catalog/resource-tool-definitions.ts';
import { openSearchUsage, type SearchUsage } from '../catalog/search-usage.ts';
import { createSearch, type Search } from '../catalog/search-view.ts';
import { type NameForm, type Naming, serverNames } from '../catalog/tool-names.ts';
import { unknownToolNames } from '../catalog/unknown-tool-names.ts';
import { isInProcess, isRemote, type ServerEntry, type ServerSpec } from '../config/entry.ts';
import { findHome, type Home, homeAt, noHome } from '../config/home.ts';
import { DEFAULT_FIRST_LIST_WAIT_MS, limitsFor, maxOutputTokens } from '../config/limits.ts';
import type { LoadedConfig } from '../config/load.ts';
import { entryOwner } from '../config/owner.ts';
import type { Identity } from '../config/rules.ts';
import type { Connection } from '../connection/connection.ts';
import type { ConnectionContext } from '../connection/connection-context.ts';
import { type EraCache, NO_ERA_CACHE, openEraCache } from '../connection/era-cache.ts';
import type { HandedOn } from '../connection/handed-on.ts';
import type { LogMessage } from '../connection/log-gate.ts';
import { isAtLeast, type LogLevel } from '../connection/log-levels.ts';
import { createOpenQuestions, type OpenQuestions } from '../connection/open-questions.ts';
import { Pool } from '../connection/pool.ts';
import { capabilitiesOf, type Questioned } from '../connection/questions.ts';
import { hostClosed } from '../connection/reasons.ts';
import { TASKS_EXTENSION } from '../connection/tasks.ts';
import { type KeptTasks, openKeptTasks } from '../connection/tasks-kept.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { Emitter } from '../lib/emitter.ts';
import { onMissingLocks } from '../lib/system-locks.ts';
import { readVersion } from '../lib/version.ts';
import type { Authority } from '../policy/admit.ts';
import { sessionRule } from '../policy/approval.ts';
import { clean } from '../policy/clean.ts';
import { loadEffective, withConsent } from '../policy/effective.ts';
import { createHiddenReport, type HiddenReport } from '../policy/hidden-report.ts';
import type { Network } from '../policy/network.ts';
import { createOnceReport } from '../policy/once-report.ts';
import { pinsExcept } from '../policy/pins-except.ts';
import { openPins, type Pins } from '../policy/pins-store.ts';
import { checkStillAdmitted } from '../policy/still-admitted.ts';
import { waitingFor } from '../policy/waiting.ts';
import type { CredentialStore } from '../secrets/credential-store.ts';
import type { SecretStore } from '../secrets/store.ts';
import { createTransport, fallsBackToSse } from '../transport/create-transport.ts';
import type { Reaper } from '../transport/reaper.ts';
import { confined } from '../transport/sandbox.ts';
import { checkedRoots } from './check-roots.ts';
import { FirstContact } from './first-contact.ts';
import { FirstLists } from './first-lists.ts';
import { HostAuth } from './host-auth.ts';
import { HostContent } from './host-content.ts';
import { hostDeferral } from './host-deferral.ts';
import { HostInputs } from './host-inputs.ts';
import type { HostEvents, HostOptions } from './host-options.ts';
import { logged, messageOf, reportOf, type ServerReport } from './host-report.ts';
import { createResourceAccess } from './host-resource-tools.ts';

/** A server without calls for this long is stopped; its tools stay listed, and the next call starts it. */
const IDLE_AFTER_MS: number = 10 * 60 * 1000;

interface Parts {
  readonly options: HostOptions;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly home: Home;
  readonly config: LoadedConfig;
  readonly eraCache: EraCache;
  readonly pins: Pins;
  readonly failures: LastFailures;
  readonly telemetry: Telemetry | undefined;
}

/** `roots` is writable because roots can be declared later. */
type Declared = Omit<Questioned, 'roots'> & { roots?: Questioned['roots'] };

export class HostCore {
  readonly options: HostOptions;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly home: Home;
  /** The network access for remote servers and logins. */
  readonly network: () => Promise<Network>;
  /** The credential store, opened on first use. */
  readonly secrets: () => Promise<SecretStore>;
  readonly events: Emitter<HostEvents>;
  readonly auth: HostAuth;
  readonly inputs: HostInputs;
  readonly session: Session;
  /** Reports removed hidden text, once for each server and place. */
  readonly hidden: HiddenReport;
  /** Warns about a server, once per message. */
  readonly warnOnce: (server: string, message: string) => void;
  readonly catalog: Catalog;
  /** The form of tool names for clients of a gateway: the configured one, else `server__tool`. */
  readonly gatewayNaming: NameForm;
  readonly gatewayView: GatewayView;
  readonly loader: CatalogLoader;
  readonly search: Search;
  readonly deferral: () => Deferral;
  readonly pool: Pool;
  /** Resource access for the tools that read resources. */
  readonly resources: ResourceAccess;
  readonly pipeline: Handler;
  readonly content: HostContent;
  readonly contact: FirstContact;
  readonly firstLists: FirstLists;
  readonly work: SessionWork;
  /** Tracks which log levels are requested from which process. */
  readonly logDemand: LogDemand;
  /** The current configuration; a reload replaces the whole object. */
  config: LoadedConfig;
  sandboxState: unknown;
  /** Rules of "always" answers since the configuration was read, in the format of `sessionRule`. */
  readonly alwaysAllowed: Set<string> = new Set();
  /** Called when a server that shadows another one may no longer start; set by the owner of the server set. */
  consentLost: () => void = () => {};
  readonly #eraCache: EraCache;
  readonly #cache: CatalogCache;
  readonly #known: KnownToolsWriter;
  readonly #pins: Pins;
  readonly #audit: AuditLog;
  /** Reports invalid roots given by the program, once. */
  readonly #rootsFault: (server: string, message: string) => void;
  readonly #searchUsage: SearchUsage | undefined;
  /** The kinds of questions that the host and its sessions can answer. */
  readonly #declared: Declared;
  readonly #questions: Questions;
  readonly #openQuestions: OpenQuestions;
  readonly #tasks: KeptTasks;
  readonly #leave = new AbortController();
  readonly #credentials: (() => Promise<CredentialStore>) | undefined;
  readonly #calls: CallContext;
  readonly #idPrefix: string;
  /** Whether the last transport of a server came from its entry or from `openTransport`. */
  readonly #openedBy = new Map<string, 'entry' | 'openTransport'>();
  #sessions = 0;
  #callsMade = 0;
  #collecting: Promise<void> = Promise.resolve();
  #renewing: Promise<void> = Promise.resolve();
  #reaper: Promise<Reaper> | undefined;
  #checker: Promise<ArgumentChecker> | undefined;
  readonly #stopLockReports: () => void;

  static async build(options: HostOptions): Promise<HostCore> {
    const env = options.env ?? process.env;
    const clock = options.clock ?? systemClock;
    const home = homeOf(options, env);
    const cwd = options.cwd ?? process.cwd();
    const [config, eraCache, pins, failures] = await Promise.all([
      options.config === undefined
        ? loadEffective({
            cwd,
            home,
            env,
            code: options.servers,
            builtIn: options.builtIn,
            files: options.configuration,
          })
        : withConsent(options.config, { home, env }),
      openEraCache(home, clock),
      openPins(home),
      openLastFailures(home, clock),
    ]);
    const wanted = options.telemetry ?? config.settings.telemetry ?? false;
    const telemetry =
      wanted === false ? undefined : await (await import('../call/telemetry.ts')).loadTelemetry();
    return new HostCore({ options, env, clock, home, config, eraCache, pins, failures, telemetry });
  }

  private constructor(parts: Parts) {
    const { options, env, clock, home, config, eraCache } = parts;
    this.options = options;
    this.#idPrefix = options.idPrefix ?? '';
    this.env = env;
    this.clock = clock;
    this.home = home;
    this.config = config;
    this.#eraCache = eraCache;
    this.#cache = openCatalogCache(home, clock);
    this.#known = openKnownToolsWriter(home);
    this.#pins = pinsExcept(parts.pins, (spec) => this.keepsNothingOf(spec));
    this.sandboxState = options.sandboxState;
    this.events = new Emitter((error) => this.log(undefined, 'error', `a listener threw: ${String(error)}`));
    if (options.log !== undefined) this.events.on('log', options.log);
    this.#stopLockReports = onMissingLocks((message) => this.log(undefined, 'info', message));
    this.network = this.#createNetwork();
    this.#credentials = this.#createCredentials();
    this.secrets = this.#createSecrets();
    this.auth = this.#createAuth();
    this.inputs = new HostInputs(this);
    this.#rootsFault = createOnceReport((server, message) => this.log(server, 'error', message));
    const roots = checkedRoots(options.roots, this.#rootsFault);
    this.session = createSession(`${this.#idPrefix}host`, { ...options, roots }, this.#partyName);
    this.#openQuestions = createOpenQuestions(this.events, this.#idPrefix);
    this.hidden = createHiddenReport((server, message) => this.log(server, 'warning', message));
    this.warnOnce = createOnceReport((server, message) => this.log(server, 'warning', message));
    this.#declared = { ...options, ...options.sessions };
    this.#questions = new Questions({
      declared: this.#declared,
      host: this.session,
      work: () => this.work,
      openQuestions: this.#openQuestions,
      clock,
      log: (server, level, message) => this.log(server, level, message),
      hidden: this.hidden,
      openUrl: options.openUrl,
    });
    this.#tasks = openKeptTasks({
      home,
      clock,
      failed: (message) => {
        if (!home.isNone) this.log(undefined, 'error', message);
      },
    });
    const chosen = options.naming ?? config.settings.naming;
    const naming = chosen ?? 'mcp__';
    this.gatewayNaming = chosen ?? 'gateway';
    this.gatewayView = createGatewayView(this.gatewayNaming);
    this.catalog = new Catalog(
      naming,
      [TOOL_SEARCH, CALL_TOOL, AGENT, AGENT_REPLY, LIST_RESOURCES, READ_RESOURCE],
      this.hidden,
    );
    this.loader = this.#createLoader();
    this.#searchUsage = config.settings.searchLearning === false ? undefined : openSearchUsage(home);
    this.search = createSearch({
      snapshot: () => this.catalog.snapshot,
      searchUsage: this.#searchUsage,
      model: options.searchModel,
      warn: (message) => this.log(undefined, 'warning', message),
    });
    this.deferral = hostDeferral(this);
    this.contact = this.#createContact(parts.failures);
    this.logDemand = new LogDemand({
      clock,
      own: options.logLevel ?? 'info',
      connections: () => this.pool.all().flatMap((each) => [each, ...this.work.dedicatedOf(each)]),
      dedicatedTo: (connection) => this.work.router.dedicatedTo(connection),
    });
    const context = this.#connectionContext();
    this.pool = new Pool(context);
    const dedicated = { ...context, transport: this.#ownTransport };
    this.work = new SessionWork(dedicated, {
      manyAgents: options.manyAgents === true,
      expectsRoots: options.sessions?.roots !== undefined,
    });
    this.work.router.opened(this.session);
    this.work.events.on('state', ({ connection }) => {
      if (connection.state.status !== 'connected') return;
      this.content.connected(connection);
      this.firstLists.connected(connection);
    });
    this.content = new HostContent({
      clock,
      pool: this.pool,
      naming,
      forModel: this.session.forModel,
      settings: () => this.config.settings,
      lacks: (server, capability) => this.loader.lacks(server, capability),
      warn: (server, message) => this.log(server, 'warning', message),
      hidden: this.hidden,
      cache: openContentCache(home, clock),
      pins: this.#pins,
      keyOf: ({ spec }) => this.loader.keyOf(spec),
      read: (kind, connection, items, isNews) => {
        if (this.keepsNothingOf(connection.spec))
          return this.firstLists.read(kind, connection, items, isNews);
        if (kind === 'prompts') this.#known.keepPrompts(connection.spec, items as readonly Prompt[]);
        if (kind === 'resources') this.#known.keepResources(connection.spec, items as readonly Resource[]);
        this.firstLists.read(kind, connection, items, isNews);
      },
      isDenied: (server) => this.contentDenial(server) !== undefined,
    });
    this.firstLists = this.#createFirstLists(naming);
    this.#audit = this.#createAudit();
    this.resources = createResourceAccess(this);
    this.#calls = this.#callContext(parts.telemetry);
    this.pipeline = createPipeline(this.#calls);
  }

  /** The policy and environment that admission of servers is decided with. */
  get authority(): Authority {
    return { managed: this.config.managed, env: this.env };
  }

  report(connection: Connection): ServerReport {
    const listing = this.catalog.listing(connection.name);
    return reportOf(
      connection,
      listing,
      waitingFor(connection.name, this.config),
      this.work.dedicatedOf(connection),
      (dedicated) => this.work.router.reasonOf(dedicated) ?? 'state',
    );
  }

  /** Resolves when no server is being reconnected because of a login or logout. */
  async renewed(): Promise<void> {
    for (let seen: Promise<void> | undefined; seen !== this.#renewing; ) {
      seen = this.#renewing;
      await seen;
    }
  }

  /**
   * True for servers of this program, or of its tests: their lists are neither cached nor pinned. Before the first
   * connection of a server that `openTransport` may provide, its cached data is not read either.
   */
  keepsNothingOf(spec: ServerSpec): boolean {
    if (isInProcess(spec.entry)) return true;
    if (this.options.openTransport === undefined || !isFromCode(spec)) return false;
    return this.#openedBy.get(spec.name) !== 'entry';
  }

  nextCallId(): string {
    this.#callsMade += 1;
    return `${this.#idPrefix}c${this.#callsMade}`;
  }

  /** Whether the tools of a server are known, from the cache or from the server. */
  isKnown(server: string): boolean {
    return this.catalog.listing(server) !== undefined;
  }

  /** Declared to servers when they connect: everything that any session of this host may be able to answer. */
  get #capabilities(): Readonly<Record<string, unknown>> {
    return { ...capabilitiesOf(this.#declared), extensions: { [TASKS_EXTENSION]: {} } };
  }

  /** Sessions of one agent share the state of servers. */
  get #partyName(): string | undefined {
    return this.options.manyAgents === true ? undefined : 'host';
  }

  /** Opens a session with its own questions, approvals and loaded tools. */
  openSession(options: SessionOptions): Session {
    this.#sessions += 1;
    // A gateway's client is asked for its roots, and its response is passed on unchecked.
    const given =
      options.gateway === true
        ? options
        : {
            ...options,
            roots: checkedRoots(options.roots, this.#rootsFault),
            resourceTools: options.resourceTools ?? this.options.resourceTools,
          };
    const session = createSession(`${this.#idPrefix}s${this.#sessions}`, given, this.#partyName);
    this.work.router.opened(session);
    return session;
  }

  /** Cancels the session's open calls, here and at its servers, then stops its dedicated processes. */
  endSession(session: Session): void {
    const { id } = session;
    // Most sessions end with nothing open, a client's request in the modern era among them.
    const reason = (): PlugboardError =>
      new PlugboardError('CANCELLED', `the call was cancelled: the session ${id} has ended`);
    session.ended.cancel(reason);
    this.#openQuestions.withdraw((question) => question.session === id, reason);
    this.logDemand.end(session);
    this.work.router.end(session);
  }

  /** Sends roots-changed notifications to the servers that the session uses. */
  async rootsChanged(session: Session): Promise<void> {
    await this.work.rootsChanged(session);
    for (const connection of this.pool.all())
      if (!this.work.router.knows(connection)) connection.rootsChanged();
  }

  async setRoots(roots: NonNullable<Questioned['roots']>): Promise<void> {
    const wasDeclared = this.#declared.roots !== undefined;
    this.session.roots = checkedRoots(roots, this.#rootsFault);
    if (wasDeclared) return this.rootsChanged(this.session);
    this.#declared.roots = roots;
    const legacy = this.pool.all().filter(({ negotiated }) => negotiated?.era === 'legacy');
    await Promise.all(legacy.map((connection) => connection.reconnect().catch(() => {})));
  }

  /** Adds to content options the capabilities of the session's client, for the server. */
  contentOptions<T extends { readonly handedOn?: HandedOn | undefined }>(
    connection: Connection,
    session: Session,
    options: T,
  ): T {
    const handedOn = this.#questions.handedOn(connection, session, options.handedOn);
    return { ...options, handedOn, until: session.ended };
  }

  /** Resolves if the rules allow a session a resource, prompt or completion. */
  approveContent(session: Session, action: ContentAction): Promise<void> {
    const spec = this.pool.get(action.server)?.spec;
    return approveContent(this.#calls, session, action, spec === undefined ? '' : entryOwner(spec));
  }

  /** Resolves if the rules allow a session one of the gateway's own tools. */
  approveOwn(session: Session, action: OwnAction): Promise<void> {
    return approveOwn(this.#calls, session, action);
  }

  /** Returns the error if a rule denies all content of a server. */
  contentDenial(server: string): PlugboardError | undefined {
    return contentDenial(this.config.settings.permissions ?? {}, server);
  }

  /** Collects the results of tasks that an earlier host with this home started and did not finish. */
  collectTasks(): void {
    this.#collecting = this.#collectTasks().catch((error: unknown) => {
      this.log(undefined, 'warning', `tasks of an earlier host: ${String(error)}`);
    });
  }

  /** True for servers whose state is kept for later hosts. */
  #isKept(server: string): boolean {
    const spec = this.pool.get(server)?.spec;
    return spec !== undefined && !this.keepsNothingOf(spec);
  }

  async #collectTasks(): Promise<void> {
    if (this.#leave.signal.aborted) return;
    const claimed = await this.#tasks.claim((server) => this.#isKept(server));
    await Promise.all(
      claimed.map(async (task) => {
        const connection = this.pool.get(task.server);
        if (connection !== undefined) await collect(this.#calls, task, connection);
      }),
    );
  }

  /** Rereads stale lists in the background; called before tools are listed. */
  freshen(): void {
    for (const { live } of this.pool.all()) live?.freshen();
  }

  /**
   * Rereads the list of the server that an unknown tool's name begins with, if the tool may exist after all; connects
   * the server first if it is idle, or if its credentials changed since it refused them. Undefined if there is
   * nothing to reread.
   */
  relisted(name: string, session: Session = this.session): Promise<void> | undefined {
    const { naming } = this.catalog;
    const connections = this.pool.all();
    const named = ownerOf(name, naming, connections);
    const relisting = possibleOwnersOf(name, naming, connections).flatMap((owner) => {
      if (!mayUse(session, owner.name, name)) return [];
      if (owner.live?.mayHaveMore === true) return [owner.reread()];
      // If the name does not identify its server, every server would be started.
      if (owner !== named) return [];
      switch (owner.state.status) {
        case 'idle':
        case 'connecting':
          return [owner.connect().catch(() => {})];
        case 'needs_auth':
        case 'needs_client_registration':
          return this.isKnown(owner.name) ? [] : [this.#connectIfChanged(owner)];
        default:
          return [];
      }
    });
    return relisting.length === 0 ? undefined : Promise.all(relisting).then(() => {});
  }

  /** Reconnects a server that refused us if its credentials changed: another process may have logged in. */
  async #connectIfChanged(connection: Connection): Promise<void> {
    const { spec } = connection;
    const entry = await this.inputs.expand(spec, { ask: false });
    if (!isRemote(entry)) return;
    const hasOther =
      entry.headersFrom !== undefined || (await (await this.auth.of(spec, entry)).hasOtherLogin());
    if (hasOther) await connection.connect().catch(() => {});
  }

  /** Removes the tools of a server that was removed or disconnected. */
  forget(name: string): void {
    const reason = new PlugboardError('CONNECTION_LOST', `${name} is another server now, or has gone`, {
      server: name,
    });
    this.#openQuestions.withdraw(
      ({ kind, server }) => kind === 'approval' && server === name,
      () => reason,
    );
    this.catalog.delete(name);
    this.work.router.drop(name);
    this.events.emit('tools', { server: name });
  }

  log(server: string | undefined, level: LogLevel, message: string, session?: string): void {
    // Log messages often quote a server.
    const event = logged(server, { level, message: clean(message) }, session);
    this.events.emit('log', event);
    if (server !== undefined) this.events.emit('message', messageOf(server, event, session));
  }

  /** Routes a log level that only a session requested to that session, not to the host's log. */
  #serverLogged(connection: Connection, message: LogMessage): void {
    const { own } = this.logDemand;
    const session = this.work.sessionIdOf(connection);
    const isWanted = isAtLeast(message.level, own) || this.logDemand.of(connection) === own;
    if (isWanted) this.events.emit('log', logged(connection.name, message, session));
    this.events.emit('message', messageOf(connection.name, message, session));
  }

  /** Throws if the host was closed: no new work is started after that. */
  checkOpen(): void {
    if (!this.#leave.signal.aborted) return;
    throw hostClosed();
  }

  /** Stops every server, then the parts that served them. */
  async close(): Promise<void> {
    this.#leave.abort();
    this.#openQuestions.close();
    this.logDemand.close();
    await Promise.all([this.pool.close(), this.work.router.close()]);
    await this.#collecting;
    await Promise.all([
      this.#eraCache.flush(),
      this.#cache.flush(),
      this.#known.flush(),
      this.content.flush(),
      this.contact.close(),
      this.#pins.flush(),
      this.#audit.flush(),
      this.#searchUsage?.flush(),
      this.#tasks.release(),
    ]);
    await this.auth.close();
    const reaper = await this.#reaper?.catch(() => undefined);
    await reaper?.close();
    if (this.home.isNone)
      await rm(dirname(this.home.folders), { recursive: true, force: true }).catch(() => {});
    this.#stopLockReports();
  }

  /** Returns the loader of the network layer, which is imported for the first remote server. */
  #createNetwork(): () => Promise<Network> {
    let made: Promise<Network> | undefined;
    return () => {
      made ??= import('../policy/network.ts').then(
        ({ Network }) =>
          new Network({
            env: this.env,
            fetch: this.options.fetch,
            warn: (message) => this.log(undefined, 'warning', message),
          }),
      );
      return made;
    };
  }

  /** Wraps the program's own store, with a time limit and with its errors logged instead of shown to callers. */
  #createCredentials(): (() => Promise<CredentialStore>) | undefined {
    const { credentials } = this.options;
    if (credentials === undefined) return undefined;
    const bounds = {
      clock: this.clock,
      leave: this.#leave.signal,
      report: (message: string) => this.log(undefined, 'error', message),
    };
    let bounded: Promise<CredentialStore> | undefined;
    return () => {
      bounded ??= import('../secrets/bounded-store.ts').then(({ boundedStore }) =>
        boundedStore(credentials, bounds),
      );
      return bounded;
    };
  }

  #createSecrets(): () => Promise<SecretStore> {
    const { home, env } = this;
    const notice = (message: string): void => this.log(undefined, 'warning', message);
    let opened: Promise<SecretStore> | undefined;
    return () => {
      opened ??=
        this.#credentials === undefined
          ? import('../secrets/store.ts').then(({ openSecrets }) => openSecrets({ home, env, notice }))
          : Promise.all([import('../secrets/credential-store.ts'), this.#credentials()]).then(
              ([{ secretsIn }, store]) => secretsIn(store),
            );
      return opened;
    };
  }

  #createAuth(): HostAuth {
    const { home, env, clock, network, options } = this;
    return new HostAuth({
      home,
      env,
      clock,
      network,
      openUrl: options.openUrl,
      event: (event) => {
        if (event.type === 'notice') return this.log(event.server, event.level, event.message);
        const { type: _type, ...login } = event;
        this.events.emit('login', login);
      },
      secrets: this.secrets,
      credentials: this.#credentials,
      leave: this.#leave.signal,
      loginLimitMs: (entry) => limitsFor(entry, this.config.settings).startupTimeoutMs,
      changed: (server) => {
        const first = this.pool.get(server);
        const all = first === undefined ? [] : [first, ...this.work.dedicatedOf(first)];
        const renewed = Promise.all(all.map((each) => each.reconnect().catch(() => {}))).then(() => {
          // After a logout, the tools that this login had are no longer available.
          if (first?.state.status === 'needs_auth') this.forget(server);
        });
        this.#renewing = Promise.all([this.#renewing, renewed]).then(() => {});
      },
    });
  }

  #createAudit(): AuditLog {
    const { home, clock } = this;
    if (home.isNone) return { record: () => {}, flush: () => Promise.resolve() };
    return createAuditLog({
      file: home.audit,
      lockDir: join(home.run, 'locks'),
      clock,
      failed: (message) => this.log(undefined, 'error', message),
    });
  }

  #createLoader(): CatalogLoader {
    return new CatalogLoader({
      catalog: this.catalog,
      cache: this.#cache,
      pins: this.#pins,
      known: this.#known,
      expand: (spec) => this.inputs.expand(spec, { ask: false }),
      keepsNothingOf: (spec) => this.keepsNothingOf(spec),
      brought: async (spec) => this.options.builtInList?.(spec),
      principal: (spec, entry) => this.auth.principal(spec, entry),
      capabilities: () => JSON.stringify(this.#capabilities),
      warn: (server, message) => this.log(server, 'warning', message),
      hidden: this.hidden,
    });
  }

  #createContact(failures: LastFailures): FirstContact {
    return new FirstContact({
      clock: this.clock,
      pool: () => this.pool,
      failures,
      keyOf: (spec) => this.loader.startKeyOf(spec),
      isKnown: (server) => this.isKnown(server),
      waitMs: () => this.config.settings.firstListWaitMs ?? DEFAULT_FIRST_LIST_WAIT_MS,
    });
  }

  #createFirstLists(naming: Naming): FirstLists {
    const { clock, pool, contact, loader } = this;
    return new FirstLists({
      clock,
      pool,
      naming,
      contact,
      lists: this.content.lists,
      configuredWaitMs: () => this.config.settings.firstListWaitMs,
      isKnown: (server) => this.isKnown(server),
      lacked: (server, capability) => loader.lacked(server, capability),
      denialOf: (server) => this.contentDenial(server),
      ownerOf: (name) => {
        const coming = pool.all().filter(({ state }) => ['connecting', 'idle'].includes(state.status));
        const unknown = coming.filter((connection) => !this.isKnown(connection.name));
        return awaitedOwnerOf(name, this.catalog.naming, unknown);
      },
      changed: (capability, server) => this.events.emit(capability, { server }),
      warn: (server, message) => this.log(server, 'warning', message),
    });
  }

  #connectionContext(): ConnectionContext {
    const { options, clock } = this;
    const questions = this.#questions;
    const { client } = this.config.settings;
    return {
      clock,
      random: Math.random,
      client: { name: client?.name ?? 'plugboard', version: client?.version ?? readVersion() },
      logLevel: (connection) => this.logDemand.of(connection),
      capabilities: () => this.#capabilities,
      eraCache: (spec) => (this.keepsNothingOf(spec) ? NO_ERA_CACHE : this.#eraCache),
      expand: (spec) => this.inputs.expandForStart(spec),
      transport: async (spec, entry, choice) => {
        await this.#checkAdmission(spec, entry);
        return options.borrow?.(spec, entry) ?? this.#ownTransport(spec, entry, choice);
      },
      fallsBackToSse,
      idleAfterMs: (entry) =>
        // An in-process server has no process to stop, and its state would be lost.
        entry.lifecycle === 'keep-alive' || isInProcess(entry) ? undefined : IDLE_AFTER_MS,
      startupTimeoutMs: (entry) => limitsFor(entry, this.config.settings).startupTimeoutMs,
      questions,
      pageDone: (connection, elicitationId) => {
        const session = questions.pageDone(connection, elicitationId);
        if (session === undefined) return;
        this.events.emit('elicitation.complete', { server: connection.name, elicitationId, session });
      },
      sandboxState: () => this.sandboxState,
      changed: (connection) => this.#changed(connection),
      listChanged: (connection, kind) => {
        if (kind === 'tools') this.loader.receive(connection);
        this.content.listChanged(connection, kind);
        this.events.emit(kind, { server: connection.name });
        this.work.events.emit('list', { connection, kind });
      },
      missed: (connection) => this.content.missed(connection),
      resourceUpdated: (connection, uri) => this.content.resourceUpdated(connection, uri),
      taskChanged: (connection, state) => this.work.taskChanged(connection, state),
      log: (connection, message) => this.#serverLogged(connection, message),
    };
  }

  readonly #ownTransport: ConnectionContext['transport'] = async (spec, entry, choice) => {
    const { options, env, clock } = this;
    await this.#checkAdmission(spec, entry);
    const provided = isFromCode(spec) ? options.openTransport?.(spec.name) : undefined;
    this.#openedBy.set(spec.name, provided === undefined ? 'entry' : 'openTransport');
    if (provided !== undefined) return provided;
    const shared = options.daemon ? await import('./daemon-servers.ts') : undefined;
    return (
      options.replaceTransport?.(spec.name) ??
      (await shared?.openShared(this, spec)) ??
      createTransport({
        entry: confined(entry, options.sandbox),
        sse: choice === 'sse',
        env,
        secrets: this.inputs.secretsIn(entry),
        spec,
        home: this.home,
        clock,
        reaper: () => this.#startReaper(),
        network: this.network,
        credentials: () => this.auth.of(spec, entry),
      })
    );
  };

  /** Checks that the entry is still approved; if not, its name returns to the entry that it shadowed. */
  async #checkAdmission(spec: ServerSpec, entry: ServerEntry): Promise<void> {
    try {
      await checkStillAdmitted(this.inputs.filledIn(spec, entry), this);
    } catch (error) {
      if (this.config.shadowed.some(({ name }) => name === spec.name)) this.consentLost();
      throw error;
    }
  }

  #changed(connection: Connection): void {
    if (connection.state.status === 'connected') {
      const isNew = this.loader.receive(connection);
      // A server that reconnects with the same tools emits no event, so that prompt caches stay valid.
      if (isNew) this.events.emit('tools', { server: connection.name });
      if (isFromCode(connection.spec)) this.#checkToolNames(connection);
    }
    if (connection.state.status === 'disconnected') this.forget(connection.name);
    this.contact.changed(connection);
    this.events.emit('server', this.report(connection));
    this.work.events.emit('state', { connection });
  }

  /**
   * Warns about unknown tool names in entries given in code, which the author can correct; a file may be for several
   * versions of a server.
   */
  #checkToolNames({ name, spec, tools }: Connection): void {
    if (tools === undefined || tools.cut !== undefined) return;
    for (const message of unknownToolNames(spec.entry, tools.items)) this.warnOnce(name, message);
  }

  #callContext(telemetry: Telemetry | undefined): CallContext {
    return {
      clock: this.clock,
      snapshot: () => this.catalog.snapshot,
      deferral: this.deferral,
      search: this.search,
      resources: this.resources,
      instructions: (server) => this.catalog.listing(server)?.instructions,
      gatewayNaming: this.gatewayNaming,
      connection: (server, session) => this.work.of(this.pool.get(server), session),
      relisted: (name, session) => this.relisted(name, session),
      absent: (name) =>
        absenceOf(
          name,
          this.catalog.naming,
          this.pool.all().filter((connection) => this.catalog.listing(connection.name) === undefined),
        ),
      settings: () => this.config.settings,
      sandboxState: () => this.sandboxState,
      events: this.events,
      log: (server, level, message, session) => this.log(server, level, message, session),
      hidden: this.hidden,
      audit: this.#audit,
      openQuestions: this.#openQuestions,
      inFlight: this.work.inFlight,
      router: this.work.router,
      answer: (call, method, params, key) => this.#questions.answer(call, method, params, key),
      handedOn: (connection, session, given) => this.#questions.handedOn(connection, session, given),
      taskSupport: ({ server, tool }) => taskSupportOf(this.catalog.listing(server), tool),
      handed: this.work.handed,
      tasks: {
        ...this.#tasks,
        keep: async (task) => {
          if (this.#isKept(task.server)) await this.#tasks.keep(task);
        },
      },
      leave: this.#leave.signal,
      searchUsage: this.#searchUsage,
      telemetry,
      outputs: this.#outputFiles(),
      maxOutputTokens: maxOutputTokens(this.env),
      model: this.options.model ?? {},
      allowAlways: (spec, rule) => this.#allowAlways(spec, rule),
      alwaysAllowed: this.alwaysAllowed,
      argumentChecker: () => this.argumentChecker(),
    };
  }

  #outputFiles(): OutputFiles {
    const { outputs, cwd = process.cwd() } = this.options;
    if (outputs !== undefined) return createOutputFiles(resolve(cwd, outputs), this.clock);
    return this.home.isNone
      ? { save: () => Promise.resolve('') }
      : createOutputFiles(this.home.outputs, this.clock);
  }

  /** Saves an "always" rule; if that fails, it still applies to this call and session. */
  async #allowAlways(spec: Identity, rule: string): Promise<void> {
    const forSession = (why: string): void =>
      this.log(spec.name, 'warning', `${rule} is allowed for this session only: ${why}`);
    const { home, configuration } = this.options;
    // Sessions of such a host often belong to different people, so the rule must not apply to all of them.
    if (home === false || configuration === false)
      return forSession('this host reads no configuration files');
    const { allowAlways } = await import('../config/allow.ts');
    try {
      await allowAlways(this.home, spec, rule);
      // Applies to every session at once, before the file is reread.
      this.alwaysAllowed.add(sessionRule({ rule }, entryOwner(spec)));
    } catch (error) {
      forSession(asPlugboardError(error).message);
    }
  }

  /** Loads the argument validator once. */
  argumentChecker(): Promise<ArgumentChecker> {
    this.#checker ??= import('../call/argument-check.ts').then(({ createArgumentChecker }) =>
      createArgumentChecker(),
    );
    return this.#checker;
  }

  /** Allows the calls of a tool, like an answer of `approve`. */
  allow(session: Session, judged: Judged, granted: 'allow-session' | 'allow-always'): Promise<void> {
    const { spec, names } = judged;
    const decision = decisionOn({ ...judged, sessionAllows: new Set() });
    if (decision.kind === 'deny')
      throw new PlugboardError('DENIED', `${names.rule} cannot be allowed: ${decision.reason}`, {
        server: spec.name,
      });
    const askRule = decision.kind === 'ask' ? decision.rule : undefined;
    if (granted === 'allow-always' && askRule !== undefined) {
      const message = `${names.rule} is allowed for this session only: the rule ${askRule} in "ask" is stronger`;
      this.log(spec.name, 'warning', message, session.id);
    }
    return keepAllowed(this.#calls, session, { spec, rule: names.rule, askRule }, granted);
  }

  /** Starts the one reaper process for all servers of this host, with the first of them. */
  #startReaper(): Promise<Reaper> {
    this.#reaper ??= import('../transport/reaper.ts').then(({ createReaper }) =>
      createReaper({ env: this.env, onProblem: (message) => this.log(undefined, 'warning', message) }),
    );
    return this.#reaper;
  }
}

/** True for entries of `servers` and `add()`, which come from the program's author. */
function isFromCode({ scope }: ServerSpec): boolean {
  return scope === 'code';
}

/** Whether a session may use a tool of this name, when only the name is known. */
function mayUse({ offers }: Session, server: string, name: string): boolean {
  if (offers === undefined) return true;
  const short = name.replace(/^mcp__/, '');
  return offers(server, { long: [`mcp__${short}`], short: [short], server: serverNames(server) });
}

function homeOf({ home }: HostOptions, env: NodeJS.ProcessEnv): Home {
  if (home === false) return noHome();
  return home === undefined ? findHome(env) : homeAt(resolve(home));
}
