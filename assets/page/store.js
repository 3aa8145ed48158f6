/** What the page knows, kept up to date by events. Views are told at most once a frame. */

import { api, followEvents } from './api.js';

export const MAX_CALLS = 10_000;
/** How long statistics may be old while calls come in. */
const STATS_MS = 2_000;
const OFFERED_MS = 150;

export const store = {
  servers: [],
  problems: [],
  tools: [],
  stats: new Map(),
  definitionTokens: { all: 0, given: 0 },
  /** Oldest first. */
  calls: [],
  /** How many of them have not ended. */
  running: 0,
  questions: [],
  /** Server name → what its login is waiting for. */
  logins: new Map(),
  connected: false,
  loaded: false,
};

const callsById = new Map();
const listeners = new Map();
const dirty = new Set();
const noticeListeners = new Set();
const due = new Set();

/** Calls `listener` in the next frame after something of these changed. */
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
  const called = new Set([...dirty].flatMap((name) => [...(listeners.get(name) ?? [])]));
  dirty.clear();
  for (const listener of called) {
    try {
      listener();
    } catch (error) {
      // One view that fails must not keep the others from being drawn.
      console.error(error);
    }
  }
}

/** Told of what a person should hear of at once. */
export function onNotice(listener) {
  noticeListeners.add(listener);
}

/** Events that arrive while a list is on its way: the list may be older than they are, so they are told again. */
const onTheirWay = { servers: new Set(), calls: new Set() };

async function fetchList(kind, path, apply) {
  const late = [];
  onTheirWay[kind].add(late);
  try {
    apply(await api('GET', path));
  } finally {
    onTheirWay[kind].delete(late);
  }
  for (const [name, data] of late) handlers[name](data);
  changed(kind);
}

function happened(name, data) {
  const kind = name === 'server' ? 'servers' : name.startsWith('call.') ? 'calls' : undefined;
  for (const late of onTheirWay[kind] ?? []) late.push([name, data]);
  handlers[name]?.(data);
}

/** What is small and seen first comes first. */
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
  const [news] = store.questions.filter(({ id }) => !before.has(id));
  // One notice for all that came at once; the number is in the rail.
  if (news !== undefined) for (const tell of noticeListeners) tell({ kind: 'question', event: news });
  changed('questions');
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
    event: happened,
    missed: () => void load().catch(() => {}),
    connected(isConnected) {
      const was = store.connected;
      store.connected = isConnected;
      changed('connected');
      // Whatever happens from now on is told; what happened before has to be asked for.
      if (isConnected && !was) void load().catch(() => {});
    },
  });
}

/** Once for all that happens within a moment: a server that starts tells several times. */
function soon(work, ms) {
  if (due.has(work)) return;
  due.add(work);
  setTimeout(() => {
    due.delete(work);
    work().catch(() => {});
  }, ms);
}

async function loadOffered() {
  await Promise.all([loadTools(), reloadServers()]);
}

const handlers = {
  server(report) {
    const at = store.servers.findIndex(({ name }) => name === report.name);
    const before = store.servers[at];
    if (at === -1) store.servers = [...store.servers, report];
    else store.servers = store.servers.with(at, report);
    if (before?.status !== report.status)
      for (const tell of noticeListeners) tell({ kind: 'server', report, before });
    changed('servers');
    soon(loadStats, STATS_MS);
  },
  tools() {
    soon(loadOffered, OFFERED_MS);
    soon(loadStats, STATS_MS);
  },
  question: () => void loadQuestions().catch(() => {}),
  answer: () => void loadQuestions().catch(() => {}),
  login(event) {
    if (event.state === 'waiting') store.logins.set(event.server, event);
    else store.logins.delete(event.server);
    if (event.state === 'done' || event.state === 'failed' || event.state === 'removed') {
      for (const tell of noticeListeners) tell({ kind: 'login', event });
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
    soon(loadStats, STATS_MS);
  },
};
