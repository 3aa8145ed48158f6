/** The connection to Redis: one for commands, which fail at once while Redis is away, and one for messages. */

import { type ChainableCommander, Cluster, Redis } from 'ioredis';
import { PlugboardError } from '../errors.ts';

const CONNECT_MS = 5_000;
/** A frozen Redis is treated as away after this time. */
const COMMAND_MS = 1_000;
const MAX_RECONNECT_MS = 1_000;
const RECONNECT_STEP_MS = 50;
const DEFAULT_PREFIX = 'plugboard';
const DEFAULT_PORT = 6379;
const PREFIX = /^[\w.:-]{1,64}$/;
const HINT = 'Use a URL such as redis://user:password@host:6379/0?prefix=plugboard';

/** A parsed `--cluster` URL. */
interface RedisPlace {
  /** Begins every key; its braces keep all keys in one slot of Redis Cluster, as scripts need. */
  readonly prefix: string;
  /** Without secrets, for messages. */
  readonly shown: string;
  connect(): Redis | Cluster;
}

/** Opens Redis at `redis://`, `rediss://`, `redis+sentinel://a,b/master` or `redis+cluster://a,b`. */
export class RedisStore {
  readonly prefix: string;
  readonly shown: string;
  readonly #commands: Redis | Cluster;
  readonly #messages: Redis | Cluster;
  #isUp = false;
  /** The last error of a connection: failed commands only report that it is closed. */
  #fault: unknown;
  readonly #onChange: ((isUp: boolean) => void)[] = [];

  private constructor({ prefix, shown, connect }: RedisPlace) {
    this.prefix = prefix;
    this.shown = shown;
    this.#commands = connect();
    this.#messages = connect();
    // Failed commands report the reason; an unhandled event would end the process.
    for (const each of [this.#commands, this.#messages])
      each.on('error', (error: unknown) => {
        this.#fault = error;
      });
    this.#commands.on('ready', () => this.#changed(true));
    this.#commands.on('close', () => this.#changed(false));
  }

  static async open(url: string): Promise<RedisStore> {
    const place = placeOf(url);
    const store = new RedisStore(place);
    try {
      await Promise.all([store.#commands.connect(), store.#messages.connect()]);
      await store.#commands.ping();
    } catch (cause) {
      store.close();
      throw new PlugboardError(
        'START_FAILED',
        `Cannot connect to Redis at ${place.shown}: ${reasonOf(store.#fault ?? cause)}`,
        {
          hint: 'Check that Redis runs there, its user and password, and for TLS that NODE_EXTRA_CA_CERTS has its authority.',
          cause,
        },
      );
    }
    store.#changed(true);
    return store;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  onChange(listener: (isUp: boolean) => void): void {
    this.#onChange.push(listener);
  }

  /** Handles the result of a command: a timeout shows that Redis is away before its connection closes. */
  answered(isUp: boolean): void {
    this.#changed(isUp);
  }

  key(...parts: readonly string[]): string {
    return `${this.prefix}:${parts.join(':')}`;
  }

  /** The client, for commands. */
  get redis(): Redis | Cluster {
    return this.#commands;
  }

  pipeline(): ChainableCommander {
    return this.#commands.pipeline();
  }

  /** Runs a Lua script, by its hash if Redis knows it. */
  async script(
    script: LuaScript,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    const given = [keys.length, ...keys, ...args] as const;
    try {
      return await this.#commands.evalsha(script.sha, ...given);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return this.#commands.eval(script.text, ...given);
    }
  }

  publish(channel: string, text: string): void {
    this.#commands.publish(this.key(channel), text).catch(() => {});
  }

  /** Calls back for each message of other replicas, also after a reconnect. */
  async subscribe(channel: string, listener: (text: string) => void): Promise<void> {
    const key = this.key(channel);
    this.#messages.on('message', (from: string, text: string) => {
      if (from === key) listener(text);
    });
    await this.#messages.subscribe(key);
  }

  close(): void {
    this.#commands.disconnect();
    this.#messages.disconnect();
  }

  #changed(isUp: boolean): void {
    if (this.#isUp === isUp) return;
    this.#isUp = isUp;
    for (const listener of this.#onChange) listener(isUp);
  }
}

/** A Lua script with its hash. */
export interface LuaScript {
  readonly text: string;
  readonly sha: string;
}

function placeOf(given: string): RedisPlace {
  const [, scheme = '', credentials = '', hosts = '', path = '', query = ''] = URL_PARTS.exec(given) ?? [];
  if (hosts === '') throw new PlugboardError('USAGE', '--cluster is not the URL of a Redis', { hint: HINT });
  const parameters = new URLSearchParams(query);
  const name = parameters.get('prefix') ?? DEFAULT_PREFIX;
  const unknown = [...parameters.keys()].find((key) => key !== 'prefix');
  if (unknown !== undefined)
    throw new PlugboardError('USAGE', `--cluster has the unknown parameter ${JSON.stringify(unknown)}`, {
      hint: HINT,
    });
  if (!PREFIX.test(name))
    throw new PlugboardError('USAGE', 'The prefix of --cluster has characters that keys cannot have', {
      hint: 'Use up to 64 letters, digits, dots, colons, dashes and underscores.',
    });
  const [user = '', password] = credentials.split(/:(.*)/s).map(decodeURIComponent);
  const isTls = scheme.startsWith('rediss');
  const options = {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_MS,
    commandTimeout: COMMAND_MS,
    retryStrategy: (times: number) => Math.min(times * RECONNECT_STEP_MS, MAX_RECONNECT_MS),
    ...(isTls ? { tls: {} } : {}),
    ...(password === undefined ? {} : { password, ...(user === '' ? {} : { username: user }) }),
  };
  const nodes = hosts.split(',').map(nodeOf);
  const [first] = nodes;
  return {
    prefix: `{${name}}`,
    shown: `${scheme}://${hosts}${path}`,
    connect: () => {
      if (scheme.endsWith('+cluster'))
        return new Cluster(nodes, { redisOptions: options, lazyConnect: true, enableOfflineQueue: false });
      if (scheme.endsWith('+sentinel'))
        return new Redis({
          ...options,
          sentinels: nodes,
          name: path.slice(1) || 'mymaster',
          ...(isTls ? { enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
        });
      const db = Number(path.slice(1) || 0);
      if (!Number.isInteger(db))
        throw new PlugboardError('USAGE', 'The database of --cluster is not a number', { hint: HINT });
      return new Redis({ ...options, ...first, db });
    },
  };
}

const URL_PARTS = /^(rediss?(?:\+sentinel|\+cluster)?):\/\/(?:([^@/?]*)@)?([^@/?]+)(\/[^?]*)?(?:\?(.*))?$/;

function nodeOf(text: string): { host: string; port: number } {
  const [, host = text, port] = /^(.*?)(?::(\d+))?$/.exec(text) ?? [];
  return { host: host.replace(/^\[|\]$/g, ''), port: port === undefined ? DEFAULT_PORT : Number(port) };
}

/** Messages of the client can repeat a command with its arguments, so only known ones are shown. */
function reasonOf(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : '';
  if (/WRONGPASS|NOAUTH|NOPERM|AUTH/.test(text)) return 'the user or password was refused';
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (/CERT|SIGNATURE|ALTNAME/.test(code)) return `its certificate is not trusted (${code})`;
  return code === '' ? 'no answer' : code;
}
