/** Generates the OpenAPI document of the management API from its route table. */

import { readVersion } from '../lib/version.ts';
import { ref, SCHEMAS, type Schema } from './api-schemas.ts';
import type { Route } from './route.ts';

/** Error statuses that every route may return. */
const COMMON_FAILURES: readonly number[] = [400, 401, 403, 429, 500];

const MEANING: Readonly<Record<number, string>> = {
  200: 'Done.',
  201: 'Added.',
  400: 'The request is wrong; the message says what.',
  401: 'The bearer token is missing or wrong.',
  403: 'Refused: by policy, for want of consent or approval, or because of where the request comes from.',
  404: 'There is no such server, tool or question.',
  409: 'Something else has to happen first, such as a login, or the name is taken.',
  413: 'The body is too large.',
  415: 'The body is not application/json.',
  429: 'Too many wrong tokens, or too many readers; Retry-After says when to come back.',
  500: 'A fault of ours.',
  502: 'The server could not be reached, or did not answer as it should.',
  504: 'The server took too long.',
};

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
