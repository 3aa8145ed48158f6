/** The hosts of the daemon: one for all sessions that may share their servers, for as long as there are any. */

import { realpathSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { ServerSpec } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { type BuiltIn, loadConfig } from '../config/load.ts';
import { createHost, type Host } from '../host.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import type { Clock } from '../lib/clock.ts';
import type { Hello, Surroundings, WantedServer } from '../remote/hello.ts';
import { Gateway } from '../serve/gateway.ts';
import { SERVED_SESSIONS } from '../serve/served-sessions.ts';
import { workspaceEntries, workspaceList } from '../workspace/entry.ts';
import { environmentKey, visibleEnvironment } from './environment.ts';

type Approvals = 'client' | 'enforce';
export type ServerHello = Extract<Hello, { kind: 'server' }>;

/** One host and who uses it. */
export class SharedHost {
  readonly key: string;
  readonly cwd: string;
  readonly host: Host;
  users = 0;
  readonly #gateways = new Map<Approvals, Gateway>();
  readonly #clock: Clock;
  #whole: Promise<void> | undefined;

  /** `isWhole`: its servers are started as their lifecycles say, and not only those that somebody names. */
  constructor(key: string, cwd: string, host: Host, clock: Clock, isWhole: boolean) {
    this.key = key;
    this.cwd = cwd;
    this.host = host;
    this.#clock = clock;
    if (isWhole) this.#whole = Promise.resolve();
  }

  /** Somebody wants all of its servers; resolves when they are on their way. */
  complete(): Promise<void> {
    this.#whole ??= this.host.connect();
    return this.#whole;
  }

  /** What MCP clients are served by; those that want every approval asked are served apart. */
  gateway(approvals: Approvals): Gateway {
    let gateway = this.#gateways.get(approvals);
    if (gateway === undefined) {
      gateway = new Gateway(this.host, { approvals, clock: this.#clock });
      this.#gateways.set(approvals, gateway);
    }
    return gateway;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#gateways.values()].map((gateway) => gateway.close()));
    await this.host.close();
  }
}

export interface SharedHostsOptions {
  readonly home: Home;
  readonly clock: Clock;
  /** How long a host that nobody uses is kept; asked when its last user leaves. */
  readonly keepMs: () => number;
  readonly log: (message: string) => void;
  /** Something about a host's servers changed: what its sessions have to have in common may have, too. */
  readonly changed: (shared: SharedHost) => void;
}

/** `whole`: one is made if need be, and all of its servers take part; `named`: only those that somebody names. */
export type Wish = 'whole' | 'named' | 'existing';

/** What has to be the same for two sessions to share a host. */
interface HostKind {
  readonly key: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly builtIn: BuiltIn | undefined;
}

interface Known {
  readonly shared: SharedHost;
  cancelEnd: () => void;
}

export class SharedHosts {
  readonly #options: SharedHostsOptions;
  readonly #known = new Map<string, Promise<Known>>();
  readonly #ending = new Map<string, Promise<void>>();

  constructor(options: SharedHostsOptions) {
    this.#options = options;
  }

  async all(): Promise<readonly SharedHost[]> {
    const known = await Promise.allSettled(this.#known.values());
    return known.flatMap((each) => (each.status === 'fulfilled' ? [each.value.shared] : []));
  }

  /**
   * The host for these surroundings, with the configuration as it is now; whoever is given one gives it back.
   * Undefined when there is none yet and none is to be made, or when the configuration wants no daemon.
   */
  async acquire(from: Surroundings, wish: Wish): Promise<SharedHost | undefined> {
    const kinds = await this.#kindsOf(from);
    // Agents that are served have the built-in server: they would not share a host that was made without it.
    if (wish === 'named') kinds.reverse();
    const kind = kinds.find((each) => each !== undefined && this.#known.has(each.key)) ?? kinds[0];
    if (kind === undefined) return undefined;
    const { key } = kind;
    for (;;) {
      await this.#ending.get(key);
      let making = this.#known.get(key);
      const isNew = making === undefined;
      if (making === undefined) {
        if (wish === 'existing') return undefined;
        making = this.#make(kind, from, wish);
        this.#known.set(key, making);
      }
      const known = await making;
      // It may have been given up while we waited.
      if (this.#known.get(key) !== making) continue;
      known.cancelEnd();
      known.cancelEnd = () => {};
      known.shared.users += 1;
      if (wish !== 'named') await known.shared.complete();
      // A watcher notices changes too, but not before whoever made them asks the next thing.
      if (!isNew)
        await known.shared.host.reload().catch((error: unknown) => this.#options.log(String(error)));
      return known.shared;
    }
  }

  /**
   * Where a session finds the one server that it wants: beside the others of its folder, where they have the same
   * one, else in a host that is given its entry.
   */
  async around({ cwd, env, servers, wanted }: ServerHello): Promise<Surroundings> {
    if (servers === undefined) return { cwd, env };
    const config = await loadConfig({ cwd, home: this.#options.home, builtIn: workspaceEntries });
    const same = config.servers.find((spec) => isWanted(spec, wanted));
    // What a program wrote into its own code needs nobody's consent; a project's file does.
    return same === undefined || same.scope === 'project' ? { cwd, env, servers } : { cwd, env };
  }

  /** Whether a session with these surroundings, were it to come now, would be given this host. */
  async isFor(shared: SharedHost, from: Surroundings): Promise<boolean> {
    return (await this.#kindsOf(from)).some((kind) => kind?.key === shared.key);
  }

  /** Resolves when the host is gone, if this was its last user and nothing keeps it. */
  async release(shared: SharedHost): Promise<void> {
    shared.users -= 1;
    if (shared.users > 0) return;
    const known = await this.#known.get(shared.key);
    if (known?.shared !== shared || shared.users > 0) return;
    const keepMs = this.#options.keepMs();
    if (keepMs > 0) known.cancelEnd = this.#options.clock.after(keepMs, () => void this.#end(shared));
    else await this.#end(shared);
  }

  async reload(): Promise<void> {
    await Promise.all((await this.all()).map(({ host }) => host.reload()));
  }

  async close(): Promise<void> {
    await Promise.all((await this.all()).map((shared) => this.#end(shared)));
    await Promise.all(this.#ending.values());
  }

  /** The hosts that would do, the likeliest first. */
  #kindsOf(from: Surroundings): Promise<(HostKind | undefined)[]> {
    const wanted = from.workspace === undefined ? [false, true] : [from.workspace];
    return Promise.all(wanted.map((workspace) => this.#kindOf(from, workspace)));
  }

  /** Undefined when the configuration wants no daemon. */
  async #kindOf(from: Surroundings, workspace: boolean): Promise<HostKind | undefined> {
    const builtIn = workspace ? workspaceEntries : undefined;
    const config = await loadConfig({
      cwd: from.cwd,
      home: this.#options.home,
      code: from.servers,
      builtIn,
    });
    if (config.settings.daemon === false) return undefined;
    const env = visibleEnvironment(config, from.env);
    const cwd = realPath(from.cwd);
    return {
      key: canonicalJson([cwd, from.servers ?? {}, environmentKey(env), workspace]),
      cwd,
      env,
      builtIn,
    };
  }

  #make({ key, cwd, env, builtIn }: HostKind, from: Surroundings, wish: Wish): Promise<Known> {
    const { home, clock, log } = this.#options;
    const making = createHost({
      cwd,
      home: home.dir,
      servers: from.servers,
      builtIn,
      builtInList: workspaceList,
      // No more than the key knows of: what another session has in its environment must not decide for this one.
      env,
      clock,
      connect: wish === 'named' ? 'none' : 'lifecycle',
      manyAgents: true,
      sessions: SERVED_SESSIONS,
    }).then((host) => {
      log(`opened the servers of ${cwd}`);
      host.on('log', ({ server, level, message }) => {
        if (level === 'warning' || level === 'error') log(`${level} ${server ?? ''}: ${message}`);
      });
      const shared = new SharedHost(key, cwd, host, clock, wish !== 'named');
      host.on('server', () => this.#options.changed(shared));
      return { shared, cancelEnd: () => {} };
    });
    making.catch(() => this.#known.delete(key));
    return making;
  }

  #end(shared: SharedHost): Promise<void> {
    this.#known.delete(shared.key);
    const { log } = this.#options;
    const ended = shared
      .close()
      .then(() => log(`closed the servers of ${shared.cwd}`))
      .catch((error: unknown) => log(`closing the servers of ${shared.cwd}: ${String(error)}`))
      .finally(() => this.#ending.delete(shared.key));
    this.#ending.set(shared.key, ended);
    return ended;
  }
}

/** The same entry, started in the same folder. */
export function isWanted({ name, raw, baseDir }: ServerSpec, wanted: WantedServer): boolean {
  return name === wanted.name && baseDir === wanted.baseDir && isDeepStrictEqual(raw, wanted.raw);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
