/** Client of the gateway's management API: token, requests and event stream. */

const TOKEN_KEY = 'plugboard-token';
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 15_000;
/** The gateway sends a heartbeat every 15 seconds; the stream is reopened after this long without data. */
const IDLE_TIMEOUT_MS = 45_000;

/** Returns the token; one in the URL is stored and removed from it, to keep it out of history and screenshots. */
export function takeToken() {
  const fromUrl = new URLSearchParams(location.hash.slice(1)).get('token');
  if (fromUrl === null) return sessionStorage.getItem(TOKEN_KEY);
  setToken(fromUrl);
  history.replaceState(null, '', location.pathname);
  return fromUrl;
}

export function setToken(token) {
  sessionStorage.setItem(TOKEN_KEY, token);
}

export class ApiError extends Error {
  constructor(status, error) {
    super(error.message ?? `The gateway responded with ${status}.`);
    this.status = status;
    this.code = error.code;
    this.hint = error.hint;
  }
}

export async function api(method, path, body, signal) {
  const headers = { authorization: `Bearer ${sessionStorage.getItem(TOKEN_KEY)}` };
  if (body !== undefined) headers['content-type'] = 'application/json';
  let response;
  try {
    response = await fetch(path, {
      method,
      headers,
      signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, { message: 'The gateway cannot be reached', hint: 'Is it still running?' });
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new ApiError(response.status, answer.error ?? {});
  return answer;
}

export function serverPath(name, rest = '') {
  return `/api/servers/${encodeURIComponent(name)}${rest}`;
}

/**
 * Reads the event stream until a 401, reconnecting with backoff and resuming after the last event. Calls
 * `handlers.connected` when the stream opens or closes, and `handlers.missed` if the gateway no longer has all events
 * since the last one.
 */
export async function followEvents(handlers) {
  let lastId;
  let retryMs = FIRST_RETRY_MS;
  for (;;) {
    try {
      await readStream(lastId, handlers, (id) => {
        lastId = id;
        retryMs = FIRST_RETRY_MS;
      });
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return handlers.refused();
    }
    handlers.connected(false);
    await new Promise((resolve) => {
      endWait = resolve;
      setTimeout(resolve, retryMs);
    });
    retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
  }
}

let endWait = () => {};

/** Reconnects now instead of after the backoff. */
export function retryNow() {
  endWait();
}

async function readStream(lastId, handlers, onEventId) {
  const idle = new AbortController();
  let timer = setTimeout(() => idle.abort(), IDLE_TIMEOUT_MS);
  const headers = { authorization: `Bearer ${sessionStorage.getItem(TOKEN_KEY)}` };
  if (lastId !== undefined) headers['last-event-id'] = lastId;
  try {
    const response = await fetch('/api/events', { headers, signal: idle.signal });
    if (!response.ok) throw new ApiError(response.status, {});
    handlers.connected(true);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let buffered = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => idle.abort(), IDLE_TIMEOUT_MS);
      const parts = (buffered + value).split('\n\n');
      buffered = parts.pop() ?? '';
      for (const part of parts) dispatch(part, handlers, onEventId);
    }
  } finally {
    clearTimeout(timer);
  }
}

function dispatch(part, handlers, onEventId) {
  const fields = {};
  for (const line of part.split('\n')) {
    const colon = line.indexOf(': ');
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 2);
  }
  if (fields.event === undefined) return;
  if (fields.event === 'missed') return handlers.missed();
  handlers.event(fields.event, JSON.parse(fields.data));
  if (fields.id !== undefined) onEventId(fields.id);
}
