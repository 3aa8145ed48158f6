/** The daemon: the one process of a home that owns its servers, sessions, questions and page (CON-11, SRV-11). */

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { Home } from '../../config/home.ts';
import { DEFAULT_DAEMON_IDLE_MS, STARTED_DAEMON_IDLE_MS } from '../../config/limits.ts';
import type { Backend } from '../../endpoint/backend.ts';
import { asPlugboardError } from '../../errors.ts';
import type { Clock } from '../../lib/clock.ts';
import { isRecord, parseRecord } from '../../lib/json.ts';
import { replaceFile } from '../../lib/locked-file.ts';
import { Traffic } from '../../manage/traffic.ts';
import { localPrincipal } from '../../serve/callers.ts';
import { firstLine } from '../client/attach.ts';
import {
  type AttachRequest,
  type AttachResponse,
  type ControlRequest,
  type DaemonReport,
  type HttpListen,
  isBackground,
  LEAVING,
  PROTOCOL,
  type SessionContext,
  type SessionRequest,
  STOPPED,
} from '../protocol/daemon-messages.ts';
import {
  type Build,
  buildOf,
  type DaemonRecord,
  newSocketPath,
  type Place,
  readRecord,
  removeStaleSockets,
} from '../protocol/daemon-place.ts';
import { encodeError } from '../protocol/error-codec.ts';
import { runCommandSession } from './command-session.ts';
import { type Acquired, type Scope, type SharedHost, SharedHosts } from './hosts.ts';
import { HttpSession } from './http-session.ts';
import { McpSession } from './mcp-session.ts';
import { openPassThrough } from './pass-through.ts';
import { bytesOf, useOf } from './status.ts';

/** How often it checks its record and its program on disk. */
const WATCH_MS = 1_000;
/** A new program on disk must be unchanged for this many checks: an installation writes many files. */
const UPGRADE_CHECKS = 3;
/** Debounces changes of servers, which often come several at once. */
const CHECK_MS = 200;
/** How long running calls may continue after a request to stop. */
const CLOSE_GRACE_MS = 5_000;
const TOKEN_BYTES = 32;
const SOCKET_ID_BYTES = 4;
const OWNER_ONLY = 0o600;

export interface DaemonOptions {
  readonly home: Home;
  readonly place: Place;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly log: (message: string) => void;
  /** Starts the successor after an upgrade, if this daemon was set to keep running. */
  readonly startSuccessor?: (() => Promise<void>) | undefined;
}

interface Session {
  readonly kind: SessionRequest['kind'];
  readonly cwd: string;
  readonly since: number;
}

interface McpClient {
  readonly session: McpSession;
  readonly from: SessionContext;
  readonly shared: SharedHost;
}

export class Daemon {
  readonly #options: DaemonOptions;
  readonly #record: DaemonRecord & { readonly build: Build };
  readonly #server: Server;
  readonly #traffic: Traffic;
  readonly #hosts: SharedHosts;
  readonly #sessions = new Set<Session>();
  readonly #clients = new Set<McpClient>();
  readonly #listeners = new Map<HttpSession, SharedHost>();
  readonly #sockets = new Set<Socket>();
  /** Sockets of clients that asked to stop, and wait for the end of this process. */
  readonly #stopping = new Set<Socket>();
  readonly #checking = new Set<SharedHost>();
  #cancelIdle: () => void = () => {};
  #cancelWatch: () => void = () => {};
  #wasUsed = false;
  #configuredIdleMs: number | undefined;
  #stays = false;
  #forever = false;
  #served = 0;
  /** The record is gone or belongs to another daemon: new clients cannot find this one. */
  #isLost = false;
  #seenBuild: { readonly id: string; checks: number } | undefined;
  #handingOver = false;
  #closing: Promise<void> | undefined;
  #ended: () => void = () => {};
  /** Resolves when everything is closed. */
  readonly closed: Promise<void> = new Promise((resolve) => {
    this.#ended = resolve;
  });

  /** Listens and writes the record by which clients find it. */
  static async start(options: DaemonOptions): Promise<Daemon> {
    const { home, place, env, clock } = options;
    const daemon = new Daemon(options, {
      pid: process.pid,
      protocol: PROTOCOL,
      build: place.build,
      socket: newSocketPath(home, env, randomBytes(SOCKET_ID_BYTES).toString('hex')),
      token: randomBytes(TOKEN_BYTES).toString('hex'),
      since: clock.now(),
    });
    await daemon.#listen();
    return daemon;
  }

  /** Keeps running without sessions for longer, or until it is stopped, and keeps its servers for a while. */
  stay({ forever = false }: { readonly forever?: boolean } = {}): void {
    this.#stays = true;
    this.#forever ||= forever;
    this.#settle();
  }

  private constructor(options: DaemonOptions, record: DaemonRecord & { readonly build: Build }) {
    this.#options = options;
    this.#record = record;
    const { home, clock, log } = options;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#connected(socket));
    this.#traffic = new Traffic({ clock, home, failed: log });
    this.#hosts = new SharedHosts({
      home,
      clock,
      log,
      traffic: this.#traffic,
      keepMs: () => (this.#stays ? this.#idleMs() : 0),
      configured: ({ daemonIdleMs }) => {
        this.#configuredIdleMs = daemonIdleMs;
      },
      changed: (shared) => this.#checkSoon(shared),
    });
  }

  reload(): Promise<void> {
    return this.#hosts.reload();
  }

  /** Shuts down: running calls may finish, servers are stopped, clients get `word`. May be called twice. */
  close(word: string = LEAVING): Promise<void> {
    this.#closing ??= this.#close(word);
    return this.#closing;
  }

  // Lifetime.

  async #listen(): Promise<void> {
    const { socket } = this.#record;
    // We hold the lock under which daemons are started: no other accepts connections now.
    removeStaleSockets(socket);
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(socket, resolve);
    });
    if (process.platform !== 'win32') chmodSync(socket, OWNER_ONLY);
    await replaceFile(this.#options.place.record, `${JSON.stringify(this.#record)}\n`, { mode: OWNER_ONLY });
    this.#options.log(`listening, version ${this.#record.build.version}`);
    this.#watch();
    this.#settle();
  }

  #watch(): void {
    this.#cancelWatch = this.#options.clock.after(WATCH_MS, () => {
      this.#isLost = readRecord(this.#options.place.record)?.token !== this.#record.token;
      if (this.#isLost) this.#settle();
      if (this.#isUpgraded()) void this.#handOver('a new version was installed');
      this.#watch();
    });
  }

  /** True if the program on disk differs from ours, and is complete. */
  #isUpgraded(): boolean {
    if (this.#handingOver || this.#closing !== undefined) return false;
    let found: Build;
    try {
      found = buildOf(this.#options.place.entry);
    } catch {
      this.#seenBuild = undefined; // Being replaced or removed: we continue with the loaded code.
      return false;
    }
    if (found.id === this.#record.build.id) return false;
    if (this.#seenBuild?.id !== found.id) this.#seenBuild = { id: found.id, checks: 0 };
    this.#seenBuild.checks += 1;
    return this.#seenBuild.checks >= UPGRADE_CHECKS;
  }

  #idleMs(): number {
    const given = Number(this.#options.env['PLUGBOARD_DAEMON_IDLE_MS']);
    // On a busy machine the client that started us may need longer than a short idle time to connect.
    if (this.#wasUsed && Number.isInteger(given) && given > 0) return given;
    return this.#configuredIdleMs ?? (this.#stays ? STARTED_DAEMON_IDLE_MS : DEFAULT_DAEMON_IDLE_MS);
  }

  /** Starts the countdown to the exit while there are no sessions. */
  #settle(): void {
    this.#cancelIdle();
    if (this.#sessions.size > 0 || this.#closing !== undefined) return;
    const end = (why: string): void => {
      this.#options.log(`ends: ${why}`);
      void this.close();
    };
    const endIfUnused = (): void => {
      // An open page counts as a client, and so does a call in the background.
      if (this.#traffic.approvalQueue.isAttended || this.#hosts.isBusy) this.#settle();
      else end('no sessions');
    };
    const mustEnd = this.#handingOver || this.#isLost;
    if (mustEnd && this.#hosts.isBusy)
      this.#cancelIdle = this.#options.clock.after(WATCH_MS, () => this.#settle());
    else if (this.#handingOver) end('its successor runs');
    else if (this.#isLost) end('its record is gone');
    else if (!this.#forever) this.#cancelIdle = this.#options.clock.after(this.#idleMs(), endIfUnused);
  }

  /**
   * Hands over to a newer build: accepts no more clients, and ends each session at a moment when all its requests are
   * answered. Relays then attach to the successor, which the first of them starts.
   */
  async #handOver(why: string): Promise<void> {
    if (this.#handingOver || this.#closing !== undefined) return;
    this.#handingOver = true;
    this.#options.log(`hands over: ${why}`);
    this.#withdraw();
    // The successor of a service is started by its service manager.
    if (this.#stays && !this.#forever)
      await this.#options.startSuccessor?.().catch((error: unknown) => this.#options.log(String(error)));
    for (const { session } of [...this.#clients]) void session.move();
    for (const listener of [...this.#listeners.keys()]) void listener.close(LEAVING);
    this.#settle();
  }

  /** Removes the record: from here on clients find no daemon here, and start the next. */
  #withdraw(): void {
    const { place } = this.#options;
    this.#server.close();
    if (readRecord(place.record)?.token === this.#record.token) rmSync(place.record, { force: true });
  }

  async #close(word: string): Promise<void> {
    this.#cancelIdle();
    this.#cancelWatch();
    this.#withdraw();
    await Promise.all([
      ...[...this.#clients].map(({ session }) => session.leave(word, CLOSE_GRACE_MS)),
      ...[...this.#listeners.keys()].map((listener) => listener.close(word)),
    ]);
    await this.#hosts.close();
    await this.#traffic.close();
    for (const socket of this.#sockets) if (!this.#stopping.has(socket)) socket.destroy();
    this.#options.log('ended');
    this.#ended();
  }

  /**
   * Rechecks sessions after a change: a changed configuration can expose more variables to servers, and sessions that
   * differ in them get another host.
   */
  #checkSoon(shared: SharedHost): void {
    if (this.#checking.has(shared)) return;
    this.#checking.add(shared);
    this.#options.clock.after(CHECK_MS, async () => {
      this.#checking.delete(shared);
      for (const client of [...this.#clients]) {
        if (client.shared !== shared) continue;
        if (!(await this.#hosts.isFor(shared, client.from))) void client.session.move();
      }
    });
  }

  // Clients.

  #connected(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {}); // Followed by `close`.
    socket.once('close', () => this.#sockets.delete(socket));
    this.#receive(socket).catch((error: unknown) => {
      this.#options.log(`a session failed: ${asPlugboardError(error).message}`);
      socket.destroy();
    });
  }

  async #receive(socket: Socket): Promise<void> {
    const line = await firstLine(socket);
    if (line === undefined) return;
    const request = this.#checked(line);
    if (request === undefined || this.#closing !== undefined) {
      socket.destroy();
      return;
    }
    this.#wasUsed = true;
    if ('cwd' in request) return this.#openSession(socket, request);
    const result = await this.#control(request);
    if (request.kind !== 'stop') {
      socket.end(lineOf({ ok: true, result }));
      return;
    }
    const ends = request.when === 'now' || (this.#sessions.size === 0 && !this.#hosts.isBusy);
    socket.write(lineOf({ ok: ends, result }));
    if (ends) {
      this.#stopping.add(socket);
      await this.close(STOPPED);
    }
    // Its close signals the client that everything has ended: the process exits first, which closes it.
    setImmediate(() => socket.end());
  }

  /** Returns undefined without the token, or for a session of another protocol version. */
  #checked(line: string): AttachRequest | undefined {
    const value = parseRecord(line);
    if (!isRecord(value?.['hello'])) return undefined;
    const sent = Buffer.from(String(value['token']));
    const known = Buffer.from(this.#record.token);
    if (sent.length !== known.length || !timingSafeEqual(sent, known)) return undefined;
    // The socket and the token belong to this user: it is our own client, of this version or for control only.
    const request = value['hello'] as unknown as AttachRequest;
    return 'cwd' in request && value['plugboard'] !== PROTOCOL ? undefined : request;
  }

  async #control(request: ControlRequest): Promise<unknown> {
    switch (request.kind) {
      case 'status':
        return this.#status();
      case 'reload':
        await this.reload();
        return this.#status();
      case 'stay':
        this.stay();
        return this.#status();
      case 'stop':
        return { sessions: this.#sessions.size, stays: this.#stays };
      case 'handover': {
        // The client that asks starts the successor itself.
        const stays = this.#stays;
        this.#stays = false;
        await this.#handOver('a newer version asked for it');
        return { stays };
      }
      default:
        return request satisfies never;
    }
  }

  async #openSession(socket: Socket, request: SessionRequest): Promise<void> {
    const session: Session = { kind: request.kind, cwd: request.cwd, since: this.#options.clock.now() };
    this.#sessions.add(session);
    this.#settle();
    try {
      const from = request.kind === 'server' ? await this.#hosts.around(request) : request;
      const acquired = await this.#hosts.acquire(from, this.#scopeOf(request)).catch((error: unknown) => {
        this.#options.log(`${request.cwd}: ${asPlugboardError(error).message}`);
        return undefined;
      });
      try {
        const served = acquired && (await this.#openSessionIn(acquired, socket, request, from));
        if (served !== true) socket.end(lineOf({ ok: false }));
      } finally {
        if (acquired !== undefined) await this.#hosts.release(acquired.shared);
      }
      // The client's process ends with this: everything that only it needed has ended before.
      socket.end();
    } finally {
      this.#sessions.delete(session);
      this.#settle();
    }
  }

  #scopeOf(request: SessionRequest): Scope {
    const { kind } = request;
    switch (kind) {
      case 'mcp':
      case 'http':
        return 'all';
      case 'server':
        return 'named';
      case 'command':
        // One command is not a reason to start all servers here, unless the daemon is set to keep running.
        if (this.#stays) return 'all';
        return isBackground(request.words) ? 'named' : 'existing';
      default:
        return kind satisfies never;
    }
  }

  /** Resolves when the client has disconnected; false if the client has to do it itself. */
  async #openSessionIn(
    acquired: Acquired,
    socket: Socket,
    request: SessionRequest,
    from: SessionContext,
  ): Promise<boolean> {
    const { clock, home } = this.#options;
    const { shared, host } = acquired;
    const response = (): boolean => socket.write(lineOf({ ok: true }));
    switch (request.kind) {
      case 'mcp':
        response();
        await this.#serve(socket, shared, from, shared.gateway(host, request.approvals), (owner) =>
          localPrincipal(host.profiles, owner, request.profile),
        ).left;
        return true;
      case 'server': {
        const server = openPassThrough(host, request.wanted, clock);
        if (server === undefined) return false;
        response();
        const client = this.#serve(socket, shared, from, server);
        server.accompany(client);
        await client.left;
        return true;
      }
      case 'command':
        response();
        await runCommandSession(socket, request, { home, ...acquired });
        return true;
      case 'http':
        await this.#listenFor(socket, acquired, request.listen);
        return true;
      default:
        return request satisfies never;
    }
  }

  /** `principalOf`: the principal of the client on a connection of this name. */
  #serve(
    socket: Socket,
    shared: SharedHost,
    from: SessionContext,
    backend: Backend,
    principalOf: (owner: string) => string = (owner) => owner,
  ): McpSession {
    this.#served += 1;
    const { clock } = this.#options;
    const name = principalOf(`attached-${this.#served}`);
    const session = new McpSession({ socket, backend, name, clock });
    const client: McpClient = { session, from, shared };
    this.#clients.add(client);
    void session.left.then(() => this.#clients.delete(client));
    return session;
  }

  async #listenFor(socket: Socket, { shared, host }: Acquired, listen: HttpListen): Promise<void> {
    let session = [...this.#listeners].find(([each, its]) => its === shared && each.isFor(listen))?.[0];
    try {
      session ??= await this.#openHttp(shared, host, listen);
    } catch (error) {
      socket.write(lineOf({ ok: false, error: encodeError(asPlugboardError(error)) }));
      return;
    }
    socket.write(lineOf({ ok: true, result: session.listening }));
    await session.run(socket);
    // A session that stays has other clients, or will have.
    if (!session.stays) await session.close(LEAVING);
  }

  async #openHttp(shared: SharedHost, host: Acquired['host'], listen: HttpListen): Promise<HttpSession> {
    const { home, clock } = this.#options;
    const session = await HttpSession.open(host, listen, { home, clock, traffic: this.#traffic });
    const release = shared.hold();
    this.#listeners.set(session, shared);
    void session.closed.then(() => {
      this.#listeners.delete(session);
      release();
    });
    return session;
  }

  async #status(): Promise<DaemonReport> {
    const { pid, build, since } = this.#record;
    return {
      pid,
      version: build.version,
      since: new Date(since).toISOString(),
      stays: this.#stays,
      ...(this.#forever ? {} : { idleMs: this.#idleMs() }),
      isService: this.#forever,
      ...bytesOf([pid]),
      sessions: [...this.#sessions].map((session) => ({
        ...session,
        since: new Date(session.since).toISOString(),
      })),
      pages: [...this.#listeners.keys()].map(({ listening }) => listening),
      hosts: this.#hosts.all().map((each, _, all) => {
        const first = all.find(({ shared }) => shared.cwd === each.shared.cwd);
        return useOf(each, this.#hosts.sharing, first?.shared);
      }),
    };
  }
}

function lineOf(response: AttachResponse): string {
  return `${JSON.stringify(response)}\n`;
}
