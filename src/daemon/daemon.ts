/** The daemon: one process of a user in which the sessions of all agents meet (CON-11). */

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { Home } from '../config/home.ts';
import type { Backend } from '../endpoint/backend.ts';
import { asPlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { replaceFile } from '../lib/locked-file.ts';
import { readVersion } from '../lib/version.ts';
import { firstLine } from '../remote/attach.ts';
import { type Hello, LEAVING, PROTOCOL, STOPPED, type Surroundings, type Welcome } from '../remote/hello.ts';
import { type Place, socketPath } from '../remote/place.ts';
import { type DaemonRecord, readRecord } from '../remote/record.ts';
import type { DaemonReport } from '../remote/report.ts';
import { runCommandSession } from './command-session.ts';
import { openHanded } from './handed-server.ts';
import { type SharedHost, SharedHosts, type Wish } from './hosts.ts';
import { McpSession } from './mcp-session.ts';
import { bytesOf, useOf } from './status.ts';

/** How long a daemon that somebody asked for stays without a session. */
const IDLE_MS: number = 10 * 60 * 1000;
/** How long one stays that only came along with `serve`: its servers have left with its last session. */
const LINGER_MS = 5_000;
/** How often it looks whether its home is still there. */
const WATCH_MS = 1_000;
/** Servers tell of several changes in a row. */
const CHECK_MS = 200;
/** How long running calls may go on after it was asked to end. */
const CLOSE_GRACE_MS = 5_000;
const TOKEN_BYTES = 32;
const ONLY_OURS = 0o600;

export interface DaemonOptions {
  readonly home: Home;
  readonly place: Place;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly log: (message: string) => void;
}

interface Seat {
  readonly kind: string;
  readonly cwd: string;
  readonly since: number;
}

export class Daemon {
  readonly #options: DaemonOptions;
  readonly #record: DaemonRecord;
  readonly #server: Server;
  readonly #hosts: SharedHosts;
  readonly #seats = new Set<Seat>();
  readonly #clients = new Set<McpSession>();
  readonly #sockets = new Set<Socket>();
  readonly #checking = new Set<SharedHost>();
  #cancelIdle: () => void = () => {};
  #cancelWatch: () => void = () => {};
  #stays = false;
  #served = 0;
  #homeless = false;
  #closing: Promise<void> | undefined;
  #ended: () => void = () => {};
  /** Resolves when everything has ended. */
  readonly closed: Promise<void> = new Promise((resolve) => {
    this.#ended = resolve;
  });

  /** Listens, and leaves word where: from then on clients find it. */
  static async start(options: DaemonOptions): Promise<Daemon> {
    const { home, place, env, clock } = options;
    const socket = socketPath(home, place.id, env);
    const token = randomBytes(TOKEN_BYTES).toString('hex');
    const daemon = new Daemon(options, {
      pid: process.pid,
      version: readVersion(),
      build: place.build,
      socket,
      token,
      since: clock.now(),
    });
    await daemon.#listen();
    return daemon;
  }

  /** A person had asked the one before for it: it stays without sessions, and keeps its servers. */
  stay(): void {
    this.#stays = true;
    this.#settle();
  }

  private constructor(options: DaemonOptions, record: DaemonRecord) {
    this.#options = options;
    this.#record = record;
    const { home, clock, log } = options;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#connected(socket));
    this.#hosts = new SharedHosts({
      home,
      clock,
      log,
      keepMs: () => (this.#stays ? this.#idleMs() : 0),
      changed: (shared) => this.#checkSoon(shared),
    });
  }

  reload(): Promise<void> {
    return this.#hosts.reload();
  }

  /** Ends in good order: what runs may end, servers are ended, clients are told. May be called twice. */
  close(word: string = LEAVING): Promise<void> {
    this.#closing ??= this.#close(word);
    return this.#closing;
  }

  // Coming and going.

  async #listen(): Promise<void> {
    const { socket } = this.#record;
    // Whoever left it there is dead: we hold the lock under which daemons are started.
    if (process.platform !== 'win32') rmSync(socket, { force: true });
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(socket, resolve);
    });
    if (process.platform !== 'win32') chmodSync(socket, ONLY_OURS);
    await replaceFile(this.#options.place.record, `${JSON.stringify(this.#record)}\n`, { mode: ONLY_OURS });
    this.#options.log(`listens, version ${this.#record.version}`);
    this.#watch();
    this.#settle();
  }

  /** When the home goes away nobody can find us any more: we leave with our last session. */
  #watch(): void {
    this.#cancelWatch = this.#options.clock.after(WATCH_MS, () => {
      this.#homeless = readRecord(this.#options.place.record)?.token !== this.#record.token;
      if (this.#homeless) this.#settle();
      this.#watch();
    });
  }

  #idleMs(): number {
    const given = Number(this.#options.env['PLUGBOARD_DAEMON_IDLE_MS']);
    if (Number.isInteger(given) && given > 0) return given;
    return this.#stays ? IDLE_MS : LINGER_MS;
  }

  /** Counts down to the end while nobody is here. */
  #settle(): void {
    this.#cancelIdle();
    if (this.#seats.size > 0 || this.#closing !== undefined) return;
    const leave = (): void => {
      this.#options.log(this.#homeless ? 'leaves: its home is gone' : 'leaves: nobody needs it');
      void this.close();
    };
    if (this.#homeless) leave();
    else this.#cancelIdle = this.#options.clock.after(this.#idleMs(), leave);
  }

  async #close(word: string): Promise<void> {
    const { place } = this.#options;
    this.#cancelIdle();
    this.#cancelWatch();
    const stopped = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    // First of all: whoever looks for a daemon from here on finds none, and starts the next.
    if (readRecord(place.record)?.token === this.#record.token) rmSync(place.record, { force: true });
    await Promise.all([...this.#clients].map((client) => client.leave(word, CLOSE_GRACE_MS)));
    await this.#hosts.close();
    for (const socket of this.#sockets) socket.destroy();
    await stopped;
    this.#options.log('ended');
    this.#ended();
  }

  /**
   * A changed configuration may let servers see more of the environment: sessions that differ in that have to
   * part, and find the host that is theirs now.
   */
  #checkSoon(shared: SharedHost): void {
    if (this.#checking.has(shared)) return;
    this.#checking.add(shared);
    this.#options.clock.after(CHECK_MS, async () => {
      this.#checking.delete(shared);
      for (const client of [...this.#clients]) {
        if (client.shared === shared && !(await this.#hosts.isFor(shared, client.from))) void client.move();
      }
    });
  }

  // Who comes.

  #connected(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {}); // its `close` follows
    socket.once('close', () => this.#sockets.delete(socket));
    this.#receive(socket).catch((error: unknown) => {
      this.#options.log(`a session failed: ${asPlugboardError(error).message}`);
      socket.destroy();
    });
  }

  async #receive(socket: Socket): Promise<void> {
    const line = await firstLine(socket);
    if (line === undefined) return;
    const hello = this.#greeted(line);
    if (hello === undefined || this.#closing !== undefined) {
      socket.destroy();
      return;
    }
    if ('cwd' in hello) return this.#attend(socket, hello);
    const result = await this.#control(hello);
    if (hello.kind !== 'stop') {
      socket.end(sentence({ ok: true, result }));
      return;
    }
    const leaves = hello.when === 'now' || this.#seats.size === 0;
    socket.write(sentence({ ok: leaves, result }));
    // Its end tells that everything is gone.
    if (leaves) await this.close(STOPPED);
    socket.end();
  }

  /** Undefined for whoever cannot show the token, or speaks otherwise. */
  #greeted(line: string): Hello | undefined {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return undefined;
    }
    if (!isRecord(value) || value['plugboard'] !== PROTOCOL || !isRecord(value['hello'])) return undefined;
    const shown = Buffer.from(String(value['token']));
    const known = Buffer.from(this.#record.token);
    if (shown.length !== known.length || !timingSafeEqual(shown, known)) return undefined;
    // The socket is our user's, the token too, and the build the same: this is our own client.
    return value['hello'] as unknown as Hello;
  }

  async #control(hello: Exclude<Hello, Surroundings>): Promise<unknown> {
    switch (hello.kind) {
      case 'status':
        return this.#status();
      case 'reload':
        await this.reload();
        return this.#status();
      case 'stay':
        this.stay();
        return this.#status();
      case 'stop':
        return { sessions: this.#seats.size, relieved: this.#seats.size === 0, stays: this.#stays };
      default:
        return hello satisfies never;
    }
  }

  async #attend(socket: Socket, hello: Extract<Hello, Surroundings>): Promise<void> {
    const seat: Seat = { kind: hello.kind, cwd: hello.cwd, since: this.#options.clock.now() };
    this.#seats.add(seat);
    this.#settle();
    try {
      const from = hello.kind === 'server' ? await this.#hosts.around(hello) : hello;
      const shared = await this.#hosts.acquire(from, this.#wishOf(hello)).catch((error: unknown) => {
        this.#options.log(`${hello.cwd}: ${asPlugboardError(error).message}`);
        return undefined;
      });
      try {
        const served = shared && (await this.#attendIn(shared, socket, hello, from));
        if (served !== true) socket.end(sentence({ ok: false }));
      } finally {
        if (shared !== undefined) await this.#hosts.release(shared);
      }
      // The client's process ends with this: by then, what it alone had needed is gone.
      socket.end();
    } finally {
      this.#seats.delete(seat);
      this.#settle();
    }
  }

  #wishOf({ kind }: Extract<Hello, Surroundings>): Wish {
    switch (kind) {
      case 'mcp':
        return 'whole';
      case 'server':
        return 'named';
      case 'command':
        // Alone it is no reason to start servers here, unless somebody wanted a daemon that stays.
        return this.#stays ? 'whole' : 'existing';
      default:
        return kind satisfies never;
    }
  }

  /** False when that cannot be had here. Resolves when the client has gone. */
  async #attendIn(
    shared: SharedHost,
    socket: Socket,
    hello: Extract<Hello, Surroundings>,
    from: Surroundings,
  ): Promise<boolean> {
    const { clock, home } = this.#options;
    const welcome = (): boolean => socket.write(sentence({ ok: true }));
    switch (hello.kind) {
      case 'mcp':
        welcome();
        await this.#serve(socket, shared, from, shared.gateway(hello.approvals)).left;
        return true;
      case 'server': {
        const server = openHanded(shared.host, hello.wanted, clock);
        if (server === undefined) return false;
        welcome();
        const client = this.#serve(socket, shared, from, server);
        server.accompany(client);
        await client.left;
        return true;
      }
      case 'command':
        welcome();
        await runCommandSession(socket, hello, { home, shared });
        return true;
      default:
        return hello satisfies never;
    }
  }

  #serve(socket: Socket, shared: SharedHost, from: Surroundings, backend: Backend): McpSession {
    this.#served += 1;
    const { clock } = this.#options;
    const client = new McpSession({ socket, from, shared, backend, name: `attached-${this.#served}`, clock });
    this.#clients.add(client);
    void client.left.then(() => this.#clients.delete(client));
    return client;
  }

  async #status(): Promise<DaemonReport> {
    const { pid, version, since } = this.#record;
    const hosts = await this.#hosts.all();
    return {
      pid,
      version,
      since: new Date(since).toISOString(),
      stays: this.#stays,
      ...bytesOf([pid]),
      sessions: [...this.#seats].map((seat) => ({ ...seat, since: new Date(seat.since).toISOString() })),
      hosts: hosts.map(useOf),
    };
  }
}

function sentence(welcome: Welcome): string {
  return `${JSON.stringify(welcome)}\n`;
}
