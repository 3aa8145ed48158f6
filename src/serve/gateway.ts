/** The backend of a gateway, shared by all its clients: owns the host and the list of clients. */

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { basename, extname } from 'node:path';
import type { ContentBlock, ResourceContents } from '../catalog/accept-result.ts';
import { checkParams } from '../catalog/param-headers.ts';
import type { Tool } from '../catalog/tool.ts';
import type { Implementation } from '../connection/eras.ts';
import { type Backend, type ClientHandler, closeClients, type ListKind } from '../endpoint/backend.ts';
import type { ClientConnection } from '../endpoint/client-connection.ts';
import type { Params } from '../endpoint/client-era.ts';
import { SuspendedRequests } from '../endpoint/client-rounds.ts';
import type { RpcFailure } from '../endpoint/rpc-failure.ts';
import { asPlugboardError } from '../errors.ts';
import type { HostEvents } from '../host/host-options.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { LinkedList } from '../lib/linked-list.ts';
import { readVersion } from '../lib/version.ts';
import { Addresses } from './addresses.ts';
import type { QuestionQueue } from './client-questions.ts';
import { ClientListWait } from './first-list.ts';
import { GatewayClient } from './gateway-client.ts';
import { failureOf } from './gateway-failure.ts';
import type { OwnTool } from './gateway-own-tools.ts';
import { GatewayTasks } from './gateway-tasks.ts';
import { createRepairReport, type RepairReport } from './outgoing/sent-definitions.ts';
import { createToolLister, type ToolLister } from './outgoing/tool-list.ts';
import { createParamHeaders } from './requested-call.ts';
import type { ServedHost, ServedSession } from './served-host.ts';

/** Options that stdio and HTTP share. */
export interface GatewayOptions {
  /** `client` (default): the connected agent has asked its own user; `enforce`: all of `approval` applies here too. */
  readonly approvals?: 'client' | 'enforce' | undefined;
  /** Tools of the gateway itself. */
  readonly tools?: readonly OwnTool[] | undefined;
  readonly clock?: Clock | undefined;
  /** Receives questions whose client cannot ask its own user. */
  readonly approvalQueue?: QuestionQueue | undefined;
  /** @deprecated Use `approvalQueue`, its name since 0.2. */
  readonly desk?: QuestionQueue | undefined;
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
  readonly outputs: Outputs = new Outputs();
  readonly addresses: Addresses = new Addresses();
  /** Tasks that clients follow themselves. */
  readonly tasks: GatewayTasks;
  readonly listTools: ToolLister;
  /** Reports repairs that were made for clients. */
  readonly repaired: RepairReport;
  readonly own: ReadonlyMap<string, OwnTool>;
  readonly listWait: ClientListWait;
  readonly #paramHeaders: ReturnType<typeof createParamHeaders> = createParamHeaders();
  /** A session without a client, which sees every tool. */
  #everything: ServedSession | undefined;
  /** Clients with a session of their own, by its id. */
  readonly #lasting = new Map<string, GatewayClient>();
  /** Clients without one: each is a request in progress. */
  readonly #stateless = new LinkedList<GatewayClient>();
  readonly #changed = new Set<ListKind>();
  readonly #stopListening: readonly (() => void)[];
  #closing = false;

  constructor(host: ServedHost, options: GatewayOptions = {}) {
    this.host = host;
    this.approvals = options.approvals ?? 'client';
    const { tools = [] } = options;
    this.own = new Map(tools.map((tool) => [tool.definition.name, tool]));
    this.repaired = createRepairReport((server, message) => host.report(server, message));
    this.listTools = createToolLister(
      tools.map(({ definition }) => definition),
      this.repaired,
    );
    this.clock = options.clock ?? systemClock;
    this.approvalQueue = options.approvalQueue ?? options.desk;
    this.suspended = new SuspendedRequests(this.clock);
    this.tasks = new GatewayTasks(this.clock);
    this.listWait = new ClientListWait({ home: host.home, clock: this.clock, lists: host.firstLists });
    this.#stopListening = [
      host.on('tools', () => this.#listChanged('tools')),
      host.on('resources', () => this.#listChanged('resources')),
      host.on('prompts', () => this.#listChanged('prompts')),
      host.on('message', (event) => this.#logged(event)),
      host.on('elicitation.complete', ({ session, elicitationId }) =>
        this.#clientOf(session)?.clientConnection.pageDone(elicitationId),
      ),
    ];
  }

  get isClosing(): boolean {
    return this.#closing;
  }

  /** Resolves when `required` servers are connected, also those whose tools are known from the cache (CON-9). */
  ready(): Promise<void> | undefined {
    return this.host.hasRequired() ? this.host.requiredReady('all') : undefined;
  }

  handlerFor(clientConnection: ClientConnection): ClientHandler {
    return new GatewayClient(this, clientConnection);
  }

  failureOf(thrown: unknown): RpcFailure {
    return failureOf(asPlugboardError(thrown));
  }

  /** A session without a client, which sees every tool and extension. */
  get everything(): ServedSession {
    this.#everything ??= this.host.session();
    return this.#everything;
  }

  /** Returns the tools of all servers, deferred or not. */
  allTools(): readonly Tool[] {
    return this.everything.allTools();
  }

  checkCall(headers: IncomingHttpHeaders, { name, arguments: args }: Params): void {
    if (typeof name !== 'string') return;
    const declaring = this.#paramHeaders(this.allTools());
    if (declaring.size === 0) return;
    const declared = declaring.get(this.#everything?.find(name)?.name ?? name);
    if (declared !== undefined) checkParams(headers, declared, args);
  }

  /** Adds a client whose session was opened; returns the function that removes it. */
  enter(session: string, client: GatewayClient): () => void {
    if (client.clientConnection.isStateless) {
      const entry = this.#stateless.add(client);
      return () => this.#stateless.remove(entry);
    }
    this.#lasting.set(session, client);
    return () => void this.#lasting.delete(session);
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

  #listChanged(kind: ListKind): void {
    if (this.#changed.size === 0) {
      // A starting server emits several changes in one tick.
      setImmediate(() => {
        const kinds = [...this.#changed];
        this.#changed.clear();
        for (const client of this.#clients()) for (const each of kinds) client.listChanged(each);
      });
    }
    this.#changed.add(kind);
  }

  /**
   * Routes a server's log message to the client whose work it is about; dropped if that may be several. A message
   * before any work goes to the client if it is the only one.
   */
  #logged({ server, level, params, session }: HostEvents['message']): void {
    const client = session === undefined ? this.#onlyClient() : this.#clientOf(session);
    client?.log(server, level, params);
  }

  #onlyClient(): GatewayClient | undefined {
    const [only, ...others] = this.#clients();
    return others.length === 0 ? only : undefined;
  }
}

const PREFIX = 'plugboard://output/';
/** The oldest are dropped first; the host keeps their files for longer. */
const MAX_OFFERED = 1_000;

interface Offered {
  readonly file: string;
  readonly owner: string;
}

/** Exposes results that were too long for a model as resources: a remote client cannot read their files. */
class Outputs {
  readonly #offered = new Map<string, Offered>();

  /** Returns an unguessable link that works for the same owner only. */
  offer(file: string, owner: string): ContentBlock {
    const uri = `${PREFIX}${randomUUID()}`;
    this.#offered.set(uri, { file, owner });
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
    return uri.startsWith(PREFIX);
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
