/** State of the page, updated by events; listeners are called at most once per frame. */

import { api, followEvents } from './api.js';

export const MAX_CALLS = 10_000;
/** Delay before statistics are reloaded after an event. */
const STATS_DELAY_MS = 2_000;
const CATALOG_DELAY_MS = 150;

export const store = {
  servers: [],
  problems: [],
  tools: [],
  stats: new Map(),
  definitionTokens: { all: 0, given: 0 },
  /** Oldest first. */
  calls: [],
  /** Number of calls without an outcome. */
  running: 0,
  questions: [],
  clients: [],
  /** Open sessions of clients, with or without a name. */
  connectedClients: [],
  /** Budgets of all clients together. */
  sharedBudgets: [],
  clientsLoaded: false,
  /** Server name → pending login, with its URL. */
  logins: new Map(),
  connected: false,
  loaded: false,
};

const callsById = new Map();
const listeners = new Map();
const dirty = new Set();
const noticeListeners = new Set();
const scheduled = new Set();

/** Calls `listener` in the next frame after one of the named parts changed; returns a function that stops it. */
export function watch(names, listener) {
  for (const name of names) {
    if (!listeners.has(name)) listeners.set(name, new Set());
    listeners.get(name).add(listener);
  }
  return () => {
    for (const name of names) listeners.get(name)?.delete(listener);
  };
}

export function changed(name) {
  if (dirty.size === 0) requestAnimationFrame(flush);
  dirty.add(name);
}

function flush() {
  const pending = new Set([...dirty].flatMap((name) => [...(listeners.get(name) ?? [])]));
  dirty.clear();
  for (const listener of pending) {
    try {
      listener();
    } catch (error) {
      // An error in one view must not prevent the others from updating.
      console.error(error);
    }
  }
}

/** Calls `listener` for events that are shown as a notice. */
export function onNotice(listener) {
  noticeListeners.add(listener);
}

/** Events received while a list is fetched; they are applied again after it, because the list may be older. */
const eventsDuringFetch = { servers: new Set(), calls: new Set() };

async function fetchList(kind, path, apply) {
  const received = [];
  eventsDuringFetch[kind].add(received);
  try {
    apply(await api('GET', path));
  } finally {
    eventsDuringFetch[kind].delete(received);
  }
  for (const [name, data] of received) handlers[name](data);
  changed(kind);
}

function applyEvent(name, data) {
  const kind = name === 'server' ? 'servers' : name.startsWith('call.') ? 'calls' : undefined;
  for (const received of eventsDuringFetch[kind] ?? []) received.push([name, data]);
  handlers[name]?.(data);
}

/** Loads everything, small and visible data first. */
export async function load() {
  await Promise.all([reloadServers(), loadQuestions(), loadStats()]);
  await loadTools();
  await loadCalls();
}

export async function loadTools() {
  store.tools = (await api('GET', '/api/tools')).tools;
  changed('tools');
}

async function loadCalls() {
  await fetchList('calls', `/api/calls?limit=${MAX_CALLS}`, ({ calls }) => {
    store.calls = calls.reverse();
    callsById.clear();
    for (const call of store.calls) callsById.set(call.id, call);
    store.running = store.calls.filter(({ outcome }) => outcome === undefined).length;
  });
}

export async function loadQuestions() {
  const before = new Set(store.questions.map(({ id }) => id));
  store.questions = (await api('GET', '/api/approvals')).approvals;
  const [newQuestion] = store.questions.filter(({ id }) => !before.has(id));
  // One notice for all new questions; the navigation shows their number.
  if (newQuestion !== undefined)
    for (const listener of noticeListeners) listener({ kind: 'question', event: newQuestion });
  changed('questions');
}

/** Only called while clients are shown: a gateway may have thousands of them. */
export async function loadClients() {
  const { clients, connected, budgets } = await api('GET', '/api/clients');
  Object.assign(store, {
    clients,
    connectedClients: connected,
    sharedBudgets: budgets,
    clientsLoaded: true,
  });
  changed('clients');
}

export async function loadStats() {
  const { servers, definitionTokens } = await api('GET', '/api/stats');
  store.stats = new Map(servers.map((each) => [each.name, each]));
  store.definitionTokens = definitionTokens;
  changed('stats');
}

export async function reloadServers() {
  await fetchList('servers', '/api/servers', ({ servers, problems }) => {
    Object.assign(store, { servers, problems, loaded: true });
  });
}

export function follow(refused) {
  followEvents({
    refused,
    event: applyEvent,
    missed: () => void load().catch(() => {}),
    connected(isConnected) {
      const wasConnected = store.connected;
      store.connected = isConnected;
      changed('connected');
      // Events only report changes, so the current state is fetched.
      if (isConnected && !wasConnected) void load().catch(() => {});
    },
  });
}

/** Runs `work` once after `ms`, however often it is called until then: a starting server sends several events. */
function scheduleOnce(work, ms) {
  if (scheduled.has(work)) return;
  scheduled.add(work);
  setTimeout(() => {
    scheduled.delete(work);
    work().catch(() => {});
  }, ms);
}

async function loadToolsAndServers() {
  await Promise.all([loadTools(), reloadServers()]);
}

const handlers = {
  server(report) {
    const at = store.servers.findIndex(({ name }) => name === report.name);
    const before = store.servers[at];
    if (at === -1) store.servers = [...store.servers, report];
    else store.servers = store.servers.with(at, report);
    if (before?.status !== report.status)
      for (const listener of noticeListeners) listener({ kind: 'server', report, before });
    changed('servers');
    scheduleOnce(loadStats, STATS_DELAY_MS);
  },
  tools() {
    scheduleOnce(loadToolsAndServers, CATALOG_DELAY_MS);
    scheduleOnce(loadStats, STATS_DELAY_MS);
  },
  question: () => void loadQuestions().catch(() => {}),
  answer: () => void loadQuestions().catch(() => {}),
  login(event) {
    if (event.state === 'waiting') store.logins.set(event.server, event);
    else store.logins.delete(event.server);
    if (event.state === 'done' || event.state === 'failed' || event.state === 'removed') {
      for (const listener of noticeListeners) listener({ kind: 'login', event });
    }
    changed('logins');
    changed('servers');
  },
  'call.begin'(call) {
    if (callsById.has(call.id)) return;
    const record = { ...call, at: Date.now() };
    callsById.set(call.id, record);
    store.calls.push(record);
    store.running += 1;
    if (store.calls.length > MAX_CALLS + 500) {
      for (const old of store.calls.splice(0, 500)) {
        callsById.delete(old.id);
        if (old.outcome === undefined) store.running -= 1;
      }
    }
    changed('calls');
  },
  'call.progress'({ id, ...progress }) {
    const call = callsById.get(id);
    if (call !== undefined) call.progress = progress;
    changed('calls');
  },
  'call.end'({ id, ...end }) {
    const call = callsById.get(id);
    if (call !== undefined && call.outcome === undefined) {
      Object.assign(call, end);
      store.running -= 1;
    }
    changed('calls');
    scheduleOnce(loadStats, STATS_DELAY_MS);
  },
};
