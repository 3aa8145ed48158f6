/** The routes for use: tools, search, pending questions, and events. */

import type { RouteParts } from './all-routes.ts';
import { list, object, ref, text } from './api-schemas.ts';
import { EVENT_NAMES, PAGE_EVENTS } from './event-log.ts';
import { limitUpTo, wholeNumber } from './query-values.ts';
import { type Route, refusal } from './route.ts';

const DEFAULT_RESULTS = 20;
const MAX_RESULTS = 100;
const MAX_QUERY_CHARS = 2_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 3_650;

type UseParts = Pick<RouteParts, 'host' | 'traffic' | 'events'>;

export function useRoutes(parts: UseParts): readonly Route[] {
  const { host, traffic } = parts;
  return [
    {
      method: 'GET',
      path: '/api/tools',
      operation: 'listTools',
      summary: 'All tools, including those that a model finds by search.',
      query: { server: { type: 'string', description: 'Only those of this server.' } },
      answer: object({ tools: list(ref('Tool')) }),
      handle: ({ query }) => {
        const server = query.get('server');
        return {
          tools: host.tools({ all: true }).filter((tool) => server === null || tool.server === server),
        };
      },
    },
    {
      method: 'GET',
      path: '/api/search',
      operation: 'searchTools',
      summary: 'The tools that match a description of a task, best first, as a model would find them.',
      query: {
        q: { type: 'string', description: 'Description of the task.' },
        limit: limitUpTo(MAX_RESULTS, DEFAULT_RESULTS),
      },
      answer: object({ results: list(ref('SearchResult')) }),
      handle: async ({ query }) => {
        const wanted = (query.get('q') ?? '').slice(0, MAX_QUERY_CHARS);
        const limit = wholeNumber(query, 'limit', { fallback: DEFAULT_RESULTS, max: MAX_RESULTS });
        const found = wanted.trim() === '' ? [] : await host.search(wanted, { limit });
        const best = found[0]?.score ?? 0;
        return {
          results: found.map((each) => ({ ...each, share: best > 0 ? Math.min(1, each.score / best) : 0 })),
        };
      },
    },
    ...questionRoutes(parts),
    eventsRoute(parts),
    {
      method: 'GET',
      path: '/api/stats',
      operation: 'getStats',
      summary: 'The latency of each server, and the tokens that its definitions cost a model.',
      query: { server: { type: 'string', description: 'Only this server, with its tools.' } },
      answer: {
        type: 'object',
        properties: {
          servers: list(ref('ServerStats')),
          definitionTokens: {
            type: 'object',
            description: 'Tokens of all definitions, and of those that a model is given now.',
            properties: { all: { type: 'integer' }, given: { type: 'integer' } },
            required: ['all', 'given'],
          },
        },
        required: ['servers', 'definitionTokens'],
      },
      handle: ({ query }) => {
        const server = query.get('server');
        const all = traffic.calls.stats(host);
        const servers =
          server === null
            ? all
            : all
                .filter(({ name }) => name === server)
                .map((stats) => ({ ...stats, tools: traffic.calls.toolStats(host, server) }));
        return { servers, definitionTokens: host.definitionTokens() };
      },
    },
    {
      method: 'GET',
      path: '/api/cost',
      operation: 'getCost',
      summary:
        'What servers and tools cost a model: tokens of definitions and of results, calls of the last days, and what saves most.',
      query: { days: limitUpTo(MAX_DAYS, DEFAULT_DAYS) },
      answer: ref('CostReport'),
      handle: ({ query }) =>
        host.cost({ days: wholeNumber(query, 'days', { fallback: DEFAULT_DAYS, max: MAX_DAYS }) }),
    },
  ];
}

function questionRoutes({ traffic }: UseParts): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/approvals',
      operation: 'listQuestions',
      summary: 'Questions that wait for an answer: approvals, elicitations and sampling, oldest first.',
      answer: object({ approvals: list(ref('Question')) }),
      handle: () => ({ approvals: traffic.approvalQueue.list() }),
    },
    {
      method: 'POST',
      path: '/api/approvals/{id}',
      operation: 'answerQuestion',
      summary: 'Answer one. An answer that does not fit is refused, and the question stays.',
      body: 'Answer',
      answer: object({ id: text, answer: text }),
      fails: [404],
      handle: async ({ params, body }) => {
        const id = params['id'] ?? '';
        const answer = String(body['answer']);
        const { rule, content } = body;
        const isTaken =
          typeof rule === 'string' && answer === 'allow-always'
            ? await traffic.allowBy(id, rule)
            : traffic.approvalQueue.answer(id, { answer, content }) !== undefined;
        if (!isTaken) {
          throw refusal(404, `No question called ${JSON.stringify(id)} waits here`, {
            hint: 'It was answered already, is no longer needed, or is asked elsewhere.',
          });
        }
        return { id, answer };
      },
    },
  ];
}

function eventsRoute({ traffic, events }: UseParts): Route {
  return {
    method: 'GET',
    path: '/api/events',
    operation: 'streamEvents',
    summary: `Server-sent events: all events of the host (${EVENT_NAMES.join(', ')}), and those of this API (${PAGE_EVENTS.join(', ')}). Last-Event-ID resumes; the event missed reports that too many were missed.`,
    stream: (request, response) => {
      if (events.isFull) throw refusal(429, 'Too many readers', { headers: { 'retry-after': '5' } });
      const id = request.headers['last-event-id'];
      events.stream(response, typeof id === 'string' ? id : undefined, traffic.approvalQueue.addReader());
    },
  };
}
