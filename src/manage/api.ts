/** The management API: finds the route of a request, validates the request, and responds. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ArgumentChecker } from '../call/argument-check.ts';
import { readBody } from '../endpoint/request-body.ts';
import { endWith } from '../endpoint/response-stream.ts';
import { asPlugboardError, forPerson, PlugboardError } from '../errors.ts';
import { isRecord, type JsonObject } from '../lib/json.ts';
import { readVersion } from '../lib/version.ts';
import { visibleJson } from '../policy/clean.ts';
import { ref, SCHEMAS, type Schema } from './api-schemas.ts';
import type { ManagementAuth } from './management-auth.ts';
import { HttpFailure, type JsonRoute, type Route, refusal, statusOf } from './route.ts';

const PREFIX = '/api';
const DOCUMENT_PATH = '/api/openapi.json';
/** Responses must not be cached. */
const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** Operations that change no configuration: others are announced to the readers of events. */
const UNCHANGING: ReadonlySet<string> = new Set([
  'callTool',
  'cancelCall',
  'connectServer',
  'reconnectServer',
  'disconnectServer',
  'startLogin',
  'previewRule',
  'parseServers',
  'tryProfile',
  'readResource',
  'getPrompt',
  'complete',
]);

interface Found {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

export class Api {
  readonly #auth: ManagementAuth;
  readonly #routes: readonly Route[];
  readonly #changed: () => void;
  readonly #segments: ReadonlyMap<Route, readonly string[]>;
  #checker: Promise<ArgumentChecker> | undefined;

  /** `changed` is called after a request that changes the configuration. */
  constructor(auth: ManagementAuth, routes: readonly Route[], changed: () => void = () => {}) {
    this.#auth = auth;
    this.#changed = changed;
    const document: JsonRoute = {
      method: 'GET',
      path: DOCUMENT_PATH,
      operation: 'getDocument',
      summary: 'This document.',
      answer: { type: 'object' },
      handle: () => openApi(this.#routes),
    };
    this.#routes = [...routes, document];
    this.#segments = new Map(this.#routes.map((route) => [route, route.path.split('/')]));
  }

  handles(path: string): boolean {
    return path === PREFIX || path.startsWith(`${PREFIX}/`);
  }

  handle(request: IncomingMessage, response: ServerResponse, path: string): void {
    this.#answer(request, response, path).catch((thrown: unknown) => fail(request, response, thrown));
  }

  async #answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const stranger = this.#auth.refusePlace(request) ?? this.#auth.refuseStranger(request);
    if (stranger !== undefined) throw stranger;
    const matches = this.#match(path);
    if (matches.length === 0)
      throw refusal(404, `There is nothing at ${path}`, { hint: `${DOCUMENT_PATH} has it all.` });
    const asked = request.method === 'HEAD' ? 'GET' : request.method;
    const found = matches.find(({ route }) => route.method === asked);
    if (found === undefined) {
      const allow = allowed(matches);
      if (request.method !== 'OPTIONS') throw refusal(405, `${path} takes ${allow}`, { headers: { allow } });
      response.writeHead(204, { ...HEADERS, allow }).end();
      return;
    }
    const { route, params } = found;
    if ('stream' in route) {
      if (request.method === 'HEAD')
        response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream' }).end();
      else route.stream(request, response, { params, query: queryOf(request) });
      return;
    }
    const body = await this.#body(request, route);
    const gone = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) gone.abort(new PlugboardError('CANCELLED', 'The client disconnected'));
    });
    const answer = await route.handle({ params, query: queryOf(request), body, signal: gone.signal });
    send(response, route.status ?? 200, answer);
    if (route.method !== 'GET' && !UNCHANGING.has(route.operation)) this.#changed();
  }

  #match(path: string): readonly Found[] {
    const given = path.split('/');
    return this.#routes.flatMap((route) => {
      const wanted = this.#segments.get(route) ?? [];
      if (wanted.length !== given.length) return [];
      const params: Record<string, string> = {};
      for (const [at, segment] of wanted.entries()) {
        const value = given[at] ?? '';
        const name = /^\{(\w+)\}$/.exec(segment)?.[1];
        if (name !== undefined && value !== '') params[name] = decoded(value);
        else if (value !== segment) return [];
      }
      return [{ route, params }];
    });
  }

  async #body(request: IncomingMessage, { body: name }: JsonRoute): Promise<JsonObject> {
    if (name === undefined) {
      request.resume();
      return {};
    }
    if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
      throw refusal(415, 'The body must be application/json');
    }
    const body = await new Promise<Parameters<Parameters<typeof readBody>[1]>[0]>((resolve) =>
      readBody(request, resolve),
    );
    if (!('value' in body)) {
      throw body.status === 413
        ? refusal(413, 'The body is too large', { headers: { connection: 'close' } })
        : refusal(400, 'The body is not JSON');
    }
    if (!isRecord(body.value)) throw refusal(400, 'The body must be a JSON object');
    this.#checker ??= import('../call/argument-check.ts').then(({ createArgumentChecker }) =>
      createArgumentChecker(),
    );
    const problems = (await this.#checker).checkFor(SCHEMAS[name])(body.value);
    if (problems.length === 0) return body.value;
    throw new PlugboardError('INVALID_ARGUMENTS', `The body does not fit: ${problems.join(' ')}`, {
      hint: `See ${DOCUMENT_PATH} for the schema of ${name}.`,
    });
  }
}

function queryOf({ url = '' }: IncomingMessage): URLSearchParams {
  return new URLSearchParams(/\?(.*)$/s.exec(url)?.[1]);
}

function fail(request: IncomingMessage, response: ServerResponse, thrown: unknown): void {
  const failure = thrown instanceof HttpFailure ? thrown : undefined;
  const error = failure?.error ?? forPerson(asPlugboardError(thrown));
  if (response.headersSent || response.destroyed) return;
  request.resume();
  const body = { error: { ...error.toJSON(), ...error.detail.place } };
  send(response, failure?.status ?? statusOf(error), body, failure?.headers);
}

function send(
  response: ServerResponse,
  status: number,
  answer: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  // Node omits the body of a response to HEAD.
  endWith(response, status, visibleJson(JSON.stringify(answer)), { ...HEADERS, ...headers });
}

function allowed(matches: readonly Found[]): string {
  const methods = matches.map(({ route }) => route.method);
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw refusal(400, 'The address is not encoded as it should be');
  }
}

/** Error statuses that every route may return. */
const COMMON_FAILURES: readonly number[] = [400, 401, 403, 429, 500];

const MEANING: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Added.',
  400: 'The request is invalid; the message has the reason.',
  401: 'The bearer token is missing or wrong.',
  403: 'Refused: by policy, not approved, or not allowed from where the request was sent.',
  404: 'There is no such server, tool or question.',
  409: 'Something else is needed first, such as a login, or the name is taken.',
  413: 'The body is too large.',
  415: 'The body is not application/json.',
  429: 'Too many wrong tokens, or too many readers; Retry-After has the time to wait.',
  500: 'An internal error.',
  502: 'The server could not be reached, or did not answer as it should.',
  504: 'The server took too long.',
};

/** Generates the OpenAPI document of the management API from its route table. */
export function openApi(routes: readonly Route[]): Schema {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = paths[route.path] ?? {};
    paths[route.path] = path;
    path[route.method.toLowerCase()] = operation(route);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Plugboard management API',
      version: readVersion(),
      description: 'For this machine only: Host and Origin are checked, and a bearer token is needed.',
    },
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: SCHEMAS,
    },
  };
}

function operation(route: Route): Schema {
  const { summary, operation: operationId, query = {}, body } = route;
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const inQuery = Object.entries(query).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    description,
    schema,
  }));
  const parameters = [...inPath, ...inQuery];
  const failures = [
    ...new Set([...COMMON_FAILURES, ...(body === undefined ? [] : [413, 415]), ...(route.fails ?? [])]),
  ].sort((a, b) => a - b);
  return {
    operationId,
    summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, ...json(ref(body)) } }),
    responses: {
      ...success(route),
      ...Object.fromEntries(
        failures.map((status) => [status, { ...described(status), ...json(ref('Failure')) }]),
      ),
    },
  };
}

function success(route: Route): Schema {
  if ('stream' in route) {
    return { 200: { ...described(200), content: { 'text/event-stream': { schema: { type: 'string' } } } } };
  }
  const status = route.status ?? 200;
  return { [status]: { ...described(status), ...json(route.answer) } };
}

function described(status: number): { readonly description: string } {
  return { description: MEANING[status] ?? 'A failure.' };
}

function json(schema: Schema): Schema {
  return { content: { 'application/json': { schema } } };
}
