/**
 * What servers may ask of us, in either era, and how each question leaves through what the host was given (CAL-3).
 *
 * An answer that does not fit what was asked never reaches the server: its author reads why in the log, and
 * the server is told that the person declined. Asking again would put the host's fault before the person.
 */

import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord, RPC_INTERNAL_ERROR, RPC_INVALID_PARAMS } from '../lib/json-rpc.ts';
import { clean } from '../policy/clean.ts';
import type { HiddenReport } from '../policy/hidden-report.ts';
import { methodNotFound, type Params } from './peer.ts';
import type { Board, QuestionId } from './questions-board.ts';
import { readForm } from './questions-form.ts';
import { createSampleLimits, faultOfSample, readSampleParams, type SampleCount } from './questions-sample.ts';
import { readUrl } from './questions-url.ts';
import { TASKS_EXTENSION } from './tasks.ts';

const MAX_MESSAGE_CHARS = 8_192;
const MAX_ROOTS = 1_000;
const ASKS_FOR_SECRET =
  'It asks for something like a password or a key. Servers must not ask for that in a form: whatever is typed goes to them as it is.';
const KEY = /^[\w.:/-]{1,128}$/;

export interface ElicitRequest {
  readonly server: string;
  readonly mode: 'form' | 'url';
  readonly message: string;
  /** The fields of a form, flat; every text in it is cleaned. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** Not opened until the answer is `accept`, and then by `openUrl` if the host has one, else by you. */
  readonly url?: string;
  /** What the server calls this question among those of one request, where it has a name for it. */
  readonly key?: string;
  /** Where `url` leads: show it. */
  readonly host?: string;
  /** What the person has to be told before saying yes: of an address, or of a form that asks for a secret. */
  readonly warning?: string;
  readonly session: string;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
}

export interface ElicitAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
}

export interface Root {
  readonly uri: string;
  readonly name?: string;
}

export interface SampleRequest {
  readonly server: string;
  /** The protocol's `sampling/createMessage`, with `maxTokens` within our ceiling. */
  readonly params: Params;
  /** As for an elicitation. */
  readonly key?: string;
  readonly session: string;
  readonly signal?: AbortSignal;
}

/** How the person, the model and the project are reached. What is left out is refused. */
export interface Questioned {
  readonly elicit?:
    | ((request: ElicitRequest, id: QuestionId) => ElicitAnswer | Promise<ElicitAnswer>)
    | undefined;
  /** `never`: no question of a server reaches the person, whatever `elicit` could do. */
  readonly elicitation?: 'ask' | 'never' | undefined;
  readonly sample?: ((request: SampleRequest, id: QuestionId) => unknown) | undefined;
  readonly roots?: readonly Root[] | (() => readonly Root[] | Promise<readonly Root[]>) | undefined;
}

/** Who is asked: a session. */
export interface Asked extends Questioned {
  readonly id: string;
}

export interface Questions {
  /** What we tell servers that they may ask. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  answer(server: string, method: string, params: Params, to: AnswerTo): Promise<unknown>;
}

export interface AnswerTo {
  readonly asked: Asked;
  /** The call that the question belongs to, where that is known. */
  readonly call?: SampleCount | undefined;
  readonly signal?: AbortSignal | undefined;
  /** What the server calls its question. */
  readonly key?: string | undefined;
}

export interface QuestionsOptions {
  /** What is declared to servers: what the host itself can answer, and what its sessions will be able to. */
  readonly declared: Questioned;
  readonly board: Board;
  readonly clock: Clock;
  readonly log: (server: string, level: 'warning' | 'error', message: string) => void;
  readonly hidden: HiddenReport;
  readonly openUrl: ((url: string) => void | Promise<void>) | undefined;
}

export function createQuestions(options: QuestionsOptions): Questions {
  const { declared } = options;
  const limits = createSampleLimits(options.clock);
  return {
    capabilities: {
      ...(canElicit(declared) ? { elicitation: { form: {}, url: {} } } : {}),
      ...(declared.sample === undefined ? {} : { sampling: {} }),
      ...(declared.roots === undefined ? {} : { roots: {} }),
      extensions: { [TASKS_EXTENSION]: {} },
    },
    async answer(server, method, params, to) {
      switch (method) {
        case 'elicitation/create':
          if (!canElicit(declared)) break;
          switch (params['mode'] ?? 'form') {
            case 'url':
              return elicitUrl(options, server, params, to);
            case 'form':
              return elicitForm(options, server, params, to);
          }
          throw refuse(options, server, 'question', 'its mode has to be form or url');
        case 'sampling/createMessage': {
          const { sample } = to.asked;
          if (sample === undefined) break;
          const leave = limits.enter(server, to.call);
          return complete(options, server, params, to, sample).finally(leave);
        }
        case 'roots/list':
          if (declared.roots === undefined) break;
          return { roots: await rootsOf(to.asked.roots ?? []) };
      }
      throw methodNotFound(method);
    },
  };
}

function canElicit({ elicit, elicitation }: Questioned): boolean {
  return elicit !== undefined && elicitation !== 'never';
}

async function elicitForm(
  options: QuestionsOptions,
  server: string,
  params: Params,
  to: AnswerTo,
): Promise<ElicitAnswer> {
  const form = readForm(params['requestedSchema']);
  if ('refused' in form) throw refuse(options, server, 'form', form.refused);
  const answer = await elicit(options, server, to, {
    mode: 'form',
    message: messageOf(options, server, 'form', params),
    schema: form.schema,
    ...(form.asksForSecret ? { warning: ASKS_FOR_SECRET } : {}),
  });
  if (answer.action !== 'accept') return answer;
  const completed = form.complete(answer.content);
  if ('content' in completed) return { action: 'accept', content: completed.content };
  const why = completed.problems.join('; ');
  options.log(
    server,
    'error',
    `elicit() gave an answer that does not fit the form (${why}): it was declined`,
  );
  return { action: 'decline' };
}

async function elicitUrl(
  options: QuestionsOptions,
  server: string,
  params: Params,
  to: AnswerTo,
): Promise<ElicitAnswer> {
  const shown = readUrl(params['url']);
  if ('refused' in shown) throw refuse(options, server, 'url', shown.refused);
  const answer = await elicit(options, server, to, {
    mode: 'url',
    message: messageOf(options, server, 'url', params),
    ...shown,
  });
  if (answer.action !== 'accept') return answer;
  // Only here, after a yes.
  await Promise.resolve(options.openUrl?.(shown.url)).catch((error: unknown) => {
    options.log(server, 'warning', `${shown.host} could not be opened: ${asPlugboardError(error).message}`);
  });
  return { action: 'accept' };
}

/** Asks the person; anything but one of the three actions is a decline. */
async function elicit(
  options: QuestionsOptions,
  server: string,
  to: AnswerTo,
  question: Omit<ElicitRequest, 'server' | 'session' | 'signal' | 'key'>,
): Promise<ElicitAnswer> {
  const { asked, signal } = to;
  if (asked.elicit === undefined || asked.elicitation === 'never') return { action: 'decline' };
  const { elicit: put } = asked;
  const request = { server, ...question, ...keyOf(to), session: asked.id };
  const answer = await options.board.ask(
    { kind: 'elicitation', ...request },
    (id) => put(signal === undefined ? request : { ...request, signal }, id),
    (given) => String(isRecord(given) ? given['action'] : given),
    signal,
  );
  if (isRecord(answer)) {
    const { action, content } = answer;
    if (action === 'decline' || action === 'cancel') return { action };
    if (action === 'accept') return { action, ...(isRecord(content) ? { content } : {}) };
  }
  options.log(server, 'error', 'elicit() has to answer with an action: accept, decline or cancel');
  return { action: 'decline' };
}

async function complete(
  options: QuestionsOptions,
  server: string,
  params: Params,
  to: AnswerTo,
  sample: NonNullable<Questioned['sample']>,
): Promise<unknown> {
  const { asked, signal } = to;
  const request = { server, params: readSampleParams(params), ...keyOf(to), session: asked.id };
  const answer = await options.board.ask(
    { kind: 'sampling', ...request },
    async (id) => sample(signal === undefined ? request : { ...request, signal }, id),
    () => 'completed',
    signal,
  );
  const fault = faultOfSample(answer);
  if (fault === undefined) return answer;
  options.log(server, 'error', `sample() gave something that is no completion: ${fault}`);
  throw new PlugboardError('PROTOCOL_ERROR', 'the completion failed', {
    detail: { rpcCode: RPC_INTERNAL_ERROR },
  });
}

/** The roots of a session, bounded. */
export async function rootsOf(roots: NonNullable<Questioned['roots']>): Promise<readonly Root[]> {
  const list = typeof roots === 'function' ? await roots() : roots;
  return list.slice(0, MAX_ROOTS);
}

/** A name that could not be one is none: it goes on to whoever answers. */
function keyOf({ key }: AnswerTo): { readonly key?: string } {
  return key !== undefined && KEY.test(key) ? { key } : {};
}

function messageOf(options: QuestionsOptions, server: string, mode: string, { message }: Params): string {
  if (message === undefined || message === null) return '';
  if (typeof message !== 'string') throw refuse(options, server, mode, 'its message is not a text');
  if (clean(message) !== message) options.hidden(server, 'its questions');
  return clean(message, { max: MAX_MESSAGE_CHARS });
}

function refuse(options: QuestionsOptions, server: string, mode: string, why: string): PlugboardError {
  options.log(server, 'warning', `a ${mode} elicitation was refused: ${why}`);
  return new PlugboardError('PROTOCOL_ERROR', `the ${mode} elicitation is refused: ${why}`, {
    detail: { rpcCode: RPC_INVALID_PARAMS },
  });
}
