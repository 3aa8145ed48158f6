/** The routes that explain one server: its description, log, resources and prompts. */

import { estimateTokens } from '../catalog/tokens.ts';
import { PlugboardError } from '../errors.ts';
import { LogReader } from '../transport/server-log-reader.ts';
import type { RouteParts } from './all-routes.ts';
import { list, object, ref, text } from './api-schemas.ts';
import { limitUpTo, textIn, wholeNumber } from './query-values.ts';
import { type ApiRequest, type Route, refusal } from './route.ts';

const DEFAULT_LINES = 200;
const MAX_LINES = 5_000;

type InspectParts = Pick<RouteParts, 'host' | 'session' | 'traffic' | 'logStreams'>;

export function inspectRoutes(parts: InspectParts): readonly Route[] {
  const { host, traffic, logStreams } = parts;
  return [
    {
      method: 'GET',
      path: '/api/servers/{name}/details',
      operation: 'getDetails',
      summary: 'How a server describes itself, the steps of its last start, and what it costs and takes.',
      answer: ref('ServerDetails'),
      fails: [404],
      handle: ({ params }) => {
        const name = nameIn(params);
        const details = host.details(name);
        const stats = traffic.calls.stats(host).find((each) => each.name === name);
        return {
          ...details,
          phases: host.phases(name),
          definitionTokens: stats?.definitionTokens ?? 0,
          instructionTokens: estimateTokens(details.instructions ?? ''),
          resources: parts.session.mayHave(name, 'resources'),
          prompts: parts.session.mayHave(name, 'prompts'),
          ...(stats === undefined ? {} : { stats }),
        };
      },
    },
    {
      method: 'GET',
      path: '/api/servers/{name}/log',
      operation: 'getLog',
      summary:
        "The last lines of a server's log: stderr, log messages, starts and ends; known secrets are removed.",
      query: { lines: limitUpTo(MAX_LINES, DEFAULT_LINES) },
      answer: object(
        { lines: list(ref('LogLine')), file: text },
        { cursor: { ...text, description: 'For log/stream: lines after these.' } },
      ),
      fails: [404],
      handle: ({ params, query }) => {
        const name = nameIn(params);
        const file = host.management.logFile(name);
        const reader = new LogReader(name, file);
        const wanted = wholeNumber(query, 'lines', { fallback: DEFAULT_LINES, max: MAX_LINES });
        const lines = reader.last(wanted).map(({ server: _server, ...line }) => line);
        const { cursor } = reader;
        return { lines, file, ...(cursor === undefined ? {} : { cursor }) };
      },
    },
    {
      method: 'GET',
      path: '/api/servers/{name}/log/stream',
      operation: 'streamLog',
      summary:
        'Server-sent events: a line for each new line of the log. after, or Last-Event-ID, continues after a cursor.',
      query: { after: { type: 'string', description: 'The cursor of /log, or of an event.' } },
      stream: (request, response, { params, query }) => {
        if (logStreams.isFull) throw refusal(429, 'Too many readers', { headers: { 'retry-after': '5' } });
        const last = request.headers['last-event-id'];
        const cursor = typeof last === 'string' ? last : textIn(query, 'after');
        const name = nameIn(params);
        logStreams.stream(response, name, host.management.logFile(name), cursor);
      },
    },
    ...contentRoutes(parts),
  ];
}

function contentRoutes({ host, session }: InspectParts): readonly Route[] {
  const content: Pick<Route, 'fails'> = { fails: [403, 404, 409, 502, 504] };
  /** The names of servers are checked by the host, content by the session of the page, which asks the person. */
  const known = ({ params }: Pick<ApiRequest, 'params'>): string => {
    const name = nameIn(params);
    host.details(name);
    return name;
  };
  return [
    {
      method: 'GET',
      path: '/api/servers/{name}/resources',
      operation: 'listResources',
      summary: 'The resources and resource templates of a server.',
      answer: object({ resources: list({ type: 'object' }), templates: list({ type: 'object' }) }),
      ...content,
      handle: ({ params }) => host.resources(nameIn(params)),
    },
    {
      method: 'POST',
      path: '/api/servers/{name}/resources/read',
      operation: 'readResource',
      summary: 'Read a resource: text, or bytes as base64. The rules for resources apply.',
      body: 'ReadRequest',
      answer: object({ contents: list({ type: 'object' }) }),
      ...content,
      handle: (request) =>
        session.read(known(request), String(request.body['uri']), {
          signal: request.signal,
        }),
    },
    {
      method: 'GET',
      path: '/api/servers/{name}/prompts',
      operation: 'listPrompts',
      summary: 'The prompts of a server, with their arguments.',
      answer: object({ prompts: list({ type: 'object' }) }),
      ...content,
      handle: async ({ params }) => ({ prompts: await host.prompts(nameIn(params)) }),
    },
    {
      method: 'POST',
      path: '/api/servers/{name}/prompts/get',
      operation: 'getPrompt',
      summary: 'The messages of a prompt.',
      body: 'PromptRequest',
      answer: object({ messages: list({ type: 'object' }) }, { description: text }),
      ...content,
      handle: (request) => {
        const { name, arguments: args = {} } = request.body as {
          readonly name: string;
          readonly arguments?: Readonly<Record<string, string>>;
        };
        return session.prompt(known(request), name, args, { signal: request.signal });
      },
    },
    {
      method: 'POST',
      path: '/api/servers/{name}/complete',
      operation: 'complete',
      summary: 'Suggestions for an argument of a prompt or of a resource template.',
      body: 'CompletionRequest',
      answer: object({ values: list(text) }, { total: { type: 'number' }, hasMore: { type: 'boolean' } }),
      ...content,
      handle: (request) => {
        const server = known(request);
        const { prompt, template, argument, arguments: context } = request.body as unknown as Completing;
        if ((prompt === undefined) === (template === undefined))
          throw new PlugboardError('INVALID_ARGUMENTS', 'Either a prompt or a template is needed');
        const reference =
          prompt === undefined
            ? ({ type: 'ref/resource', server, uri: template ?? '' } as const)
            : ({ type: 'ref/prompt', server, name: prompt } as const);
        return session.complete(reference, argument, { context, signal: request.signal });
      },
    },
  ];
}

interface Completing {
  readonly prompt?: string;
  readonly template?: string;
  readonly argument: { readonly name: string; readonly value: string };
  readonly arguments?: Readonly<Record<string, string>>;
}

/** Every path here has a name. */
function nameIn(params: Readonly<Record<string, string>>): string {
  return params['name'] ?? '';
}
