/** Owns the set of a host's servers: the configured ones, those added and removed by code, and how both change. */

import { availableParallelism } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { placeText } from '../config/document.ts';
import type { ServerSpec } from '../config/entry.ts';
import type { GivenEntry } from '../config/given-entry.ts';
import type { LoadedConfig } from '../config/load.ts';
import { keepUnreadable } from '../config/merge-specs.ts';
import { givenSpec } from '../config/parse.ts';
import { unknownServer } from '../config/unknown-server.ts';
import { watchFiles } from '../config/watch.ts';
import type { Connection } from '../connection/connection.ts';
import type { Admitted } from '../connection/pool.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { sentences } from '../lib/sentences.ts';
import { inTime } from '../lib/waits.ts';
import { admit, isRequired, shieldedByRule } from '../policy/admit.ts';
import { loadEffective, withConsent } from '../policy/effective.ts';
import { openTrust } from '../policy/trust.ts';
import type { HostCore } from './host-core.ts';
import type { HostEvents } from './host-options.ts';

export class HostServers {
  readonly #core: HostCore;
  readonly #added = new Map<string, ServerSpec>();
  readonly #removed = new Set<string>();
  #settled: Promise<void> = Promise.resolve();
  /** Serializes changes of the set of servers. */
  #changing: Promise<unknown> = Promise.resolve();
  #which: NonNullable<HostCore['options']['connect']>;
  #unwatch: () => void = () => {};
  /** Why files could not be read by the last reload. */
  #reported: ReadonlySet<string> = new Set();
  #closed = false;

  constructor(core: HostCore) {
    this.#core = core;
    this.#which = core.options.connect ?? 'lifecycle';
    core.consentLost = () => this.#follow();
  }

  /** Adds the configured servers and begins to start them. */
  async start(): Promise<void> {
    const { pool } = this.#core;
    const { added } = await pool.apply(await this.#admitted());
    const started = startAll(await this.#toStart(added), this.#core.clock);
    if (this.#isWatching) await this.#watch();
    this.#settled = this.#settle(started);
  }

  /** Begins to start the servers that `connect: 'none'` skipped, by their lifecycle. */
  async startIdleTimer(): Promise<void> {
    this.#core.checkOpen();
    this.#which = 'lifecycle';
    const started = startAll(await this.#toStart(this.#core.pool.all()), this.#core.clock);
    this.#settled = Promise.all([this.#settled, started]).then(() => this.#core.calls.collectTasks());
  }

  /** Waits until every server has settled; rejects if a `required` one failed to start. */
  async ready(): Promise<void> {
    await this.#settled;
    await this.#core.auth.reconnected();
    this.#core.checkOpen();
    this.#checkRequired();
  }

  hasRequired(among: (server: string) => boolean = () => true): boolean {
    return this.#core.pool
      .all()
      .some(({ name, spec, state }) => isRequired(spec, state.status) && among(name));
  }

  /**
   * Like `ready()`, for `required` servers only; with `unknown`, only those whose tools are unknown. `among`: only
   * these servers.
   */
  async requiredReady(
    which: 'all' | 'unknown',
    among: (server: string) => boolean = () => true,
  ): Promise<void> {
    const { pool } = this.#core;
    const applies = ({ name }: Connection): boolean =>
      among(name) && (which === 'all' || !this.#core.isKnown(name));
    const needed = pool.all().filter((each) => isRequired(each.spec, each.state.status) && applies(each));
    await Promise.all(needed.map((connection) => connection.connect().catch(() => {})));
    this.#checkRequired(applies);
  }

  /** Connects a server, or rereads its tools; rejects with the reason if it fails to start. */
  async refresh(name: string): Promise<void> {
    const connection = this.get(name);
    await (connection.isLive ? connection.reread() : connection.connect());
  }

  #checkRequired(applies: (connection: Connection) => boolean = () => true): void {
    const missing = this.#core.pool.all().find((each) => isMissing(each) && applies(each));
    if (missing === undefined) return;
    const { state, name } = missing;
    const error = 'error' in state ? state.error : undefined;
    const why = error?.message ?? `it is ${state.status}`;
    throw new PlugboardError('REQUIRED_FAILED', `The required server ${name} is not there: ${why}`, {
      server: name,
      hint: error?.hint,
      cause: error,
    });
  }

  /** Returns one server by its name; throws with the nearest name if it is unknown. */
  get(name: string): Connection {
    const { pool } = this.#core;
    const connection = pool.get(name);
    if (connection !== undefined) return connection;
    this.#core.checkOpen();
    const known = pool.all().map((other) => other.name);
    throw unknownServer(name, {
      known,
      hint: {
        commands: 'Run plugboard list to see all servers.',
        library: `Call host.servers() to list all servers${some(known)}.`,
      },
    });
  }

  /** Adds or replaces a server; resolves when it has settled. */
  async add(name: string, entry: GivenEntry): Promise<Connection> {
    const { config, warnOnce } = this.#core;
    const spec = givenSpec(name, entry, config.projectRoot, ({ message, hint }) =>
      warnOnce(name, sentences(message, hint)),
    );
    const connection = await this.#change(async () => {
      this.#added.set(name, spec);
      this.#removed.delete(name);
      const made = await this.#core.pool.put({ spec, initial: admit(spec, undefined, this.#core.authority) });
      this.#core.forget(name);
      return made;
    });
    if (connection.state.status === 'idle') await connection.connect().catch(() => {});
    return connection;
  }

  async remove(name: string): Promise<void> {
    this.get(name);
    await this.#change(async () => {
      this.#added.delete(name);
      this.#removed.add(name);
      await this.#core.pool.remove(name);
      this.#core.auth.drop(name);
      this.#core.forget(name);
    });
  }

  /**
   * Rereads the configuration; only servers that changed are restarted, and awaited unless `settle` is false. `read`:
   * the configuration that the caller has just read for this host.
   */
  async reload(
    read?: LoadedConfig,
    { settle = true }: { readonly settle?: boolean | undefined } = {},
  ): Promise<void> {
    const core = this.#core;
    const added = await this.#change(async () => {
      if (this.#closed) return [];
      const { cwd = process.cwd(), servers, builtIn, configuration: files } = core.options;
      const { home, env } = core;
      const loaded = read ?? (await loadEffective({ cwd, home, env, code: servers, builtIn, files }));
      const watched = core.config.files;
      this.#reportKept(loaded);
      core.config = await withConsent(keepUnreadable(core.config, loaded), { home, env });
      // "Always" rules are in the files that were just read, unless the person removed them.
      core.approvals.always.clear();
      core.profiles.reloaded();
      if (this.#isWatching && !isDeepStrictEqual(watched, core.config.files)) await this.#watch();
      const changed = await core.pool.apply(await this.#admitted());
      for (const name of changed.removed) {
        core.auth.drop(name);
        core.forget(name);
      }
      return changed.added;
    });
    for (const connection of added) core.events.emit('server', core.report(connection));
    await this.reviewPins();
    const started = startAll(await this.#toStart(added), core.clock);
    if (settle) await started;
  }

  /** Logs which files cannot be read now, once until that changes. */
  #reportKept({ unreadable, problems }: LoadedConfig): void {
    const reasons = unreadable.map((file) => {
      const problem = problems.find((each) => each.file === file && each.server === undefined);
      return problem === undefined
        ? `${file}: The file is empty`
        : `${placeText(problem)}: ${problem.message}`;
    });
    for (const reason of reasons)
      if (!this.#reported.has(reason))
        this.#core.log(undefined, 'warning', `${reason}. Its previous content is still used`);
    this.#reported = new Set(reasons);
  }

  /** Applies an acceptance of held-back items. */
  async reviewPins(): Promise<void> {
    const { loader, content, events } = this.#core;
    for (const server of await loader.review()) events.emit('tools', { server });
    for (const { kind, server } of content.review()) events.emit(kind, { server });
  }

  /** Stops all changes; the core stops the servers themselves. */
  stop(): void {
    this.#closed = true;
    this.#unwatch();
  }

  /** Resolves when the first start is over, with success or not. */
  get settled(): Promise<void> {
    return this.#settled;
  }

  #change<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#changing.then(work, work);
    this.#changing = done.catch(() => {});
    return done;
  }

  async #settle(started: ReturnType<typeof startAll>): Promise<void> {
    const { events } = this.#core;
    const counts = await started;
    // Lets the creator of this host attach listeners first, also when there was nothing to start.
    await nextTurn();
    events.emit('ready', counts);
    if (this.#which !== 'none') this.#core.calls.collectTasks();
  }

  async #admitted(): Promise<Admitted[]> {
    const { options, home, env, config } = this.#core;
    const configured = config.servers.filter(
      ({ name }) => !this.#removed.has(name) && !this.#added.has(name),
    );
    const specs = [...configured, ...this.#added.values()].filter(
      ({ name }) => options.only === undefined || options.only.includes(name),
    );
    const trust = await openTrust({ home, env }).verdicts(specs);
    const { authority } = this.#core;
    return specs.map((spec) => ({
      spec: shieldedByRule(spec, authority),
      initial: admit(spec, trust.get(spec.name), authority),
    }));
  }

  /** Loads the cached data of new servers, and returns which of them must start now and which can start later. */
  async #toStart(connections: readonly Connection[]): Promise<Starting> {
    const allowed = connections.filter(({ state }) => state.status === 'idle');
    const { fresh, startKeys } = await this.#core.loader.recall(allowed.map(({ spec }) => spec));
    this.#core.contact.recall(startKeys);
    const isLazy = ({ spec }: Connection): boolean => (spec.entry.lifecycle ?? 'lazy') === 'lazy';
    const isKnown = ({ name }: Connection): boolean => this.#core.isKnown(name);
    // A cached list does not prove that a server can be reached.
    const isNeeded = ({ spec, state }: Connection): boolean => isRequired(spec, state.status);
    const hasFailed = ({ name }: Connection): boolean => this.#core.contact.lastFailure(name) !== undefined;
    switch (this.#which) {
      case 'none':
        return { now: [], inTurns: [] };
      case 'all':
        return { now: allowed, inTurns: [] };
      case 'unknown':
        return { now: allowed.filter((each) => !isKnown(each) && !hasFailed(each)), inTurns: [] };
      case 'lifecycle': {
        const lazy = allowed.filter((each) => isLazy(each) && !isNeeded(each));
        return {
          now: allowed.filter((each) => !lazy.includes(each) || (!isKnown(each) && !hasFailed(each))),
          inTurns: [
            ...lazy.filter((each) => isKnown(each) && !fresh.has(each.name)),
            ...lazy.filter((each) => !isKnown(each) && hasFailed(each)),
          ],
        };
      }
    }
  }

  /** A host without configuration files has none to watch. */
  get #isWatching(): boolean {
    const { watch, configuration, home } = this.#core.options;
    return watch !== false && (configuration !== false || home !== false);
  }

  async #watch(): Promise<void> {
    const { home, clock, config } = this.#core;
    // A folder that does not exist yet cannot be watched; this one is ours, so we create it.
    await makeFolder(home.dir, 0o700).catch(() => {});
    this.#unwatch();
    this.#unwatch = watchFiles([...config.files, home.trust, home.pins], clock, () => this.#follow());
  }

  /** Reloads the configuration where no caller could receive an error. */
  #follow(): void {
    if (this.#closed) return;
    this.reload().catch((error: unknown) => {
      const { message } = asPlugboardError(error);
      this.#core.log(undefined, 'error', `reading the configuration again: ${message}`);
    });
  }
}

function isMissing({ spec, state }: Connection): boolean {
  // A server that the person disabled does not count as missing.
  const isFine = ['connected', 'idle', 'disabled'].includes(state.status);
  return isRequired(spec, state.status) && !isFine;
}

const SHOWN_NAMES = 8;

/** Returns the names themselves if they are few. */
function some(names: readonly string[]): string {
  return names.length > 0 && names.length <= SHOWN_NAMES ? `: ${names.join(', ')}` : '';
}

/**
 * Limit on parallel starts of servers that only refresh a known list, which is served from the cache until then. No
 * caller waits for them, and ten programs that start at once would slow down the ones that callers wait for.
 */
export const RENEWED_AT_ONCE: number = Math.max(1, Math.floor(availableParallelism() / 2));
/** The next one starts after this time, even if one hangs. */
export const TURN_MS = 1_000;

export interface Starting {
  /** Servers that a caller waits for. */
  readonly now: readonly Connection[];
  /** Servers whose list is cached and stale. */
  readonly inTurns: readonly Connection[];
}

async function startAll({ now, inTurns }: Starting, clock: Clock): Promise<HostEvents['ready']> {
  await Promise.all([...now.map((connection) => settled(connection)), renew(inTurns, clock)]);
  const all = [...now, ...inTurns];
  const count = (...statuses: string[]): number =>
    all.filter(({ state }) => statuses.includes(state.status)).length;
  const connected = count('connected');
  const cancelled = count('disconnected', 'idle', 'connecting');
  return { connected, failed: all.length - connected - cancelled, cancelled };
}

async function renew(connections: readonly Connection[], clock: Clock): Promise<void> {
  const waiting = [...connections];
  const starts: Promise<void>[] = [];
  const takeTurns = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      // It may have been started or removed since.
      const start = next.state.status === 'idle' ? settled(next) : Promise.resolve();
      starts.push(start);
      await inTime(start, TURN_MS, clock, undefined);
    }
  };
  await Promise.all(Array.from({ length: RENEWED_AT_ONCE }, takeTurns));
  await Promise.all(starts);
}

/** Errors are ignored here: the state of the connection has the result. */
async function settled(connection: Connection): Promise<void> {
  await connection.connect().catch(() => {});
}
