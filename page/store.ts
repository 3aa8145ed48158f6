/** State of the page: loaded once, then kept current by one event stream. Events are applied at most once per frame. */

import { batch, computed, type ReadonlySignal, signal } from '@preact/signals';
import { type Api, queryOf } from './api.ts';
import type {
  Budget,
  CallReport,
  ClientReport,
  ConnectedClient,
  LoginEvent,
  Problem,
  Progress,
  Question,
  ServerReport,
  ServerStats,
  ToolReport,
} from './api-types.ts';
import { CallLog } from './call-log.ts';
import { EventStream } from './event-stream.ts';

/** Delay before statistics are reloaded after an event. */
const STATS_DELAY_MS = 2_000;
const CATALOG_DELAY_MS = 150;
/** Events of a page in the background, where frames are not drawn, are applied at this interval. */
const HIDDEN_FLUSH_MS = 250;

/** An event that is announced at once. */
export type Announcement =
  | { readonly kind: 'server'; readonly report: ServerReport }
  | { readonly kind: 'login'; readonly login: LoginEvent }
  | { readonly kind: 'question'; readonly question: Question };

export type Link = 'connecting' | 'live' | 'lost';

interface ClientsAnswer {
  readonly clients: readonly ClientReport[];
  readonly connected: readonly ConnectedClient[];
  readonly budgets: readonly Budget[];
}

interface CallsAnswer {
  readonly calls: readonly CallReport[];
  readonly next?: string;
}

type StreamEvent = readonly [name: string, data: unknown];

export class Store {
  readonly servers = signal<readonly ServerReport[]>([]);
  readonly problems = signal<readonly Problem[]>([]);
  readonly tools = signal<readonly ToolReport[]>([]);
  readonly stats = signal<ReadonlyMap<string, ServerStats>>(new Map());
  readonly definitionTokens = signal({ all: 0, given: 0 });
  readonly questions = signal<readonly Question[]>([]);
  readonly clients = signal<readonly ClientReport[]>([]);
  /** Open sessions of clients, with or without a name. */
  readonly connectedClients = signal<readonly ConnectedClient[]>([]);
  /** Budgets of all clients together. */
  readonly sharedBudgets = signal<readonly Budget[]>([]);
  readonly clientsLoaded = signal(false);
  /** Server name → pending login. */
  readonly logins = signal<ReadonlyMap<string, LoginEvent>>(new Map());
  readonly link = signal<Link>('connecting');
  readonly loaded = signal(false);
  /** Increased when all servers were loaded, because their entries may have changed with them. */
  readonly serversVersion = signal(0);
  readonly toolsLoaded = signal(false);
  /** Changes when rules, profiles, tokens or inputs changed, so that their views reload. */
  readonly configVersion = signal(0);
  /** Changes when the history was cleared or switched. */
  readonly historyVersion = signal(0);
  readonly calls = new CallLog();
  /** Ids of calls that wait for an answer of the person. */
  readonly waitingCalls: ReadonlySignal<ReadonlySet<string>> = computed(
    () => new Set(this.questions.value.flatMap(({ call }) => (call === undefined ? [] : [call]))),
  );
  readonly isLost: ReadonlySignal<boolean> = computed(() => this.link.value === 'lost');

  readonly #api: Api;
  readonly #stream: EventStream;
  readonly #announce: (announcement: Announcement) => void;
  readonly #scheduled = new Set<() => Promise<void>>();
  /** Where the calls before the oldest one begin; undefined if there are none, or while they are loaded. */
  #olderCalls: string | undefined;
  #queue: StreamEvent[] = [];
  #isFlushing = false;
  /** Events received while a list is fetched; they are applied again after it, because the list may be older. */
  readonly #duringFetch = new Set<StreamEvent[]>();

  constructor(api: Api, handlers: { announce(announcement: Announcement): void; refused(): void }) {
    this.#api = api;
    this.#announce = handlers.announce;
    this.#stream = new EventStream(api, {
      refused: () => handlers.refused(),
      event: (name, data) => this.#enqueue([name, data]),
      missed: () => this.#reloadQuietly(),
      connected: (isConnected) => this.#setConnected(isConnected),
    });
  }

  /** Follows the event stream until the token is refused. */
  follow(): void {
    void this.#stream.follow();
    // A machine that slept, or lost its network, has an outdated page.
    addEventListener('online', () => {
      this.#stream.retryNow();
      this.#reloadQuietly();
    });
  }

  retryNow(): void {
    this.#stream.retryNow();
  }

  /** Loads everything, small and visible data first. */
  async load(): Promise<void> {
    await Promise.all([this.loadServers(), this.loadQuestions(), this.loadStats()]);
    await this.loadTools();
    await this.#loadCalls();
    await this.loadClients();
  }

  async loadServers(): Promise<void> {
    await this.#fetch<{ servers: readonly ServerReport[]; problems: readonly Problem[] }>(
      '/api/servers',
      ({ servers, problems }) => {
        const before = this.servers.value;
        this.servers.value = servers;
        // A list may be newer than the events that are still queued.
        for (const report of servers)
          this.#announceChange(
            before.find(({ name }) => name === report.name),
            report,
          );
        this.problems.value = problems;
        this.loaded.value = true;
        this.serversVersion.value += 1;
      },
    );
  }

  async loadTools(): Promise<void> {
    const { tools } = await this.#api.get<{ tools: readonly ToolReport[] }>('/api/tools');
    this.tools.value = tools;
    this.toolsLoaded.value = true;
  }

  async loadQuestions(): Promise<void> {
    const before = new Set(this.questions.value.map(({ id }) => id));
    const { approvals } = await this.#api.get<{ approvals: readonly Question[] }>('/api/approvals');
    this.questions.value = approvals;
    const question = approvals.find(({ id }) => !before.has(id));
    // One announcement for all new questions; the navigation shows their number.
    if (question !== undefined) this.#announce({ kind: 'question', question });
  }

  async loadStats(): Promise<void> {
    const { servers, definitionTokens } = await this.#api.get<{
      servers: readonly ServerStats[];
      definitionTokens: { all: number; given: number };
    }>('/api/stats');
    batch(() => {
      this.stats.value = new Map(servers.map((each) => [each.name, each]));
      this.definitionTokens.value = definitionTokens;
    });
  }

  async loadClients(): Promise<void> {
    const { clients, connected, budgets } = await this.#api.get<ClientsAnswer>('/api/clients');
    batch(() => {
      this.clients.value = clients;
      this.connectedClients.value = connected;
      this.sharedBudgets.value = budgets;
      this.clientsLoaded.value = true;
    });
  }

  /** Reloads the data that an action on a server can change. */
  async reloadAfterAction(): Promise<void> {
    await Promise.all([this.loadServers(), this.loadStats(), this.loadTools()]);
  }

  setLogin(login: LoginEvent): void {
    const logins = new Map(this.logins.value);
    if (login.state === 'waiting') logins.set(login.server, login);
    else logins.delete(login.server);
    this.logins.value = logins;
  }

  async #loadCalls(): Promise<void> {
    await this.#fetch<CallsAnswer>(`/api/calls?limit=${this.calls.pageSize}`, ({ calls, next }) => {
      this.calls.replaceAll(calls);
      this.#olderCalls = next;
    });
  }

  /** Loads the page of calls before the oldest one, if there is one. */
  async loadOlderCalls(): Promise<void> {
    const before = this.#olderCalls;
    if (before === undefined || this.calls.isFull) return;
    this.#olderCalls = undefined;
    const path = `/api/calls${queryOf({ limit: this.calls.pageSize, before })}`;
    const { calls, next } = await this.#api.get<CallsAnswer>(path);
    this.calls.addOlder(calls);
    this.#olderCalls = next;
  }

  async #fetch<Answer>(path: string, apply: (answer: Answer) => void): Promise<void> {
    const received: StreamEvent[] = [];
    this.#duringFetch.add(received);
    try {
      const answer = await this.#api.get<Answer>(path);
      batch(() => {
        apply(answer);
        for (const event of received) this.#apply(event);
      });
    } finally {
      this.#duringFetch.delete(received);
    }
  }

  #reloadQuietly(): void {
    void this.load().catch(() => {});
  }

  #setConnected(isConnected: boolean): void {
    const wasLive = this.link.value === 'live';
    if (isConnected) this.link.value = 'live';
    else if (this.link.value === 'live') this.link.value = 'lost';
    // Events only report changes, so the current state is fetched.
    if (isConnected && !wasLive) this.#reloadQuietly();
  }

  #enqueue(event: StreamEvent): void {
    for (const received of this.#duringFetch) received.push(event);
    this.#queue.push(event);
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    if (document.hidden) setTimeout(() => this.#flush(), HIDDEN_FLUSH_MS);
    else requestAnimationFrame(() => this.#flush());
  }

  #flush(): void {
    this.#isFlushing = false;
    const events = this.#queue;
    this.#queue = [];
    batch(() => {
      for (const event of events) this.#apply(event);
    });
  }

  #apply([name, data]: StreamEvent): void {
    switch (name) {
      case 'server':
        this.#applyServer(data as ServerReport);
        break;
      case 'tools':
        this.#scheduleOnce(this.#loadToolsAndServers, CATALOG_DELAY_MS);
        this.#scheduleOnce(this.#reloadStats, STATS_DELAY_MS);
        break;
      case 'question':
      case 'answer':
        void this.loadQuestions().catch(() => {});
        break;
      case 'login':
        this.#applyLogin(data as LoginEvent);
        break;
      case 'call.begin':
        this.calls.begin(data as CallReport);
        break;
      case 'call.progress':
        this.calls.progress(data as Progress & { readonly id: string });
        break;
      case 'call.end':
        this.calls.end(data as CallReport);
        this.#scheduleOnce(this.#reloadStats, STATS_DELAY_MS);
        break;
      case 'client':
        this.#scheduleOnce(this.#reloadClients, CATALOG_DELAY_MS);
        break;
      case 'config':
        this.configVersion.value += 1;
        break;
      case 'history':
        this.historyVersion.value += 1;
        void this.#loadCalls().catch(() => {});
        break;
      default:
        // Events that the page does not show.
        break;
    }
  }

  #applyServer(report: ServerReport): void {
    const servers = this.servers.value;
    const at = servers.findIndex(({ name }) => name === report.name);
    const before = servers[at];
    this.servers.value = at === -1 ? [...servers, report] : servers.with(at, report);
    this.#announceChange(before, report);
    this.#scheduleOnce(this.#reloadStats, STATS_DELAY_MS);
  }

  #announceChange(before: ServerReport | undefined, report: ServerReport): void {
    if (before !== undefined && before.status !== report.status) this.#announce({ kind: 'server', report });
  }

  #applyLogin(login: LoginEvent): void {
    this.setLogin(login);
    if (login.state === 'done' || login.state === 'failed' || login.state === 'removed')
      this.#announce({ kind: 'login', login });
  }

  readonly #loadToolsAndServers = async (): Promise<void> => {
    await Promise.all([this.loadTools(), this.loadServers()]);
  };
  readonly #reloadStats = (): Promise<void> => this.loadStats();
  readonly #reloadClients = (): Promise<void> => this.loadClients();

  /** Runs `work` once after `ms`, however often it is called until then: a starting server sends several events. */
  #scheduleOnce(work: () => Promise<void>, ms: number): void {
    if (this.#scheduled.has(work)) return;
    this.#scheduled.add(work);
    setTimeout(() => {
      this.#scheduled.delete(work);
      work().catch(() => {});
    }, ms);
  }
}
