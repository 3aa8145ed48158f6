/**
 * Answers questions of servers: finds the session whose work a question is about, parses the question, and calls that
 * session's callback. The path from a server to a client is listed in ARCHITECTURE.md.
 *
 * An invalid answer never reaches the server: the reason is logged, and the answer is `cancel`. Only a person can
 * decline.
 */

import type { Connection } from '../connection/connection.ts';
import { modernCapabilities } from '../connection/eras.ts';
import { cleanMeta, type HandedOn } from '../connection/handed-on.ts';
import { type OpenQuestions, withSignal } from '../connection/open-questions.ts';
import { methodNotFound, type Params } from '../connection/peer.ts';
import {
  type Asked,
  canElicit,
  capabilitiesOf,
  type ElicitAnswer,
  type ElicitRequest,
  type Questioned,
  readUrl,
} from '../connection/questions.ts';
import { readForm } from '../connection/questions-form.ts';
import {
  createSampleLimits,
  faultOfSample,
  readSampleParams,
  type SampleCount,
  type SampleLimits,
} from '../connection/questions-sample.ts';
import type { AnswerQuestion } from '../connection/rounds.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { signalOf } from '../lib/cancellation.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/json.ts';
import { RPC_INTERNAL_ERROR, RPC_INVALID_PARAMS } from '../lib/json-rpc.ts';
import { clean } from '../policy/clean.ts';
import type { HiddenReport } from '../policy/once-report.ts';
import type { Call } from './call.ts';
import { rootsUnknown } from './roots-router.ts';
import type { Session } from './session.ts';
import type { ServerWork, SessionWork } from './session-work.ts';

const MAX_MESSAGE_CHARS = 8_192;
const MAX_ID_CHARS = 512;
const ASKS_FOR_SECRET =
  'It asks for something like a password or a key. Servers must not ask for that in a form: whatever is typed goes to them as it is.';
const KEY = /^[\w.:/-]{1,128}$/;
const CANCELLED: ElicitAnswer = { action: 'cancel' };

export interface QuestionsOptions {
  /**
   * Declared to servers: the kinds of questions that the host itself can answer, and those that its sessions will be
   * able to.
   */
  readonly declared: Questioned;
  /** The session that is asked about work without a session. */
  readonly host: Session;
  readonly work: () => SessionWork;
  readonly openQuestions: OpenQuestions;
  readonly clock: Clock;
  readonly log: (server: string, level: 'warning' | 'error', message: string) => void;
  readonly hidden: HiddenReport;
  readonly openUrl: ((url: string) => void | Promise<void>) | undefined;
}

/** One question of a server, and the session that is asked. */
interface Put {
  readonly server: string;
  readonly connection: Connection | undefined;
  readonly params: Params;
  readonly asked: Asked;
  /** The call that the question belongs to, if known. */
  readonly call?: (SampleCount & Pick<ServerWork, 'id'>) | undefined;
  readonly signal: AbortSignal | undefined;
  /** The part of `signal` that the caller or the server gave. */
  readonly given: AbortSignal | undefined;
  /** The server's key of the question. */
  readonly key?: string | undefined;
}

export class Questions {
  readonly #options: QuestionsOptions;
  readonly #limits: SampleLimits;
  readonly #pages = new OpenPages();

  constructor(options: QuestionsOptions) {
    this.#options = options;
    this.#limits = createSampleLimits(options.clock);
  }

  /** Returns the handler for questions of one process. */
  of(connection: Connection): AnswerQuestion {
    return (method, params, signal, key, work) => {
      const { inFlight, forwardedTasks } = this.#options.work();
      const call =
        forwardedTasks.related(connection, params)?.questionWork ?? inFlight.workOf(connection, signal, work);
      if (method === 'roots/list') return this.#roots(connection, call?.session);
      const isModern = connection.negotiated?.era === 'modern';
      const given = untilAny(signal, call === undefined ? undefined : signalOf(call));
      // A legacy server asks in a request, whose signal already includes this.
      const until = isModern ? untilAny(given, connection.live?.peer.over) : given;
      const asked = call?.session ?? this.#options.host;
      const answer = this.#ask(method, {
        server: connection.name,
        connection,
        params,
        asked,
        call,
        signal: until,
        given,
        key,
      });
      if (!isModern) return answer.catch(forServersOnly);
      return call === undefined ? answer : inFlight.waitFor(call, answer);
    };
  }

  /** Answers a question that came with the response to a call: with its task, or with its error. */
  answer(call: Call, method: string, params: Params, key?: string): Promise<unknown> {
    const { connection, session } = call;
    if (method === 'roots/list') return this.#roots(connection, session);
    const server = call.tool?.server ?? '';
    const signal = signalOf(call);
    return this.#ask(method, {
      server,
      connection,
      params,
      asked: session,
      call,
      signal,
      given: signal,
      key,
    });
  }

  /**
   * Returns the fields that a request for a session forwards to its server: a modern one gets the capabilities of
   * this session's client.
   */
  handedOn(connection: Connection, session: Session, given: HandedOn | undefined): HandedOn | undefined {
    // Fast path: nearly every call to a legacy server forwards nothing.
    if (connection.negotiated?.era === 'legacy')
      return (given?.meta ?? given?.params) === undefined ? undefined : given;
    const capabilities = given?.capabilities ?? modernCapabilities(declaredFor(session));
    if (capabilities['elicitation'] === undefined || this.#options.declared.elicitation !== 'never')
      return capabilities === given?.capabilities ? given : { ...given, capabilities };
    const { elicitation: _elicitation, ...others } = capabilities;
    return { ...given, capabilities: others };
  }

  /** Returns the session that was asked to open a page that its server reports as done; undefined if there is none. */
  pageDone(connection: Connection, elicitationId: string): string | undefined {
    return this.#pages.done(connection, elicitationId);
  }

  async #ask(method: string, put: Put): Promise<unknown> {
    switch (method) {
      case 'elicitation/create':
        if (this.#options.declared.elicitation === 'never') break;
        if (!canElicit(this.#options.declared) && !canElicit(put.asked)) break;
        switch (put.params['mode'] ?? 'form') {
          case 'url':
            return this.#elicitUrl(put);
          case 'form':
            return this.#elicitForm(put);
        }
        throw this.#refuse(put, 'question', 'its mode must be form or url');
      case 'sampling/createMessage': {
        const { sample } = put.asked;
        if (sample === undefined) break;
        const leave = this.#limits.enter(put.server, put.call);
        return this.#complete(put, sample).finally(leave);
      }
    }
    throw methodNotFound(method);
  }

  async #roots(connection: Connection | undefined, session: Session | undefined): Promise<unknown> {
    if ((this.#options.declared.roots ?? session?.roots) === undefined) throw methodNotFound('roots/list');
    if (connection === undefined) throw rootsUnknown();
    const roots = await this.#options.work().router.roots.answer(connection, session);
    if (roots === undefined) throw methodNotFound('roots/list');
    if (roots === 'unknown') throw rootsUnknown();
    return { roots };
  }

  async #elicitForm(put: Put): Promise<ElicitAnswer> {
    const { params, server } = put;
    const form = readForm(params['requestedSchema']);
    if ('refused' in form) throw this.#refuse(put, 'form', form.refused);
    const answer = await this.#elicit(put, {
      mode: 'form',
      message: this.#messageOf(put, 'form'),
      schema: form.schema,
      ...(form.asksForSecret ? { warning: ASKS_FOR_SECRET } : {}),
    });
    if (answer.action !== 'accept') return answer;
    const completed = form.complete(answer.content);
    if ('content' in completed) return { ...answer, content: completed.content };
    const why = completed.problems.join('; ');
    this.#options.log(
      server,
      'error',
      `the answer to a form does not fit it (${why}): the form was cancelled`,
    );
    return CANCELLED;
  }

  async #elicitUrl(put: Put): Promise<ElicitAnswer> {
    const { params, server, connection, asked } = put;
    const { elicitationId: id } = params;
    const shown = readUrl(params['url']);
    if ('refused' in shown) throw this.#refuse(put, 'url', shown.refused);
    if (id !== undefined && !isElicitationId(id))
      throw this.#refuse(put, 'url', 'its elicitationId is not an id');
    // The page may be done before its answer has arrived.
    if (id !== undefined && connection !== undefined) this.#pages.asked(connection, id, asked.id);
    const { content: _none, ...answer } = await this.#elicit(put, {
      mode: 'url',
      message: this.#messageOf(put, 'url'),
      ...(id === undefined ? {} : { elicitationId: id }),
      ...shown,
    });
    if (answer.action !== 'accept') return answer;
    // Opened only here, after the person accepted.
    await Promise.resolve(this.#options.openUrl?.(shown.url)).catch((error: unknown) => {
      const why = asPlugboardError(error).message;
      this.#options.log(server, 'warning', `${shown.host} could not be opened: ${why}`);
    });
    return answer;
  }

  /** Asks the person. A session that cannot be asked does not decline. */
  async #elicit(
    { server, asked, call, signal, given: own, key, params }: Put,
    question: Omit<ElicitRequest, 'server' | 'session' | 'signal' | 'key'>,
  ): Promise<ElicitAnswer> {
    const { elicit } = asked;
    if (elicit === undefined || !canElicit(asked)) return CANCELLED;
    const meta = cleanMeta(params['_meta']);
    const request = { server, ...question, ...keyOf(key), ...meta, session: asked.id };
    const put = this.#options.openQuestions.put({ kind: 'elicitation', ...request }, signal, call?.id);
    const questionWork = this.#asked(server, 'elicit', () => elicit(withSignal(request, put, own), put.id));
    const answer = await put.answered(questionWork, (given) =>
      String(isRecord(given) ? given['action'] : given),
    );
    if (isRecord(answer)) {
      const { action, content } = answer;
      const answered = cleanMeta(answer['_meta']);
      if (action === 'decline' || action === 'cancel') return { action, ...answered };
      if (action === 'accept') return { action, ...(isRecord(content) ? { content } : {}), ...answered };
    }
    this.#options.log(server, 'error', 'elicit() must return an action: accept, decline or cancel');
    return CANCELLED;
  }

  async #complete(
    { server, params, asked, call, signal, given: own, key }: Put,
    sample: NonNullable<Questioned['sample']>,
  ): Promise<unknown> {
    const read = readSampleParams(params, asked.sampling);
    const { _meta, ...plain } = read;
    const request = { server, params: { ...plain, ...cleanMeta(_meta) }, ...keyOf(key), session: asked.id };
    const put = this.#options.openQuestions.put({ kind: 'sampling', ...request }, signal, call?.id);
    const questionWork = this.#asked(server, 'sample', () => sample(withSignal(request, put, own), put.id));
    const answer = await put.answered(questionWork, () => 'completed');
    const fault = faultOfSample(answer);
    if (fault === undefined && isRecord(answer)) {
      const { _meta: answered, ...rest } = answer;
      return { ...rest, ...cleanMeta(answered) };
    }
    this.#options.log(server, 'error', `sample() returned something that is not a completion: ${fault}`);
    throw new PlugboardError('PROTOCOL_ERROR', 'The completion failed', {
      detail: { rpcCode: RPC_INTERNAL_ERROR },
    });
  }

  /** Calls a callback of the program. Its exception is logged; the server does not receive the text. */
  async #asked<T>(server: string, name: 'elicit' | 'sample', ask: () => T | Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (thrown) {
      if (thrown instanceof PlugboardError) throw thrown;
      const why = thrown instanceof Error ? thrown.message : String(thrown);
      this.#options.log(server, 'error', `${name}() failed: ${why}`);
      throw new PlugboardError(
        'USAGE',
        `The question of ${server} was not answered: ${name}() failed: ${why}`,
        {
          server,
          hint: 'It must return an answer instead of throwing if it cannot ask.',
          cause: thrown,
        },
      );
    }
  }

  #messageOf(put: Put, mode: string): string {
    const { message } = put.params;
    if (message === undefined || message === null) return '';
    if (typeof message !== 'string') throw this.#refuse(put, mode, 'its message is not a text');
    if (clean(message) !== message) this.#options.hidden(put.server, 'its questions');
    return clean(message, { max: MAX_MESSAGE_CHARS });
  }

  #refuse({ server }: Put, mode: string, why: string): PlugboardError {
    this.#options.log(server, 'warning', `a ${mode} elicitation was refused: ${why}`);
    return new PlugboardError('PROTOCOL_ERROR', `The ${mode} elicitation is refused: ${why}`, {
      detail: { rpcCode: RPC_INVALID_PARAMS },
    });
  }
}

/** Converts an error for a legacy server, which gets it as the response: without the text that a callback threw. */
function forServersOnly(thrown: unknown): never {
  if (!(thrown instanceof PlugboardError) || thrown.code !== 'USAGE') throw thrown;
  throw new PlugboardError('PROTOCOL_ERROR', 'The question could not be asked', {
    cause: thrown,
    detail: { rpcCode: RPC_INTERNAL_ERROR },
  });
}

/** Omits an invalid key, because the key is passed on to the client. */
function keyOf(key: string | undefined): { readonly key?: string } {
  return key !== undefined && KEY.test(key) ? { key } : {};
}

function isElicitationId(id: unknown): id is string {
  return typeof id === 'string' && id.length <= MAX_ID_CHARS && clean(id, { multiline: false }) === id;
}

/** A question ends when its server cancels it or disconnects, and when the call that it belongs to has ended. */
function untilAny(one: AbortSignal | undefined, other: AbortSignal | undefined): AbortSignal | undefined {
  if (one === undefined || other === undefined || one === other) return one ?? other;
  return AbortSignal.any([one, other]);
}

/** A session that currently cannot be asked declares neither elicitation nor sampling; its roots are still declared. */
function declaredFor(session: Session): Params {
  if (session.canBeAsked?.() !== false) return capabilitiesOf(session);
  return capabilitiesOf({ ...session, elicit: undefined, sample: undefined });
}

/** Pages remembered per process; the oldest is dropped first. */
const MAX_PAGES = 256;

class OpenPages {
  readonly #asked = new WeakMap<Connection, Map<string, string>>();

  asked(connection: Connection, elicitationId: string, session: string): void {
    const pages = this.#asked.get(connection) ?? new Map<string, string>();
    this.#asked.set(connection, pages);
    pages.delete(elicitationId);
    pages.set(elicitationId, session);
    const [oldest] = pages.keys();
    if (pages.size > MAX_PAGES && oldest !== undefined) pages.delete(oldest);
  }

  /** Returns the id of the session, once for each page. */
  done(connection: Connection, elicitationId: string): string | undefined {
    const pages = this.#asked.get(connection);
    const session = pages?.get(elicitationId);
    pages?.delete(elicitationId);
    return session;
  }
}
