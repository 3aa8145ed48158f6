/** The way to the gateway: the token, requests, and the stream of events. */

const TOKEN_KEY = 'plugboard-token';
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 15_000;
/** The gateway says something at least every 15 seconds. */
const SILENCE_MS = 45_000;

/** Taken out of the address at once, so that it is in no history and no picture of the window. */
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given === null) return sessionStorage.getItem(TOKEN_KEY);
  setToken(given);
  history.replaceState(null, '', location.pathname);
  return given;
}

export function setToken(token) {
  sessionStorage.setItem(TOKEN_KEY, token);
}

export class ApiError extends Error {
  constructor(status, error) {
    super(error.message ?? `The gateway answered ${status}.`);
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
    throw new ApiError(0, { message: 'The gateway cannot be reached.', hint: 'Is it still running?' });
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new ApiError(response.status, answer.error ?? {});
  return answer;
}

export function serverPath(name, rest = '') {
  return `/api/servers/${encodeURIComponent(name)}${rest}`;
}

/**
 * Reads events for as long as the page lives. Comes back by itself and goes on where it was; `handlers.missed` is
 * called when too much was missed, `handlers.connected` whenever the stream opens or breaks.
 */
export async function followEvents(handlers) {
  let lastId;
  let wait = FIRST_RETRY_MS;
  for (;;) {
    try {
      await readStream(lastId, handlers, (id) => {
        lastId = id;
        wait = FIRST_RETRY_MS;
      });
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return handlers.refused();
    }
    handlers.connected(false);
    await new Promise((resolve) => {
      endWait = resolve;
      setTimeout(resolve, wait);
    });
    wait = Math.min(wait * 2, MAX_RETRY_MS);
  }
}

let endWait = () => {};

/** Tries at once instead of after the wait. */
export function retryNow() {
  endWait();
}

async function readStream(lastId, handlers, seen) {
  const quiet = new AbortController();
  let timer = setTimeout(() => quiet.abort(), SILENCE_MS);
  const headers = { authorization: `Bearer ${sessionStorage.getItem(TOKEN_KEY)}` };
  if (lastId !== undefined) headers['last-event-id'] = lastId;
  try {
    const response = await fetch('/api/events', { headers, signal: quiet.signal });
    if (!response.ok) throw new ApiError(response.status, {});
    handlers.connected(true);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => quiet.abort(), SILENCE_MS);
      const parts = (rest + value).split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) dispatch(part, handlers, seen);
    }
  } finally {
    clearTimeout(timer);
  }
}

function dispatch(part, handlers, seen) {
  const fields = {};
  for (const line of part.split('\n')) {
    const colon = line.indexOf(': ');
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 2);
  }
  if (fields.event === undefined) return;
  if (fields.event === 'missed') return handlers.missed();
  handlers.event(fields.event, JSON.parse(fields.data));
  if (fields.id !== undefined) seen(fields.id);
}
