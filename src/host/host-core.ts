/** Wires a host: builds every part once and connects them. The public operations are in `host.ts`. */

import { rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { CallRecorder } from '../call/call-recorder.ts';
import { LogDemand } from '../call/log-demand.ts';
import { createSession, type Session, type SessionOptions } from '../call/session.ts';
import { Questions } from '../call/session-questions.ts';
import { SessionWork } from '../call/session-work.ts';
import type { Telemetry } from '../call/telemetry.ts';
import { Catalog } from '../catalog/catalog.ts';
import { type CatalogCache, openCatalogCache } from '../catalog/catalog-cache.ts';
import { CatalogLoader } from '../catalog/catalog-loader.ts';
import { type CompactDefinitions, createCompactDefinitions } from '../catalog/compact-definition.ts';
import {
  AGENT,
  AGENT_REPLY,
  CALL_TOOL,
  CALL_TOOL_READ,
  createGatewayView,
  type Deferral,
  type GatewayView,
  TOOL_SEARCH,
} from '../catalog/deferral.ts';
import { type KnownToolsWriter, openKnownToolsWriter } from '../catalog/known-tools-writer.ts';
import { type LastFailures, openLastFailures } from '../catalog/last-failures.ts';
import { LIST_RESOURCES, READ_RESOURCE } from '../catalog/resource-tool-definitions.ts';
import { RESULT } from '../catalog/result-tool-definition.ts';
import { RUN } from '../catalog/run-tool-definition.ts';
import { openSearchUsage, type SearchUsage } from '../catalog/search-usage.ts';
import { createSearch, type Search } from '../catalog/search-view.ts';
import { TASK_TOOL_NAMES } from '../catalog/task-tool-names.ts';
import type { NameForm } from '../catalog/tool-names.ts';
import type { CodeModeSettings, DefinitionsSetting } from '../config/entry.ts';
import { findHome, type Home, homeAt, noHome } from '../config/home.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Connection } from '../connection/connection.ts';
import { type EraCache, openEraCache } from '../connection/era-cache.ts';
import type { HandedOn } from '../connection/handed-on.ts';
import type { LogLevel } from '../connection/log-levels.ts';
import { createOpenQuestions, type OpenQuestions } from '../connection/open-questions.ts';
import { Pool } from '../connection/pool.ts';
import { capabilitiesOf, type Questioned } from '../connection/questions.ts';
import { hostClosed } from '../connection/reasons.ts';
import { TASKS_EXTENSION } from '../connection/tasks.ts';
import { PlugboardError } from '../errors.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { Emitter } from '../lib/emitter.ts';
import { onMissingLocks } from '../lib/system-locks.ts';
import type { Authority } from '../policy/admit.ts';
import { type BudgetAccount, BudgetBook } from '../policy/budgets.ts';
import { clean } from '../policy/clean.ts';
import { waitingFor } from '../policy/consent-terms.ts';
import { loadEffective, withConsent } from '../policy/effective.ts';
import { createHiddenReport, createOnceReport, type HiddenReport } from '../policy/once-report.ts';
import { openPins, type Pins, pinsExcept } from '../policy/pins-store.ts';
import { FirstContact, FirstLists } from './first-lists.ts';
import { HostApprovals } from './host-approvals.ts';
import { HostAuth } from './host-auth.ts';
import { createHostCalls, type HostCalls } from './host-calls.ts';
import { DedicatedConnections, HostConnections } from './host-connections.ts';
import { HostContent } from './host-content.ts';
import { hostDeferral } from './host-deferral.ts';
import { HostInputs } from './host-inputs.ts';
import type { HostEvents, HostOptions } from './host-options.ts';
import { checkedRoots } from './host-options-check.ts';
import { type HostProfile, HostProfiles } from './host-profiles.ts';
import { logged, messageOf, reportOf, type ServerReport } from './host-report.ts';
import { HostSecrets } from './host-secrets.ts';
import { HostTransports } from './host-transports.ts';

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

/** The parts of a host read each other through it, but not before the host is built. */
export class HostCore {
  readonly options: HostOptions;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly home: Home;
  /** The current configuration; a reload replaces the whole object. */
  config: LoadedConfig;
  sandboxState: unknown;
  /** Begins the ids of sessions, calls and questions. */
  readonly idPrefix: string;
  readonly events: Emitter<HostEvents>;
  /** Reports removed hidden text, once for each server and place. */
  readonly hidden: HiddenReport;
  /** Warns, about a server if one is named; once per message. */
  readonly warnOnce: (server: string | undefined, message: string) => void;
  /** The session of the host's own calls. */
  readonly session: Session;

  // Catalog.
  readonly catalog: Catalog;
  readonly loader: CatalogLoader;
  /** The form of tool names for clients of a gateway: the configured one, else `server__tool`. */
  readonly gatewayNaming: NameForm;
  readonly gatewayView: GatewayView;
  readonly compact: CompactDefinitions = createCompactDefinitions();
  readonly searchUsage: SearchUsage | undefined;
  readonly search: Search;
  readonly deferral: () => Deferral;
  readonly profiles: HostProfiles;
  readonly content: HostContent;
  readonly contact: FirstContact;
  readonly firstLists: FirstLists;
  /** Records tools, prompts and resources for readers that do not load the catalog. */
  readonly known: KnownToolsWriter;
  readonly pins: Pins;
  readonly #cache: CatalogCache;

  // Connections.
  readonly auth: HostAuth;
  readonly inputs: HostInputs;
  readonly transports: HostTransports;
  readonly eraCache: EraCache;
  readonly pool: Pool;
  readonly work: SessionWork;
  /** Tracks which log levels are requested from which process. */
  readonly logDemand: LogDemand;
  /** Called when a server that shadows another one may no longer start; set by the owner of the server set. */
  consentLost: () => void = () => {};

  // Calls and questions.
  readonly approvals: HostApprovals;
  readonly budgets: BudgetBook;
  readonly openQuestions: OpenQuestions;
  readonly questions: Questions;
  /** Changed in place: the stages of calls hold it. */
  readonly recorders: CallRecorder[] = [];
  /** The secrets of all servers. */
  readonly secrets: HostSecrets;
  readonly calls: HostCalls;
  /** The kinds of questions that the host and its sessions can answer. */
  readonly #declared: Declared;
  /** Reports invalid roots given by the program, once. */
  readonly #rootsFault: (server: string, message: string) => void;

  readonly #close = new AbortController();
  readonly #stopLockReports: () => void;
  #sessions = 0;

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
    const isTraced = (options.telemetry ?? config.settings.telemetry ?? false) !== false;
    const telemetry = isTraced ? await (await import('../call/telemetry.ts')).loadTelemetry() : undefined;
    return new HostCore({ options, env, clock, home, config, eraCache, pins, failures, telemetry });
  }

  private constructor({ options, env, clock, home, config, eraCache, pins, failures, telemetry }: Parts) {
    this.options = options;
    this.env = env;
    this.clock = clock;
    this.home = home;
    this.config = config;
    this.sandboxState = options.sandboxState;
    this.idPrefix = options.idPrefix ?? '';
    const report =
      (level: LogLevel) =>
      (server: string | undefined, message: string): void =>
        this.log(server, level, message);
    this.events = new Emitter((error) => report('error')(undefined, `A listener threw: ${String(error)}`));
    if (options.log !== undefined) this.events.on('log', options.log);
    this.#stopLockReports = onMissingLocks((message) => report('info')(undefined, message));
    this.hidden = createHiddenReport(report('warning'));
    this.warnOnce = createOnceReport(report('warning'));
    this.#rootsFault = createOnceReport(report('error'));

    this.auth = new HostAuth(this);
    this.inputs = new HostInputs(this);
    this.secrets = new HostSecrets(this);
    this.transports = new HostTransports(this);
    this.approvals = new HostApprovals(this);
    this.budgets = options.budgetBook ?? new BudgetBook(home, clock, options.sharedCounters);
    this.eraCache = eraCache;
    this.pins = pinsExcept(pins, (spec) => this.transports.keepsNothingOf(spec));
    this.known = openKnownToolsWriter(home);
    this.#cache = openCatalogCache(home, clock);

    this.session = createSession(
      `${this.idPrefix}host`,
      { ...options, roots: checkedRoots(options.roots, this.#rootsFault) },
      this.#partyName,
    );
    this.openQuestions = createOpenQuestions(this.events, this.idPrefix);
    this.#declared = { ...options, ...options.sessions };
    this.questions = new Questions({
      declared: this.#declared,
      host: this.session,
      work: () => this.work,
      openQuestions: this.openQuestions,
      clock,
      log: (server, level, message) => this.log(server, level, message),
      hidden: this.hidden,
      openUrl: options.openUrl,
    });

    const naming = options.naming ?? config.settings.naming;
    this.gatewayNaming = naming ?? 'gateway';
    this.gatewayView = createGatewayView(this.gatewayNaming);
    const reserved = [
      TOOL_SEARCH,
      CALL_TOOL,
      CALL_TOOL_READ,
      AGENT,
      AGENT_REPLY,
      LIST_RESOURCES,
      READ_RESOURCE,
      RESULT,
      ...TASK_TOOL_NAMES,
      ...(this.#mayRunPrograms ? [RUN] : []),
    ];
    this.catalog = new Catalog(naming ?? 'mcp__', reserved, this.hidden);
    this.loader = this.#createLoader();
    this.searchUsage = config.settings.searchLearning === false ? undefined : openSearchUsage(home);
    this.search = createSearch({
      snapshot: () => this.catalog.snapshot,
      searchUsage: this.searchUsage,
      model: options.searchModel,
      warn: (message) => this.log(undefined, 'warning', message),
    });
    this.deferral = hostDeferral(this);
    this.profiles = new HostProfiles(this);

    this.pool = new Pool(new HostConnections(this));
    this.work = new SessionWork(new DedicatedConnections(this), {
      manyAgents: options.manyAgents === true,
      expectsRoots: options.sessions?.roots !== undefined,
    });
    this.work.router.opened(this.session);
    this.logDemand = new LogDemand({
      clock,
      own: options.logLevel ?? 'info',
      connections: () => this.pool.all().flatMap((each) => [each, ...this.work.dedicatedOf(each)]),
      dedicatedTo: (connection) => this.work.router.dedicatedTo(connection),
    });
    this.content = new HostContent(this);
    this.contact = new FirstContact(this, failures);
    this.firstLists = new FirstLists(this);
    this.work.events.on('state', ({ connection }) => {
      if (connection.state.status !== 'connected') return;
      this.content.connected(connection);
      this.firstLists.connected(connection);
    });
    this.calls = createHostCalls(this, telemetry);
  }

  #createLoader(): CatalogLoader {
    return new CatalogLoader({
      catalog: this.catalog,
      cache: this.#cache,
      pins: this.pins,
      known: this.known,
      expand: (spec) => this.inputs.expand(spec, { ask: false }),
      keepsNothingOf: (spec) => this.transports.keepsNothingOf(spec),
      builtInList: async (spec) => this.options.builtInList?.(spec),
      principal: (spec, entry) => this.auth.principal(spec, entry),
      capabilities: () => JSON.stringify(this.capabilities),
      warn: (server, message) => this.log(server, 'warning', message),
      hidden: this.hidden,
    });
  }

  /** The policy and environment that admission of servers is decided with. */
  get authority(): Authority {
    return { managed: this.config.managed, env: this.env };
  }

  /** Declared to servers when they connect: everything that any session of this host may be able to answer. */
  get capabilities(): Readonly<Record<string, unknown>> {
    return { ...capabilitiesOf(this.#declared), extensions: { [TASKS_EXTENSION]: {} } };
  }

  // Sessions.

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
    const { profile } = options;
    const view = profile === undefined ? undefined : this.#profileFor(profile, options);
    const id = `${this.idPrefix}s${this.#sessions}`;
    const session = createSession(id, given, this.#partyName, this.#accountOf(id, options, view), view);
    this.work.router.opened(session);
    return session;
  }

  /** Returns the account for the session's own budgets, else for those of its profile: one for all sessions of a client. */
  #accountOf(
    id: string,
    { budgets, client, stateOf }: SessionOptions,
    view: HostProfile | undefined,
  ): BudgetAccount | undefined {
    if (budgets !== undefined) return this.budgets.account(budgets);
    if (view === undefined || view.budgets.length === 0) return undefined;
    const principal = client ?? (typeof stateOf === 'object' ? stateOf.principal : id);
    return this.budgets.account({ principal, budgets: view.budgets });
  }

  /** Returns how definitions are listed: as the profile of the session, the host's options or the configuration set it. */
  definitionsFor({ profile }: Pick<Session, 'profile'>): DefinitionsSetting {
    return profile?.definitions ?? this.options.definitions ?? this.config.settings.definitions ?? 'full';
  }

  /** Whether any session may have code mode. */
  get #mayRunPrograms(): boolean {
    const { codeMode, profiles = {} } = this.config.settings;
    const all = [
      this.options.codeMode,
      codeMode,
      ...Object.values(profiles).map((profile) => profile.codeMode),
    ];
    return all.some((mode) => mode !== undefined && mode !== false);
  }

  /** Returns the limits of the session's programs; undefined if it has no code mode. */
  codeModeFor({ profile }: Pick<Session, 'profile'>): CodeModeSettings | undefined {
    const mode = profile?.codeMode ?? this.options.codeMode ?? this.config.settings.codeMode ?? false;
    if (typeof mode === 'boolean') return mode ? {} : undefined;
    return mode;
  }

  /** A gateway has checked the profile; if it breaks later, its clients have nothing. */
  #profileFor(name: string, { gateway }: SessionOptions): HostProfile {
    return gateway === true ? this.profiles.of(name) : this.profiles.usable(name);
  }

  /**
   * Cancels the session's open calls, here and at its servers, then stops its dedicated processes; after `tasks`, the
   * end of its calls in the background.
   */
  endSession(session: Session, tasks?: Promise<unknown>): void {
    const { id } = session;
    // Most sessions end with nothing open, a client's request in the modern era among them.
    const reason = (): PlugboardError =>
      new PlugboardError('CANCELLED', `The call was cancelled: the session ${id} has ended`);
    session.ended.cancel(reason);
    this.openQuestions.withdraw((question) => question.session === id, reason);
    const release = (): void => {
      this.logDemand.end(session);
      this.work.router.end(session);
    };
    if (tasks === undefined) release();
    else void tasks.then(release, release);
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
    const handedOn = this.questions.handedOn(connection, session, options.handedOn);
    return { ...options, handedOn, until: session.ended };
  }

  // Servers.

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

  /** Whether the tools of a server are known, from the cache or from the server. */
  isKnown(server: string): boolean {
    return this.catalog.listing(server) !== undefined;
  }

  /** Rereads stale lists in the background; called before tools are listed. */
  freshen(): void {
    for (const { live } of this.pool.all()) live?.freshen();
  }

  /**
   * Rereads all lists in the background, because another process has read one that differs: those of connected servers
   * from the server, and those of idle ones from the cache.
   */
  async relist(): Promise<void> {
    const connections = this.pool.all();
    for (const { live } of connections) live?.relist();
    const idle = connections.filter(({ state }) => state.status === 'idle');
    const { changed } = await this.loader.recall(idle.map(({ spec }) => spec));
    for (const server of changed) this.events.emit('tools', { server });
  }

  /** Removes the tools of a server that was removed or disconnected. */
  forget(name: string): void {
    const reason = new PlugboardError('CONNECTION_LOST', `${name} was removed or replaced`, { server: name });
    this.openQuestions.withdraw(
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
    if (server !== undefined)
      this.events.emit('message', { ...messageOf(server, event, session), isOwn: true });
  }

  // Lifecycle.

  /** Aborted when the host closes. */
  get closing(): AbortSignal {
    return this.#close.signal;
  }

  /** Throws if the host was closed: no new work is started after that. */
  checkOpen(): void {
    if (this.closing.aborted) throw hostClosed();
  }

  /** Stops every server, then the parts that served them. */
  async close(): Promise<void> {
    this.#close.abort();
    this.openQuestions.close();
    this.logDemand.close();
    await Promise.all([this.pool.close(), this.work.router.close()]);
    await this.calls.settled();
    await Promise.all([
      this.eraCache.flush(),
      this.#cache.flush(),
      this.known.flush(),
      this.content.flush(),
      this.contact.close(),
      this.pins.flush(),
      this.calls.flush(),
      this.budgets.flush(),
    ]);
    await this.auth.close();
    await this.transports.close();
    if (this.home.isNone)
      await rm(dirname(this.home.folders), { recursive: true, force: true }).catch(() => {});
    this.#stopLockReports();
  }
}

function homeOf({ home }: HostOptions, env: NodeJS.ProcessEnv): Home {
  if (home === false) return noHome();
  return home === undefined ? findHome(env) : homeAt(resolve(home));
}
