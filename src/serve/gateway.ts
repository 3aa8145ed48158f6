/** The backend of a gateway, shared by all its clients: owns the host and the list of clients. */

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { basename, extname } from 'node:path';
import type { ClientPlace } from '../call/session.ts';
import type { ContentBlock, ResourceContents } from '../catalog/accept-result.ts';
import type { Implementation } from '../connection/eras.ts';
import { type Backend, type ClientHandler, closeClients, type ListKind } from '../endpoint/backend.ts';
import type { ClientConnection } from '../endpoint/client-connection.ts';
import type { Params } from '../endpoint/client-era.ts';
import { SuspendedRequests, stateWith } from '../endpoint/client-rounds.ts';
import { OUTPUT_PREFIX } from '../endpoint/http-mcp.ts';
import { OwnedTasks } from '../endpoint/owned-tasks.ts';
import type { HandleKind, ReplicaState, Replicas } from '../endpoint/replicas.ts';
import type { RpcFailure } from '../endpoint/rpc-failure.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { HostEvents } from '../host/host-options.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { defined } from '../lib/defined.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { LinkedList } from '../lib/linked-list.ts';
import { readVersion } from '../lib/version.ts';
import { type Principal, parsePrincipal } from './callers.ts';
import type { QuestionQueue } from './client-questions.ts';
import type { ConnectedClient, ConnectedClients } from './connected-clients.ts';
import { ClientListWait } from './first-list.ts';
import { GatewayClient } from './gateway-client.ts';
import { failureOf } from './gateway-failure.ts';
import type { Metric } from './gateway-metrics.ts';
import type { OwnTool } from './gateway-own-tools.ts';
import type { GatewayTask } from './gateway-task.ts';
import { GatewayView } from './gateway-view.ts';
import { createRepairReport, type RepairReport } from './outgoing/sent-definitions.ts';
import { ProfiledHost } from './profiled-host.ts';
import type { ServedHost } from './served-host.ts';

/** Options that stdio and HTTP share. */
export interface GatewayOptions {
  /** `client` (default): the connected agent has asked its own user; `enforce`: all of `approval` applies here too. */
  readonly approvals?: 'client' | 'enforce' | undefined;
  /** The only profile in `config.json` that is served; default: that of each client, or everything. */
  readonly profile?: string | undefined;
  /** Tools of the gateway itself; clients with a profile do not have them. */
  readonly tools?: readonly OwnTool[] | undefined;
  readonly clock?: Clock | undefined;
  /** Receives questions whose client cannot ask its own user. */
  readonly approvalQueue?: QuestionQueue | undefined;
  /** @internal Receives the clients that connect. */
  readonly connected?: ConnectedClients | undefined;
  /** @internal The folder that all its clients work in. */
  readonly folder?: string | undefined;
  /** @deprecated Use `approvalQueue`, its name since 0.2. */
  readonly desk?: QuestionQueue | undefined;
  /** @internal Other processes that serve the same clients. */
  readonly replicas?: Replicas | undefined;
}

export class Gateway implements Backend {
  readonly host: ServedHost;
  readonly identity: Implementation = { name: 'plugboard', version: readVersion() };
  /** Distinguishes principals of this gateway from those of another one on the same host. */
  readonly id: string = randomUUID();
  readonly approvals: 'client' | 'enforce';
  readonly clock: Clock;
  readonly approvalQueue: QuestionQueue | undefined;
  readonly suspended: SuspendedRequests;
  readonly outputs: Outputs = new Outputs((owner) => this.issueHandle('output', owner));
  /** Tasks that clients follow themselves. */
  readonly tasks: OwnedTasks<GatewayTask>;
  readonly listWait: ClientListWait;
  readonly #replicas: Replicas | undefined;
  readonly #connected: ConnectedClients | undefined;
  readonly #folder: string | undefined;
  readonly #own: readonly OwnTool[];
  /** Reports repairs that were made for clients. */
  readonly #repaired: RepairReport;
  /** Views by profile; undefined: everything. */
  readonly #views = new Map<string | undefined, GatewayView>();
  /** Clients with a session of their own, by its id. */
  readonly #lasting = new Map<string, GatewayClient>();
  /** Clients without one: each is a request in progress. */
  readonly #stateless = new LinkedList<GatewayClient>();
  /** Changed lists, and the views that they changed in, until the clients are notified. */
  readonly #changed = new Map<GatewayView, Set<ListKind>>();
  readonly #stopListening: (() => void)[];
  #lastPrincipal: { readonly text: string; readonly parsed: Principal } | undefined;
  #closing = false;

  constructor(host: ServedHost, options: GatewayOptions = {}) {
    this.host = host;
    this.approvals = options.approvals ?? 'client';
    this.#own = options.tools ?? [];
    this.#repaired = createRepairReport((server, message) => host.report(server, message));
    this.clock = options.clock ?? systemClock;
    this.approvalQueue = options.approvalQueue ?? options.desk;
    this.#connected = options.connected;
    this.#folder = options.folder;
    this.#replicas = options.replicas;
    this.suspended = new SuspendedRequests(
      this.clock,
      // Replicas find the process of a state; without them, another process can continue a program.
      (owner, continuation) => this.#replicas?.issue('state', owner) ?? stateWith(randomUUID(), continuation),
    );
    this.tasks = new OwnedTasks<GatewayTask>(this.clock);
    this.listWait = new ClientListWait({ home: host.home, clock: this.clock, lists: host.firstLists });
    this.#stopListening = [
      host.on('message', (event) => this.#logged(event)),
      host.on('elicitation.complete', ({ session, elicitationId }) =>
        this.#clientOf(session)?.clientConnection.pageDone(elicitationId),
      ),
      host.profiles.onChange((name) => this.#profileChanged(name)),
    ];
  }

  get isClosing(): boolean {
    return this.#closing;
  }

  /**
   * Resolves when `required` servers are connected, also those whose tools are known from the cache (CON-9). Rejects if
   * the client's profile cannot be used.
   */
  ready(principal: string): Promise<void> | undefined {
    const { profile } = this.principalOf({ principal });
    if (profile !== undefined && this.host.profiles.problemOf(profile) !== undefined)
      return Promise.reject(unusableProfile());
    const { host } = this.viewOf(profile);
    return host.hasRequired() ? host.requiredReady('all') : undefined;
  }

  /** Returns the parts of a client's principal; the last one is kept, because a request needs it several times. */
  principalOf({ principal }: Pick<ClientConnection, 'principal'>): Principal {
    if (this.#lastPrincipal?.text !== principal)
      this.#lastPrincipal = { text: principal, parsed: parsePrincipal(principal) };
    return this.#lastPrincipal.parsed;
  }

  handlerFor(clientConnection: ClientConnection): ClientHandler {
    const { profile } = this.principalOf(clientConnection);
    return new GatewayClient(this, this.viewOf(profile), clientConnection);
  }

  failureOf(thrown: unknown): RpcFailure {
    return failureOf(asPlugboardError(thrown));
  }

  /** Returns the part of the gateway that the clients of a profile have; undefined: everything. */
  viewOf(profile: string | undefined): GatewayView {
    const known = this.#views.get(profile);
    if (known !== undefined) return known;
    const { host } = this;
    const view = new GatewayView({
      host: profile === undefined ? host : new ProfiledHost(host, host.profiles.of(profile)),
      profile,
      own: profile === undefined ? this.#own : [],
      repaired: this.#repaired,
    });
    for (const kind of LISTS)
      this.#stopListening.push(view.host.on(kind, () => this.#listChanged(view, kind)));
    this.#views.set(profile, view);
    return view;
  }

  checkCall(headers: IncomingHttpHeaders, call: Params, principal: string): void {
    this.viewOf(this.principalOf({ principal }).profile).checkCall(headers, call);
  }

  #describe(session: string, client: GatewayClient): ConnectedClient {
    const { client: name, profile } = this.principalOf(client.clientConnection);
    return { session, ...defined({ client: name, profile, ...this.placeOf(client) }) };
  }

  /** Returns the program of a client, and the folder that it works in. */
  placeOf({ clientConnection }: GatewayClient): ClientPlace {
    return { agent: clientConnection.agent, folder: this.#folder };
  }

  /** Adds a client whose session was opened; returns the function that removes it. */
  enter(session: string, client: GatewayClient): () => void {
    if (client.clientConnection.isStateless) {
      const entry = this.#stateless.add(client);
      const { principal, agent } = client.clientConnection;
      const left = this.#connected?.visit(this.id, principal, agent, (id) => this.#describe(id, client));
      return () => {
        this.#stateless.remove(entry);
        left?.();
      };
    }
    this.#lasting.set(session, client);
    const disconnected = this.#connected?.add(session, () => this.#describe(session, client));
    return () => {
      this.#lasting.delete(session);
      disconnected?.();
    };
  }

  dismissed(principal: string): void {
    this.#connected?.forget(principal);
  }

  /** True if other processes serve the same clients. */
  get hasReplicas(): boolean {
    return this.#replicas !== undefined;
  }

  /** Returns an unguessable id for work or data of a client, which this process holds. */
  issueHandle(kind: HandleKind, owner: string): string {
    return this.#replicas?.issue(kind, owner) ?? randomUUID();
  }

  metrics(): readonly Metric[] {
    return [
      {
        name: 'plugboard_sessions',
        help: 'Clients with a session in this process.',
        type: 'gauge',
        samples: [{ value: this.#lasting.size }],
      },
      ...(this.#replicas === undefined ? [] : replicaMetrics(this.#replicas.state)),
    ];
  }

  #clients(): readonly GatewayClient[] {
    return [...this.#lasting.values(), ...this.#stateless.items()];
  }

  #clientOf(session: string): GatewayClient | undefined {
    return (
      this.#lasting.get(session) ?? this.#stateless.items().find(({ sessionId }) => sessionId === session)
    );
  }

  /** Lets running work finish within a time limit, then cancels it, and releases the host. */
  async close(): Promise<void> {
    this.#closing = true;
    const clientConnections = this.#clients().map(({ clientConnection }) => clientConnection);
    await closeClients(clientConnections, this.suspended, this.clock, 'The gateway is closing');
    this.tasks.close();
    for (const stop of this.#stopListening) stop();
    await this.listWait.flush();
  }

  #listChanged(view: GatewayView, kind: ListKind): void {
    if (this.#changed.size === 0) {
      // A starting server emits several changes in one tick.
      setImmediate(() => {
        const changed = new Map(this.#changed);
        this.#changed.clear();
        for (const client of this.#clients())
          for (const each of changed.get(client.view) ?? []) client.listChanged(each);
      });
    }
    getOrMake(this.#changed, view, () => new Set<ListKind>()).add(kind);
  }

  #profileChanged(name: string): void {
    const view = this.#views.get(name);
    if (view === undefined) return;
    for (const kind of LISTS) this.#listChanged(view, kind);
  }

  /**
   * Routes a server's log message to the client whose work it is about; dropped if that may be several. A message
   * before any work goes to the client if it is the only one, and has the whole server. Our own messages can name other
   * servers and rules, so a client with a profile does not get them.
   */
  #logged({ server, level, params, session, isOwn }: HostEvents['message']): void {
    const only = session === undefined ? this.#onlyClient() : undefined;
    const alone = only?.view.hears(server) === true ? only : undefined;
    const client = session === undefined ? alone : this.#clientOf(session);
    if (isOwn === true && client?.view.profile !== undefined) return;
    client?.log(server, level, params);
  }

  #onlyClient(): GatewayClient | undefined {
    const [only, ...others] = this.#clients();
    return others.length === 0 ? only : undefined;
  }
}

function replicaMetrics({
  replicas,
  isRedisUp,
  forwarded,
  taken,
  differing,
}: ReplicaState): readonly Metric[] {
  const one = (name: string, help: string, type: Metric['type'], value: number): Metric => ({
    name: `plugboard_cluster_${name}`,
    help,
    type,
    samples: [{ value }],
  });
  return [
    one('replicas', 'Replicas of the cluster, with this one.', 'gauge', replicas),
    one('redis_up', 'Whether Redis answers.', 'gauge', isRedisUp ? 1 : 0),
    one('replicas_differing', 'Other replicas with other configuration files.', 'gauge', differing),
    one('forwarded_total', 'Requests that were sent to other replicas.', 'counter', forwarded),
    one('sessions_taken_total', 'Sessions that were continued for other replicas.', 'counter', taken),
  ];
}

const LISTS: readonly ListKind[] = ['tools', 'resources', 'prompts'];

/** The reason is for the person who configured it. */
function unusableProfile(): PlugboardError {
  return new PlugboardError('CONFIG_INVALID', 'The profile of this client cannot be used', {
    hint: 'Run plugboard profile list to see the reason.',
  });
}

/** The oldest are dropped first; the host keeps their files for longer. */
const MAX_OFFERED = 1_000;

interface Offered {
  readonly file: string;
  readonly owner: string;
}

/** Exposes results that were too long for a model as resources: a remote client cannot read their files. */
export class Outputs {
  readonly #offered = new Map<string, Offered>();
  readonly #issue: (owner: string) => string;

  /** `issue`: creates an unguessable id for an owner. */
  constructor(issue: (owner: string) => string = () => randomUUID()) {
    this.#issue = issue;
  }

  /** Returns an unguessable link that works for the same owner only: the address of the result, if it is stored. */
  offer({ file, ref }: { readonly file: string; readonly ref?: string }, owner: string): ContentBlock {
    const uri = ref ?? `${OUTPUT_PREFIX}${this.#issue(owner)}`;
    if (ref === undefined) this.#offered.set(uri, { file, owner });
    const [oldest] = this.#offered.keys();
    if (this.#offered.size > MAX_OFFERED && oldest !== undefined) this.#offered.delete(oldest);
    return {
      type: 'resource_link',
      uri,
      name: basename(file),
      description: 'The whole result: read this resource.',
      mimeType: mimeTypeOf(file),
    };
  }

  isOne(uri: string): boolean {
    return uri.startsWith(OUTPUT_PREFIX);
  }

  /** Returns undefined if there is no such output, or it belongs to another owner. */
  async read(uri: string, owner: string): Promise<ResourceContents | undefined> {
    const offered = this.#offered.get(uri);
    if (offered?.owner !== owner) return undefined;
    const text = await readFile(offered.file, 'utf8').catch(() => undefined);
    return text === undefined ? undefined : { uri, mimeType: mimeTypeOf(offered.file), text };
  }
}

function mimeTypeOf(file: string): string {
  return extname(file) === '.json' ? 'application/json' : 'text/plain';
}
