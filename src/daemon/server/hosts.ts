/** The hosts of the daemon: one for all sessions of a folder whose servers would be started in the same way. */

import { isDeepStrictEqual } from 'node:util';
import type { ServerSpec, Settings } from '../../config/entry.ts';
import type { Home } from '../../config/home.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { isForeign } from '../../config/scopes.ts';
import { isAtLeast } from '../../connection/log-levels.ts';
import { createHost, type Host } from '../../host/host.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import type { Clock } from '../../lib/clock.ts';
import { getOrMake } from '../../lib/get-or-make.ts';
import { realPath } from '../../lib/inside.ts';
import type { Traffic } from '../../manage/traffic.ts';
import { BudgetBook } from '../../policy/budgets.ts';
import { loadEffective } from '../../policy/effective.ts';
import { Gateway } from '../../serve/gateway.ts';
import { SERVED_SESSIONS } from '../../serve/served-host.ts';
import { addOptional } from '../../transport/launch.ts';
import { servedWorkspace, workspaceEntries, workspaceList } from '../../workspace/workspace-entry.ts';
import type { RequestedServer, SessionContext, SessionRequest } from '../protocol/daemon-messages.ts';
import { type ProcessOwner, ProcessSharing } from './process-sharing.ts';
import { AmbientEnvironment, sessionDifferences, visibleEnvironment } from './session-environment.ts';

type Approvals = 'client' | 'enforce';
export type PassThroughRequest = Extract<SessionRequest, { kind: 'server' }>;

/** A folder with the servers of a session there, and the environment that they would get. */
interface View {
  readonly cwd: string;
  readonly servers: SessionContext['servers'];
  readonly workspace: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly config: LoadedConfig;
}

/** One host and its users. */
export class SharedHost implements ProcessOwner {
  readonly cwd: string;
  readonly servers: SessionContext['servers'];
  readonly workspace: boolean;
  /** Grows by optional variables that later sessions have and the first one lacked. */
  readonly env: NodeJS.ProcessEnv;
  /** The newest configuration that one of its sessions was matched with. */
  config: LoadedConfig;
  sessions = 0;
  /** Other hosts that use a process of this one. */
  #sharing = 0;
  readonly #gateways = new Map<Approvals, Gateway>();
  readonly #options: SharedHostOptions;
  readonly #unused: () => void;
  #host: Host | undefined;
  #stopWatching: () => void = () => {};
  #all: Promise<void> | undefined;
  #releaseTasks: (() => void) | undefined;

  /** `unused` is called when its last user has left. */
  constructor(view: View, options: SharedHostOptions, unused: () => void) {
    this.cwd = view.cwd;
    this.servers = view.servers;
    this.workspace = view.workspace;
    this.env = { ...view.env };
    this.config = view.config;
    this.#options = options;
    this.#unused = unused;
  }

  get host(): Host | undefined {
    return this.#host;
  }

  get isUsed(): boolean {
    return this.sessions > 0 || this.#sharing > 0;
  }

  /** Creates the host. `connect: 'none'`: only servers that a session names are started. */
  async open(idPrefix: string, connect: 'lifecycle' | 'none', sharing: ProcessSharing): Promise<Host> {
    const { home, clock, log, traffic, changed, budgetBook } = this.#options;
    const host = await createHost({
      cwd: this.cwd,
      home: home.dir,
      servers: this.servers,
      config: this.config,
      builtIn: this.workspace ? workspaceEntries : undefined,
      builtInList: workspaceList,
      // Only compared variables: a variable of one session must not affect another.
      env: this.env,
      clock,
      connect,
      manyAgents: true,
      sessions: SERVED_SESSIONS,
      idPrefix,
      budgetBook,
      borrow: (spec, entry) => sharing.borrow(this, spec, entry),
    });
    this.#host = host;
    if (connect === 'lifecycle') this.#all = Promise.resolve();
    this.#stopWatching = traffic.watch(host);
    host.on('log', ({ server, level, message }) => {
      if (isAtLeast(level, 'warning')) log(`${level}${server === undefined ? '' : ` ${server}`}: ${message}`);
    });
    host.on('server', () => changed(this));
    host.on('task', () => this.#tasksChanged(host));
    log(`opened the servers of ${this.cwd}`);
    return host;
  }

  /** Starts the servers that `connect: 'none'` skipped; resolves when they are being started. */
  async connectAll(): Promise<void> {
    this.#all ??= this.#host?.connect();
    await this.#all;
  }

  /** Returns the gateway for MCP clients; one for each approval mode. */
  gateway(host: Host, approvals: Approvals): Gateway {
    const { clock, traffic } = this.#options;
    return getOrMake(
      this.#gateways,
      approvals,
      () =>
        new Gateway(host, {
          approvals,
          clock,
          approvalQueue: traffic.approvalQueue,
          connected: traffic.clients,
          folder: this.cwd,
        }),
    );
  }

  /** A call in the background uses the host like a session. */
  #tasksChanged(host: Host): void {
    if (host.management.isBusy) this.#releaseTasks ??= this.hold();
    else {
      this.#releaseTasks?.();
      this.#releaseTasks = undefined;
    }
  }

  hold(): () => void {
    this.#sharing += 1;
    let release = (): void => {
      release = () => {};
      this.#sharing -= 1;
      if (!this.isUsed) this.#unused();
    };
    return () => release();
  }

  async close(): Promise<void> {
    const host = this.#host;
    this.#host = undefined;
    await Promise.all([...this.#gateways.values()].map((gateway) => gateway.close()));
    await host?.close();
    this.#stopWatching();
  }
}

interface SharedHostOptions extends SharedHostsOptions {
  /** One for all hosts, so that a client's budget does not depend on its folder. */
  readonly budgetBook: BudgetBook;
}

export interface SharedHostsOptions {
  readonly home: Home;
  readonly clock: Clock;
  readonly traffic: Traffic;
  /** How long a host without users is kept; read when its last user leaves. */
  readonly keepMs: () => number;
  readonly log: (message: string) => void;
  /** Called with the settings of the newest session. */
  readonly configured: (settings: Settings) => void;
  /**
   * Called when the servers of a host changed: the variables that its sessions must have in common may have changed
   * too.
   */
  readonly changed: (shared: SharedHost) => void;
}

/** `all`: a host is created if necessary, and all its servers are started; `named`: only those that a session names. */
export type Scope = 'all' | 'named' | 'existing';

interface Known {
  readonly shared: SharedHost;
  readonly made: Promise<Host>;
  cancelEnd: () => void;
}

export interface Acquired {
  readonly shared: SharedHost;
  readonly host: Host;
  /** For this session: without the workspace server, unless it requested that. */
  readonly config: LoadedConfig;
}

export class SharedHosts {
  readonly sharing: ProcessSharing;
  readonly #options: SharedHostOptions;
  readonly #ambient: AmbientEnvironment;
  /** The completed environment of each session. */
  readonly #completed = new WeakMap<SessionContext, NodeJS.ProcessEnv>();
  readonly #known = new Set<Known>();
  readonly #ending = new Map<SharedHost, Promise<void>>();
  /** Serializes the creation of hosts, so that each can use the processes of those before it. */
  #making: Promise<unknown> = Promise.resolve();
  #made = 0;

  constructor(options: SharedHostsOptions) {
    this.#options = { ...options, budgetBook: new BudgetBook(options.home, options.clock) };
    this.sharing = new ProcessSharing(options.clock);
    this.#ambient = new AmbientEnvironment(options.home);
  }

  /** Returns the open hosts. */
  all(): readonly { readonly shared: SharedHost; readonly host: Host }[] {
    return [...this.#known].flatMap(({ shared }) =>
      shared.host === undefined ? [] : [{ shared, host: shared.host }],
    );
  }

  /** True while a call goes on in the background. */
  get isBusy(): boolean {
    return this.all().some(({ host }) => host.management.isBusy);
  }

  /**
   * Returns the host for a session, with the current configuration; `release` it afterwards. Undefined if there is
   * none and `scope` does not create one, or if the configuration disables the daemon.
   */
  async acquire(from: SessionContext, scope: Scope): Promise<Acquired | undefined> {
    const view = await this.#viewOf(from);
    const { settings } = view.config;
    if (settings.daemon === false) return undefined;
    this.#options.configured(settings);
    for (;;) {
      const known = this.#find(view, from) ?? (scope === 'existing' ? undefined : this.#make(view, scope));
      if (known === undefined) {
        const ending = [...this.#ending].find(([shared]) => matches(shared, view, from));
        if (ending === undefined) return undefined;
        await ending[1];
        continue;
      }
      const { shared } = known;
      known.cancelEnd();
      known.cancelEnd = () => {};
      shared.sessions += 1;
      addOptional(shared.env, view.env);
      try {
        const host = await known.made;
        // It may have been closed during the wait.
        if (!this.#known.has(known)) continue;
        if (scope !== 'named') await shared.connectAll();
        await this.#refresh(shared, host, view);
        return { shared, host, config: view.config };
      } catch (error) {
        shared.sessions -= 1;
        throw error;
      }
    }
  }

  /** Removes a session. Resolves when the host is closed, if this was its last user and it is not kept. */
  async release(shared: SharedHost): Promise<void> {
    shared.sessions -= 1;
    await this.#releaseIfUnused(shared);
  }

  /**
   * Returns the surroundings in which a session finds the one server it requests: its folder's if they have the same
   * entry, else a host that is given its entry.
   */
  async around({ cwd, env, servers, wanted }: PassThroughRequest): Promise<SessionContext> {
    if (servers === undefined) return { cwd, env, workspace: 'any' };
    const config = await loadEffective({ cwd, home: this.#options.home, env, builtIn: workspaceEntries });
    const same = config.servers.find((spec) => isWanted(spec, wanted));
    // An entry in a program's own code needs no consent; an entry in a project's file does.
    return same === undefined || isForeign(same)
      ? { cwd, env, servers, workspace: 'any' }
      : { cwd, env, workspace: 'any' };
  }

  /** Whether a session with these surroundings would get this host now. */
  async isFor(shared: SharedHost, from: SessionContext): Promise<boolean> {
    return matches(shared, await this.#viewOf(from), from);
  }

  async reload(): Promise<void> {
    await Promise.all(this.all().map(({ host }) => host.reload()));
  }

  async close(): Promise<void> {
    await this.#making.catch(() => {});
    for (const known of [...this.#known]) void this.#end(known);
    await Promise.all(this.#ending.values());
  }

  async #viewOf(from: SessionContext): Promise<View> {
    // Once for each session: variables of later sessions must not move it to another host.
    let session = this.#completed.get(from);
    if (session === undefined) {
      session = await this.#ambient.complete(from.env);
      this.#completed.set(from, session);
    }
    const builtIn = servedWorkspace(from.workspace === 'any' ? false : from.workspace);
    const config = await loadEffective({
      cwd: from.cwd,
      home: this.#options.home,
      env: session,
      code: from.servers,
      builtIn,
    });
    const workspace = Object.keys(builtIn?.(config.settings) ?? {}).length > 0;
    return {
      cwd: realPath(from.cwd),
      servers: from.servers,
      workspace,
      env: visibleEnvironment(config.servers, session, from.env),
      config,
    };
  }

  #find(view: View, from: SessionContext): Known | undefined {
    return [...this.#known].find(({ shared }) => matches(shared, view, from));
  }

  #make(view: View, scope: Scope): Known {
    this.#made += 1;
    const idPrefix = `${this.#made}.`;
    const shared: SharedHost = new SharedHost(view, this.#options, () => void this.#releaseIfUnused(shared));
    const made = this.#making
      .catch(() => {})
      // The predecessor for the same sessions must have stopped its processes.
      .then(() =>
        Promise.all([...this.#ending].flatMap(([old, ended]) => (isAlike(old, view) ? [ended] : []))),
      )
      .then(() => shared.open(idPrefix, scope === 'named' ? 'none' : 'lifecycle', this.sharing));
    this.#making = made;
    const known: Known = { shared, made, cancelEnd: () => {} };
    this.#known.add(known);
    made.catch(() => this.#known.delete(known));
    return known;
  }

  /** Reloads at once: a watcher notices changes too, but later than the command that follows the change. */
  async #refresh(shared: SharedHost, host: Host, view: View): Promise<void> {
    if (shared.config === view.config) return;
    shared.config =
      shared.workspace === view.workspace
        ? view.config
        : await loadEffective({
            cwd: shared.cwd,
            home: this.#options.home,
            env: shared.env,
            code: shared.servers,
            builtIn: shared.workspace ? workspaceEntries : undefined,
          });
    // A session does not wait for the changed servers; its lists do, within their limits.
    await host
      .reload(shared.config, { settle: false })
      .catch((error: unknown) => this.#options.log(String(error)));
  }

  async #releaseIfUnused(shared: SharedHost): Promise<void> {
    const known = [...this.#known].find((each) => each.shared === shared);
    if (known === undefined || shared.isUsed) return;
    const keepMs = this.#options.keepMs();
    known.cancelEnd();
    if (keepMs > 0) known.cancelEnd = this.#options.clock.after(keepMs, () => void this.#end(known));
    else await this.#end(known);
  }

  #end(known: Known): Promise<void> {
    const { shared } = known;
    this.#known.delete(known);
    this.sharing.drop(shared);
    known.cancelEnd();
    const { log } = this.#options;
    const ended = known.made
      .catch(() => {})
      .then(() => shared.close())
      .then(() => log(`closed the servers of ${shared.cwd}`))
      .catch((error: unknown) => log(`closing the servers of ${shared.cwd}: ${String(error)}`))
      .finally(() => this.#ending.delete(shared));
    this.#ending.set(shared, ended);
    return ended;
  }
}

/** True for the same entry, started in the same folder. */
export function isWanted({ name, raw, baseDir }: ServerSpec, wanted: RequestedServer): boolean {
  return name === wanted.name && baseDir === wanted.baseDir && isDeepStrictEqual(raw, wanted.raw);
}

function matches(shared: SharedHost, view: View, { workspace }: SessionContext): boolean {
  return (workspace === 'any' || shared.workspace === view.workspace) && isAlike(shared, view);
}

function isAlike(shared: SharedHost, { cwd, servers, env, config }: View): boolean {
  return (
    shared.cwd === cwd &&
    canonicalJson(shared.servers ?? {}) === canonicalJson(servers ?? {}) &&
    sessionDifferences(config.servers, shared.env, env).length === 0
  );
}
