/** Routes questions of servers and of our own policy to the person behind one client (SRV-2, CAL-3). */

import { randomUUID } from 'node:crypto';
import type { ApprovalAnswer, ApprovalRequest, Approve, SessionOptions } from '../call/session.ts';
import type { QuestionId } from '../connection/open-questions.ts';
import { methodNotFound } from '../connection/peer.ts';
import type {
  ElicitAnswer,
  ElicitRequest,
  Root,
  RootsRequest,
  SampleRequest,
} from '../connection/questions.ts';
import { noToolUse, usesTools } from '../connection/questions-sample.ts';
import { type ClientInfo, canElicit, FIRST_MODE_VERSION, type Params } from '../endpoint/client-era.ts';
import { missingCapability } from '../endpoint/rpc-failure.ts';
import type { Work } from '../endpoint/work.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { type Clock, ticksOf } from '../lib/clock.ts';
import { isRecord } from '../lib/json.ts';
import { RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';
import { reasonWithoutRule } from '../policy/approval.ts';
import { approvalMessage, approvalMeta, elicitMessage, sampleParams, serverMeta } from './attribution.ts';

/** How long a client may take to return its roots. */
const ROOTS_MS = 10_000;

/** Receives questions whose client cannot ask its own user, for a person who looks at the page. */
export interface QuestionQueue {
  /** Whether a person has the page open. */
  readonly isAttended: boolean;
  readonly approve: Approve;
  readonly elicit: NonNullable<SessionOptions['elicit']>;
  readonly sample: NonNullable<SessionOptions['sample']>;
}

interface QuestionedClient {
  /** Undefined if there is no approval queue, or no person looks at it. */
  readonly approvalQueue: QuestionQueue | undefined;
  /** Returns the request that a question belongs to; undefined if there is none, or it could be another client's. */
  workFor(server: string | undefined, signal: AbortSignal | undefined): Work | undefined;
  /** Returns a way to ask outside of any request; undefined if the client does not support it. */
  outside?(): Promise<Pick<Work, 'clientInfo' | 'ask'> | undefined>;
  readonly clock: Clock;
  /** The client is one of our hosts, with one server: it attributes questions and approves calls itself. */
  readonly isHost?: boolean | undefined;
  /** The client must not learn the text of rules: they can name servers outside of its profile. */
  readonly hidesRules?: boolean | undefined;
}

/** Returns the callbacks of a session whose person is behind a client of the gateway. */
export function questionsOf(client: QuestionedClient): SessionOptions {
  // One literal, without a spread: stateless clients create one for each request, and V8 is slow to add to a copy.
  return {
    approve: client.isHost === true ? undefined : (request, id) => approve(client, request, id),
    elicit: (request, id) => elicit(client, request, id),
    sample: (request, id) => sample(client, request, id),
    // Whether the client supports them is decided by the request that is asked about.
    sampling: { tools: true, context: true },
    roots: (request) => roots(client, request),
  };
}

async function elicit(
  client: QuestionedClient,
  request: ElicitRequest,
  id: QuestionId,
): Promise<ElicitAnswer> {
  const { server, mode, signal, key } = request;
  const work = client.workFor(server, signal);
  // No person was asked, so none declined.
  if (work === undefined) return { action: 'cancel' };
  if (!canElicit(work.clientInfo, mode)) {
    if (client.approvalQueue !== undefined) return client.approvalQueue.elicit(request, id);
    // A legacy server gets an answer it can continue with; the error for a modern client names the missing
    // capability.
    if (work.clientInfo.era === 'modern') {
      work.fail(missingCapability('elicitation', mode === 'url' ? { url: {} } : {}));
    }
    return { action: 'cancel' };
  }
  const params = elicitParams(client, request, work.clientInfo);
  const ask = async (until: AbortSignal | undefined): Promise<ElicitAnswer> =>
    asElicitAnswer(await work.ask('elicitation/create', params, until, key));
  const { approvalQueue, clock } = client;
  if (approvalQueue === undefined) return ask(signal);
  return askWithPage(work, {
    client: ask,
    page: async (until) => approvalQueue.elicit({ ...request, signal: until }, id),
    isAccepted: ({ action }) => action === 'accept',
    signal,
    clock,
  });
}

/** Returns the request in the form of the client's revision. */
function elicitParams(client: QuestionedClient, request: ElicitRequest, clientInfo: ClientInfo): Params {
  const { server, mode, schema, url, elicitationId, _meta } = request;
  const page =
    // The modern era has no ids of pages; 2025-11-25 requires one.
    clientInfo.era === 'modern' ? { url } : { url, elicitationId: elicitationId ?? randomUUID() };
  return {
    ...(clientInfo.version >= FIRST_MODE_VERSION ? { mode } : {}),
    message: client.isHost === true ? request.message : elicitMessage(request),
    ...(mode === 'form' ? { requestedSchema: schema } : page),
    _meta: { ..._meta, ...serverMeta(server) },
  };
}

/** A modern client is asked in the response to its own request, which cannot be cancelled. */
function askWithPage<T>({ clientInfo }: Work, asked: Asked<T>): Promise<T> {
  return clientInfo.era === 'legacy' ? askBoth(asked) : askInTurn(asked);
}

async function sample(client: QuestionedClient, request: SampleRequest, id: QuestionId): Promise<unknown> {
  const { server, params, signal, key } = request;
  const work = client.workFor(server, signal);
  if (work === undefined || !isRecord(work.clientInfo.capabilities['sampling'])) {
    if (work !== undefined && client.approvalQueue !== undefined)
      return client.approvalQueue.sample(request, id);
    if (work?.clientInfo.era === 'modern') work.fail(missingCapability('sampling'));
    throw new PlugboardError('PROTOCOL_ERROR', 'The connected client offers no completions', {
      server,
      detail: { rpcCode: RPC_METHOD_NOT_FOUND },
    });
  }
  if (usesTools(params) && !isRecord(work.clientInfo.capabilities['sampling']['tools'])) throw noToolUse();
  const named = client.isHost === true ? params : sampleParams(server, params);
  return work.ask('sampling/createMessage', named, signal, key);
}

/** Rejects with METHOD_NOT_FOUND if the client does not support roots, and otherwise if it cannot be asked now. */
async function roots(client: QuestionedClient, { server, isAtWork }: RootsRequest): Promise<readonly Root[]> {
  const work = isAtWork ? client.workFor(server, undefined) : await client.outside?.();
  if (work === undefined)
    throw new PlugboardError('PROTOCOL_ERROR', 'The client cannot be asked now', { server });
  if (!isRecord(work.clientInfo.capabilities['roots'])) throw methodNotFound('roots/list');
  const ask = (signal?: AbortSignal): Promise<unknown> => work.ask('roots/list', {}, signal);
  // A modern client answers all questions of a round at once, and one of them may be for a person.
  const answer = work.clientInfo.era === 'modern' ? await ask() : await within(client.clock, ask);
  const list = isRecord(answer) && Array.isArray(answer['roots']) ? answer['roots'] : [];
  return list.flatMap((root: unknown) => {
    if (!isRecord(root) || typeof root['uri'] !== 'string') return [];
    return [{ uri: root['uri'], ...(typeof root['name'] === 'string' ? { name: root['name'] } : {}) }];
  });
}

/**
 * Applies a time limit: roots need no person, so a client that does not respond soon will not, and calls must not
 * wait for it.
 */
async function within<T>(clock: Clock, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const limit = new AbortController();
  const stop = clock.after(ROOTS_MS, () => {
    limit.abort(
      new PlugboardError('TIMEOUT', `The client did not answer roots/list within ${ROOTS_MS / 1000} s`),
    );
  });
  try {
    return await ask(limit.signal);
  } finally {
    stop();
  }
}

/**
 * A client can allow for its session at most: a permanent rule is a person's decision at the terminal or the page
 * (A30).
 */
type ClientAnswer = Exclude<ApprovalAnswer, 'allow-always'>;

const ANSWERS: Readonly<Record<string, ClientAnswer>> = {
  'Allow once': 'allow',
  'Allow for this session': 'allow-session',
  Deny: 'deny',
};
/** Offered by 0.1.0; clients written for it may still send it. */
const ALWAYS = 'Always allow';

async function approve(
  client: QuestionedClient,
  request: ApprovalRequest,
  id: QuestionId,
): Promise<ApprovalAnswer> {
  const { server, tool, askRule: rule, signal } = request;
  const reason =
    client.hidesRules === true
      ? reasonWithoutRule({ kind: 'ask', reason: request.reason, rule })
      : request.reason;
  const work = client.workFor(undefined, signal);
  if (work === undefined || !canElicit(work.clientInfo, 'form')) {
    if (client.approvalQueue !== undefined) return client.approvalQueue.approve(request, id);
    throw new PlugboardError('APPROVAL_REQUIRED', `${server}/${tool} must be approved: ${reason}`, {
      server,
      hint: 'This client cannot ask its user, and the page is not open.',
    });
  }
  const ask = (until: AbortSignal | undefined): Promise<ApprovalAnswer> =>
    approveBy(work, { ...request, reason }, until);
  const { approvalQueue, clock } = client;
  if (approvalQueue === undefined) return ask(signal);
  return askWithPage(work, {
    client: ask,
    page: async (until) => approvalQueue.approve({ ...request, signal: until }, id),
    isAccepted: (answer) => answer !== 'deny' && answer !== 'cancel',
    signal,
    clock,
  });
}

async function approveBy(
  work: Work,
  request: ApprovalRequest,
  signal: AbortSignal | undefined,
): Promise<ClientAnswer> {
  const answer = asElicitAnswer(
    await work.ask(
      'elicitation/create',
      {
        ...(work.clientInfo.version >= FIRST_MODE_VERSION ? { mode: 'form' } : {}),
        message: approvalMessage(request),
        requestedSchema: {
          type: 'object',
          properties: { answer: { type: 'string', title: 'Answer', enum: Object.keys(ANSWERS) } },
          required: ['answer'],
        },
        _meta: approvalMeta(request),
      },
      signal,
    ),
  );
  if (answer.action === 'cancel') return 'cancel';
  const chosen = answer.action === 'accept' ? answer.content?.['answer'] : undefined;
  if (chosen === ALWAYS) return 'allow-session';
  return typeof chosen === 'string' && Object.hasOwn(ANSWERS, chosen) ? (ANSWERS[chosen] ?? 'deny') : 'deny';
}

function asElicitAnswer(answer: unknown): ElicitAnswer {
  const { action, content, _meta }: Params = isRecord(answer) ? answer : {};
  const meta = isRecord(_meta) ? { _meta } : {};
  if (action === 'accept') return { action, ...(isRecord(content) ? { content } : {}), ...meta };
  // An answer other than the three is not a refusal by a person.
  return { action: action === 'decline' ? 'decline' : 'cancel', ...meta };
}

// Asking a client's user and the page: the first answer that a person can have given is used. Agents that run without a
// terminal declare that they can ask their user, and then refuse every question at once. A refusal that comes sooner
// than a person can read the question is therefore not used while a page is open.

/** A refusal that comes sooner was not given by a person. */
const UNATTENDED_MS = 1_000;

export interface Asked<T> {
  readonly client: (signal: AbortSignal) => Promise<T>;
  readonly page: (signal: AbortSignal) => Promise<T>;
  readonly isAccepted: (answer: T) => boolean;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
}

/**
 * For a client that cannot be asked in parallel with the page: it is asked first, and the page if no person can have
 * answered.
 */
export async function askInTurn<T>({
  client,
  page,
  isAccepted,
  signal = new AbortController().signal,
  clock,
}: Asked<T>): Promise<T> {
  const askedAt = ticksOf(clock);
  const answer = await client(signal);
  return isAccepted(answer) || ticksOf(clock) - askedAt >= UNATTENDED_MS ? answer : page(signal);
}

/** For a client whose question can be cancelled: both are asked at the same time. */
export function askBoth<T>({ client, page, isAccepted, signal, clock }: Asked<T>): Promise<T> {
  const over = new AbortController();
  const both = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  const askedAt = ticksOf(clock);
  return new Promise<T>((resolve, reject) => {
    const settle = (end: () => void): void => {
      end();
      over.abort();
    };
    /** The end of the side that gave up first; used if the other gives up too. */
    let first: (() => void) | undefined;
    const giveUp = (end: () => void): void => {
      if (first === undefined) first = end;
      else settle(first);
    };
    client(both).then(
      (answer) => {
        const byPerson = isAccepted(answer) || ticksOf(clock) - askedAt >= UNATTENDED_MS;
        if (byPerson) settle(() => resolve(answer));
        else giveUp(() => resolve(answer));
      },
      (error: unknown) => giveUp(() => reject(asPlugboardError(error))),
    );
    page(both).then(
      (answer) => settle(() => resolve(answer)),
      (error: unknown) => giveUp(() => reject(asPlugboardError(error))),
    );
  });
}
