/** The routes for use: tools, search, calls, pending questions, and events. */

import type { Host } from '../host/host.ts';
import type { HostSession } from '../host/host-session.ts';
import { list, object, ref, type Schema, text } from './api-schemas.ts';
import type { ApprovalQueue } from './approval-queue.ts';
import { EVENT_NAMES, type EventLog } from './event-log.ts';
import { MAX_KEPT_CALLS, type RecentCalls } from './recent-calls.ts';
import { type ApiRequest, type Route, refusal } from './route.ts';

const DEFAULT_RESULTS = 20;
const MAX_RESULTS = 100;
const DEFAULT_CALLS = 500;
const MAX_QUERY_CHARS = 2_000;

export interface UseParts {
  readonly host: Host;
  /** The session of these calls: one for as long as the gateway runs. */
  readonly session: HostSession;
  readonly approvalQueue: ApprovalQueue;
  readonly events: EventLog;
  readonly calls: RecentCalls;
}

export function useRoutes(parts: UseParts): readonly Route[] {
  const { host, calls } = parts;
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
        return { results: wanted.trim() === '' ? [] : await host.search(wanted, { limit }) };
      },
    },
    {
      method: 'POST',
      path: '/api/call',
      operation: 'callTool',
      summary:
        'Call a tool. The same policy applies as everywhere; a call that needs approval waits under /api/approvals.',
      body: 'NewCall',
      answer: ref('CallResult'),
      fails: [403, 404, 409, 502, 504],
      handle: (request) => call(parts.session, request),
    },
    ...questionRoutes(parts.approvalQueue),
    eventsRoute(parts),
    {
      method: 'GET',
      path: '/api/calls',
      operation: 'listCalls',
      summary: 'The last calls and how they went, newest first.',
      query: {
        limit: limitUpTo(MAX_KEPT_CALLS, DEFAULT_CALLS),
      },
      answer: object({ calls: list(ref('Call')) }),
      handle: ({ query }) => ({
        calls: calls.list(wholeNumber(query, 'limit', { fallback: DEFAULT_CALLS, max: MAX_KEPT_CALLS })),
      }),
    },
    {
      method: 'GET',
      path: '/api/stats',
      operation: 'getStats',
      summary: 'The latency of each server, and the tokens that its definitions cost a model.',
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
      handle: () => ({ servers: calls.stats(host), definitionTokens: host.definitionTokens() }),
    },
  ];
}

function limitUpTo(maximum: number, usual: number): Schema & { readonly description: string } {
  return { type: 'integer', minimum: 1, maximum, description: `How many at most (${usual}).` };
}

function questionRoutes(approvalQueue: ApprovalQueue): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/approvals',
      operation: 'listQuestions',
      summary: 'Questions that wait for an answer: approvals, elicitations and sampling, oldest first.',
      answer: object({ approvals: list(ref('Question')) }),
      handle: () => ({ approvals: approvalQueue.list() }),
    },
    {
      method: 'POST',
      path: '/api/approvals/{id}',
      operation: 'answerQuestion',
      summary: 'Answer one. An answer that does not fit is refused, and the question stays.',
      body: 'Answer',
      answer: object({ id: text, answer: text }),
      fails: [404],
      handle: ({ params, body }) => {
        const id = params['id'] ?? '';
        const answer = String(body['answer']);
        if (approvalQueue.answer(id, { answer, content: body['content'] }) === undefined) {
          throw refusal(404, `No question called ${JSON.stringify(id)} waits here`, {
            hint: 'It was answered already, is no longer needed, or is asked elsewhere.',
          });
        }
        return { id, answer };
      },
    },
  ];
}

function eventsRoute({ approvalQueue, events }: UseParts): Route {
  return {
    method: 'GET',
    path: '/api/events',
    operation: 'streamEvents',
    summary: `Server-sent events: all events of the host (${EVENT_NAMES.join(', ')}). Last-Event-ID resumes; the event missed reports that too many were missed.`,
    stream: (request, response) => {
      if (events.isFull) throw refusal(429, 'Too many readers', { headers: { 'retry-after': '5' } });
      const id = request.headers['last-event-id'];
      events.stream(response, typeof id === 'string' ? id : undefined, approvalQueue.addReader());
    },
  };
}

async function call(session: HostSession, { body, signal }: ApiRequest): Promise<unknown> {
  const {
    name,
    arguments: args,
    timeoutMs,
    ref,
  } = body as {
    readonly name: string;
    readonly arguments?: Readonly<Record<string, unknown>>;
    readonly timeoutMs?: number;
    readonly ref?: string;
  };
  let mismatch: readonly string[] | undefined;
  const onMismatch = (problems: readonly string[]): void => {
    mismatch = problems;
  };
  const result = await session.call(name, args ?? {}, { signal, timeoutMs, ref, onMismatch });
  return mismatch === undefined ? result : { ...result, mismatch };
}

function wholeNumber(
  query: URLSearchParams,
  name: string,
  { fallback, max }: { readonly fallback: number; readonly max: number },
): number {
  const given = query.get(name);
  if (given === null) return fallback;
  if (/^[1-9]\d{0,8}$/.test(given) && Number(given) <= max) return Number(given);
  throw refusal(400, `${name} must be a whole number from 1 to ${max}`);
}
