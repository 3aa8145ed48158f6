/** Client of the management API: the token, and one request. */

const TOKEN_KEY = 'plugboard-token';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Failure {
  readonly code?: string;
  readonly message?: string;
  readonly hint?: string;
  readonly server?: string;
}

export class ApiError extends Error {
  readonly status: number;
  readonly code: string | undefined;
  readonly hint: string | undefined;
  /** The whole error, for members that only one route has. */
  readonly failure: Failure;

  constructor(status: number, failure: Failure) {
    super(failure.message ?? `The gateway responded with ${status}.`);
    this.status = status;
    this.code = failure.code;
    this.hint = failure.hint;
    this.failure = failure;
  }
}

export class Api {
  /** Returns the token; one in the URL is stored and removed from it, to keep it out of history and screenshots. */
  takeToken(): string | undefined {
    const fromUrl = new URLSearchParams(location.hash.slice(1)).get('token');
    if (fromUrl === null) return sessionStorage.getItem(TOKEN_KEY) ?? undefined;
    this.setToken(fromUrl);
    history.replaceState(null, '', location.pathname);
    return fromUrl;
  }

  setToken(token: string): void {
    sessionStorage.setItem(TOKEN_KEY, token);
  }

  get headers(): Record<string, string> {
    return { authorization: `Bearer ${sessionStorage.getItem(TOKEN_KEY)}` };
  }

  get<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
    return this.send('GET', path, undefined, signal);
  }

  /** The type of an answer is what the API documents; every value is still rendered as untrusted text. */
  async send<Answer>(method: Method, path: string, body?: unknown, signal?: AbortSignal): Promise<Answer> {
    const headers = this.headers;
    if (body !== undefined) headers['content-type'] = 'application/json';
    let response: Response;
    try {
      response = await fetch(path, {
        method,
        headers,
        ...(signal === undefined ? {} : { signal }),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ApiError(0, {
        message: 'The gateway cannot be reached',
        hint: 'Check that Plugboard is still running.',
      });
    }
    const answer: unknown = await response.json().catch(() => ({}));
    if (!response.ok) throw new ApiError(response.status, (answer as { error?: Failure }).error ?? {});
    return answer as Answer;
  }
}

/** Returns a path of the API with its segments encoded: `apiPath('servers', name, 'pins')`. */
export function apiPath(...segments: readonly string[]): string {
  return `/api/${segments.map(encodeURIComponent).join('/')}`;
}

/** Returns a query string of the members that are set. */
export function queryOf(members: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members))
    if (value !== undefined && value !== '') query.set(name, String(value));
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
