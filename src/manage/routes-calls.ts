/** The routes for calls: making them, those that run, and those of the history. */

import { change } from '../config/edit-config.ts';
import { KEPT_DAYS, MAX_HISTORY_BYTES } from '../history/history-files.ts';
import type { RouteParts } from './all-routes.ts';
import { list, object, ref, text } from './api-schemas.ts';
import { BackgroundCalls, callForPage, type RequestedCall } from './background-calls.ts';
import { CALL_STATES, callFilter, listCalls } from './call-list.ts';
import { limitUpTo, wholeNumber } from './query-values.ts';
import { MAX_KEPT_CALLS } from './recent-calls.ts';
import { type JsonRoute, refusal } from './route.ts';
import type { Traffic } from './traffic.ts';

const DEFAULT_CALLS = 500;

type CallParts = Pick<RouteParts, 'host' | 'session' | 'traffic'>;

export function callRoutes(parts: CallParts): readonly JsonRoute[] {
  const { host, session, traffic } = parts;
  const background = new BackgroundCalls(session, traffic);
  const isKept = (): boolean => host.management.keepsHistory;
  return [
    {
      method: 'POST',
      path: '/api/call',
      operation: 'callTool',
      summary:
        'Call a tool. The same policy applies as everywhere; a call that needs approval waits under /api/approvals. With "wait": false, responds with the ids of the call when it has begun.',
      body: 'NewCall',
      answer: { anyOf: [ref('CallResult'), ref('StartedCall')] },
      fails: [403, 404, 409, 502, 504],
      handle: ({ body, signal }) => {
        const requested = requestedCall(body);
        if (body['wait'] === false) return background.start(requested);
        return callForPage(session, requested, { ...requested.options, signal });
      },
    },
    {
      method: 'GET',
      path: '/api/calls',
      operation: 'listCalls',
      summary:
        'Running calls, then those that ended, newest first; also those of earlier runs, if the history is on.',
      query: {
        limit: limitUpTo(MAX_KEPT_CALLS, DEFAULT_CALLS),
        state: {
          type: 'string',
          enum: CALL_STATES,
          description: 'running, failed (every outcome but ok), or one outcome.',
        },
        client: { type: 'string', description: 'Only of this client.' },
        agent: { type: 'string', description: 'Only of this program, as it identifies itself.' },
        server: { type: 'string', description: 'Only of this server.' },
        tool: { type: 'string', description: 'Only of this tool, by the name that its server gives it.' },
        ref: { type: 'string', description: 'Only those with this ref.' },
        q: {
          type: 'string',
          description: 'Words that the call, its arguments, its result or its error contain.',
        },
        from: { type: 'string', description: 'Began at this time or later.' },
        to: { type: 'string', description: 'Began at this time or earlier.' },
        before: { type: 'string', description: 'Continues a list: next of the page before.' },
      },
      answer: object(
        { calls: list(ref('Call')) },
        { next: { ...text, description: 'Of the next page, which may be empty and have a next again.' } },
      ),
      handle: ({ query }) => {
        const limit = wholeNumber(query, 'limit', { fallback: DEFAULT_CALLS, max: MAX_KEPT_CALLS });
        return listCalls(traffic, callFilter(query, limit), isKept());
      },
    },
    {
      method: 'GET',
      path: '/api/calls/{id}',
      operation: 'getCall',
      summary:
        'One call by its id or key, with its arguments and its result or error if the history has them.',
      answer: ref('CallDetails'),
      fails: [404],
      handle: async ({ params }) => {
        const id = idIn(params, traffic);
        const known = traffic.calls.find(id);
        if (known !== undefined && known.outcome === undefined)
          return { ...known, ...traffic.argumentsOf(known.id) };
        const { history } = traffic;
        const call = (await history?.find(traffic.keyOf(id))) ?? known ?? (await history?.find(id));
        if (call === undefined) throw unknownCall(params);
        return call;
      },
    },
    {
      method: 'GET',
      path: '/api/calls/{id}/result',
      operation: 'getCallResult',
      summary:
        'The whole result of a call that was made with "wait": false, or its error; for the last 50 of them.',
      answer: ref('CallResult'),
      fails: [403, 404, 409, 502, 504],
      handle: ({ params }) => {
        const settled = background.resultOf(idIn(params, traffic));
        if (settled === undefined) throw unknownCall(params);
        if (settled === 'running') throw refusal(409, 'The call still runs');
        if ('error' in settled) throw settled.error;
        return settled.answer;
      },
    },
    {
      method: 'POST',
      path: '/api/calls/{id}/cancel',
      operation: 'cancelCall',
      summary: 'Cancel a running call, of any client; the client gets an error that names the user.',
      answer: object({ id: text, cancelled: { type: 'boolean' } }),
      fails: [404],
      handle: ({ params }) => {
        const id = idIn(params, traffic);
        if (traffic.cancel(id)) return { id, cancelled: true };
        throw refusal(404, 'This call does not run', { hint: 'It has ended, or its id is of another run.' });
      },
    },
    ...historyRoutes(parts, isKept),
  ];
}

function historyRoutes({ host, traffic }: CallParts, isKept: () => boolean): readonly JsonRoute[] {
  const state = async (): Promise<object> => {
    const { history } = traffic;
    return {
      enabled: history !== undefined && isKept(),
      bytes: (await history?.bytes()) ?? 0,
      days: KEPT_DAYS,
      maxBytes: MAX_HISTORY_BYTES,
      ...(history === undefined ? {} : { folder: history.folder }),
      ...(history?.isFailed === true ? { problem: `${history.folder} cannot be written` } : {}),
    };
  };
  return [
    {
      method: 'GET',
      path: '/api/history',
      operation: 'getHistory',
      summary: 'Whether calls are kept with their values, where, and how large the files are.',
      answer: ref('History'),
      handle: state,
    },
    {
      method: 'POST',
      path: '/api/history',
      operation: 'switchHistory',
      summary: 'Switch the history on or off, in config.json; calls that are kept already stay.',
      body: 'HistorySwitch',
      answer: ref('History'),
      fails: [409],
      handle: async ({ body, signal }) => {
        const { home } = host.management;
        const value = body['enabled'] === true ? undefined : false;
        await change(home.config, { home, signal }, () => ({ path: ['history'], value }));
        await host.reload(undefined, { settle: false });
        return state();
      },
    },
    {
      method: 'DELETE',
      path: '/api/history',
      operation: 'clearHistory',
      summary: 'Delete the calls of the history, of all runs.',
      answer: object({ cleared: { const: true } }),
      handle: async () => {
        await traffic.history?.clear();
        return { cleared: true };
      },
    },
  ];
}

function requestedCall(body: Readonly<Record<string, unknown>>): RequestedCall {
  const {
    name,
    arguments: args = {},
    timeoutMs,
    ref: own,
  } = body as {
    readonly name: string;
    readonly arguments?: Readonly<Record<string, unknown>>;
    readonly timeoutMs?: number;
    readonly ref?: string;
  };
  return { name, args, options: { timeoutMs, ref: own } };
}

/** Returns the id of a call in this run for its key; ids and keys of other runs as they are. */
function idIn(params: Readonly<Record<string, string>>, traffic: Traffic): string {
  const given = params['id'] ?? '';
  const prefix = traffic.keyOf('');
  return given.startsWith(prefix) ? given.slice(prefix.length) : given;
}

function unknownCall(params: Readonly<Record<string, string>>): Error {
  return refusal(404, `No call ${JSON.stringify(params['id'])} is kept`, {
    hint: 'The history keeps calls for 7 days, unless it is off or was cleared.',
  });
}
