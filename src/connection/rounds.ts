/**
 * Multi-round-trip requests of the modern era: the server responds with questions, we repeat the request with answers.
 */

import { PlugboardError } from '../errors.ts';
import { signalOf } from '../lib/cancellation.ts';
import { isRecord } from '../lib/json.ts';
import type { Params, Peer, RequestOptions } from './peer.ts';

/** A server that still asks after this many rounds is looping. */
export const MAX_ROUNDS = 16;
const MAX_QUESTIONS_PER_ROUND = 32;

/** Answers one question of a server: elicitation, sampling or roots. */
export type AnswerQuestion = (
  method: string,
  params: Params,
  signal?: AbortSignal,
  /** The server's key of the question, if it has one. */
  key?: string,
  /** `RequestOptions.owner` of the request whose response contains this question. */
  owner?: object,
) => Promise<unknown>;

/** Sends a request, and answers the questions of the server until its result arrives. */
export async function requestWithRounds(
  peer: Peer,
  method: string,
  params: Params,
  options: RequestOptions,
  answer: AnswerQuestion,
): Promise<unknown> {
  const startedAt = peer.now();
  const first = await peer.request(method, params, options);
  return asksForInput(first)
    ? finishRounds(peer, { method, params, options, answer, startedAt, first })
    : first;
}

interface AskingRequest {
  readonly method: string;
  readonly params: Params;
  readonly options: RequestOptions;
  readonly answer: AnswerQuestion;
  readonly startedAt: number;
  readonly first: unknown;
}

/** Answers the questions in a first response, and repeats the request until the result arrives. */
export async function finishRounds(peer: Peer, asking: AskingRequest): Promise<unknown> {
  const { method, params, options, answer, startedAt } = asking;
  let result = asking.first;
  // The total limit applies to all rounds together; the time that a person takes to answer is excluded.
  let leftMs = (options.totalMs ?? Number.POSITIVE_INFINITY) - (peer.now() - startedAt);
  for (let round = 0; asksForInput(result); round += 1) {
    if (round === MAX_ROUNDS) {
      throw new PlugboardError(
        'LIMIT_EXCEEDED',
        `The server asked for more input ${MAX_ROUNDS} times in one request`,
      );
    }
    const inputResponses = await answerAll(result['inputRequests'], answer, options);
    const { requestState } = result;
    const askedAt = peer.now();
    result = await peer.request(
      method,
      {
        ...params,
        ...(inputResponses === undefined ? {} : { inputResponses }),
        // Opaque and possibly signed: sent back unchanged.
        ...(typeof requestState === 'string' ? { requestState } : {}),
      },
      { ...options, totalMs: Math.max(leftMs, 1) },
    );
    leftMs -= peer.now() - askedAt;
  }
  return result;
}

/** Whether a response has questions in place of a result. */
export function asksForInput(result: unknown): result is Record<string, unknown> {
  return isRecord(result) && result['resultType'] === 'input_required';
}

async function answerAll(
  requests: unknown,
  answer: AnswerQuestion,
  options: RequestOptions,
): Promise<Record<string, unknown> | undefined> {
  if (!isRecord(requests)) return undefined;
  const keys = Object.keys(requests);
  if (keys.length > MAX_QUESTIONS_PER_ROUND) {
    throw new PlugboardError('LIMIT_EXCEEDED', `The server asked ${keys.length} questions at once`);
  }
  const signal = signalOf(options);
  const answers = await Promise.all(
    keys.map(async (key): Promise<[string, unknown]> => {
      const request = requests[key];
      if (!isRecord(request) || typeof request['method'] !== 'string') {
        throw new PlugboardError(
          'PROTOCOL_ERROR',
          `The server's question ${JSON.stringify(key)} has no method`,
        );
      }
      const params = isRecord(request['params']) ? request['params'] : {};
      return [key, await answer(request['method'], params, signal, key, options.owner)];
    }),
  );
  return Object.fromEntries(answers);
}
