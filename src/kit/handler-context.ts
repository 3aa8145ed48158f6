/** The context of a handler: reports progress, writes logs, asks the client, and signals cancellation. */

import type { CheckerSource } from '../call/author-check.ts';
import type { Era } from '../connection/eras.ts';
import type { SampleParams, SampleResult } from '../connection/questions-sample.ts';
import { faultOfSample, usesTools } from '../connection/questions-sample.ts';
import { canElicit, FIRST_MODE_VERSION, type Params } from '../endpoint/client-era.ts';
import { missingCapability } from '../endpoint/rpc-failure.ts';
import type { Work } from '../endpoint/work.ts';
import { PlugboardError } from '../errors.ts';
import type { Checked, Schema } from '../lib/author-schema.ts';
import { defined } from '../lib/defined.ts';
import { isRecord } from '../lib/json.ts';
import type { RequestId } from '../lib/json-rpc.ts';
import { clientOf, plainHeaders } from './access.ts';
import { type Check, createCheck } from './kit-check.ts';

/** Levels of log messages, least severe first. */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

/** The client that sent the request. */
export interface Client {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** The authenticated identity over HTTP (`token`, or the verifier's principal), else `local` or `stdio`. */
  readonly principal: string;
  /** The claims of its token, as the verifier returned them. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
  /** The scopes of its token; undefined where no verifier identifies clients. */
  readonly scopes?: readonly string[] | undefined;
}

/** The answer of a person to an elicitation. */
export type Elicited<Content> =
  | { readonly action: 'accept'; readonly content: Content }
  | { readonly action: 'decline' | 'cancel' };

/** The second argument of handlers: the request, the client, and questions to it. */
export interface Context {
  readonly requestId: RequestId;
  readonly client: Client;
  /** Aborted when the client cancels the request or disconnects; of a task, when it is cancelled or expires. */
  readonly signal: AbortSignal;
  /** `_meta` of the request. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** The headers of the HTTP request, in lower case; empty on other transports. */
  readonly headers: Readonly<Record<string, string>>;
  /** Does nothing if the client did not request progress; of a task, it is also the message of its status. */
  progress(progress: number, total?: number, message?: string): void;
  /** Sends a log message to the client, if it requested the level. */
  log(level: LogLevel, data: unknown, logger?: string): void;
  /** Sends a notification on the stream of this request. */
  notify(method: string, params?: Readonly<Record<string, unknown>>): void;
  /** Asks the person for values with a form; the answer is validated. Rejects if the client does not support it. */
  elicit<const S extends Schema>(question: FormQuestion<S>): Promise<Elicited<Checked<S>>>;
  /** Asks the person to visit a URL. Rejects if the client does not support it. */
  elicitUrl(
    question: UrlQuestion,
  ): Promise<{ readonly action: Elicited<never>['action']; readonly id: string }>;
  /**
   * Requests a completion from the client's model; `params` and the result are those of `sampling/createMessage`. With
   * `tools`, the model may respond with `tool_use` blocks: run them, and ask again with their results. Rejects if the
   * client has no model, or one without tool use.
   *
   * @example
   * const question = { role: 'user', content: { type: 'text', text: 'Which colour?' } } as const;
   * const { content } = await context.sample({ messages: [question], maxTokens: 100 });
   */
  sample(params: SampleParams, options?: QuestionOptions): Promise<SampleResult>;
  /** Returns the folders that the client works in; empty if it does not support roots. */
  roots(options?: QuestionOptions): Promise<readonly { readonly uri: string; readonly name?: string }[]>;
}

/** Options of a question to the client. */
export interface QuestionOptions {
  /** The key of the question for a modern client; default: generated. */
  readonly key?: string | undefined;
}

/** A question with a form. */
export interface FormQuestion<S extends Schema> extends QuestionOptions {
  readonly message: string;
  /** The schema of an object of primitive values. */
  readonly schema: S;
}

/** A question with an address to open. */
export interface UrlQuestion extends QuestionOptions {
  readonly message: string;
  readonly url: string;
  /** Default: a new one. */
  readonly id?: string | undefined;
}

export interface ContextParts {
  readonly work: Work;
  readonly params: Params;
  readonly principal: string;
  readonly checker: CheckerSource;
  /** Called with each progress, whether the client requested it or not. */
  progressed?(progress: number, total: number | undefined, message: string | undefined): void;
  log(level: LogLevel, data: unknown, logger: string | undefined): void;
}

/** Its functions do not use `this`: authors destructure a context in their parameters. */
export class HandlerContext implements Context {
  readonly #parts: ContextParts;

  constructor(parts: ContextParts) {
    this.#parts = parts;
  }

  get requestId(): RequestId {
    return this.#parts.work.id;
  }

  get client(): Client {
    const { work, principal } = this.#parts;
    return clientOf(work.clientInfo, principal, work.caller);
  }

  get signal(): AbortSignal {
    return this.#parts.work.signal;
  }

  get meta(): Readonly<Record<string, unknown>> {
    const { _meta } = this.#parts.params;
    return isRecord(_meta) ? _meta : {};
  }

  get headers(): Readonly<Record<string, string>> {
    return plainHeaders(this.#parts.work.headers);
  }

  progress = (progress: number, total?: number, message?: string): void => {
    this.#parts.progressed?.(progress, total, message);
    const { progressToken } = this.meta;
    if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return;
    this.notify('notifications/progress', {
      progressToken,
      progress,
      ...defined({ total, message }),
    });
  };

  log = (level: LogLevel, data: unknown, logger?: string): void => {
    this.#parts.log(level, data, logger);
  };

  notify = (method: string, params: Params = {}): void => {
    this.#parts.work.notify(method, params);
  };

  elicit = async <const S extends Schema>(question: FormQuestion<S>): Promise<Elicited<Checked<S>>> => {
    const { work, checker } = this.#parts;
    if (!canElicit(work.clientInfo, 'form')) throw this.#cannot('elicitation');
    const check = createCheck(question.schema, 'input', checker);
    const answer = await work.ask(
      'elicitation/create',
      {
        ...(work.clientInfo.version >= FIRST_MODE_VERSION ? { mode: 'form' } : {}),
        message: question.message,
        requestedSchema: await formOf(check),
      },
      work.signal,
      question.key,
    );
    const { action, content } = isRecord(answer) ? answer : { action: 'cancel', content: undefined };
    if (action !== 'accept') return { action: action === 'decline' ? action : 'cancel' };
    const verdict = await check.check(content ?? {});
    if ('problems' in verdict) {
      throw new PlugboardError(
        'INVALID_ARGUMENTS',
        `The answer does not fit: ${verdict.problems.join('; ')}`,
      );
    }
    // Validated by the schema itself.
    return { action, content: verdict.value as Checked<S> };
  };

  elicitUrl = async (
    question: UrlQuestion,
  ): Promise<{ readonly action: Elicited<never>['action']; readonly id: string }> => {
    const { work } = this.#parts;
    if (!canElicit(work.clientInfo, 'url')) throw this.#cannot('elicitation');
    const { message, url, id = crypto.randomUUID(), key } = question;
    const params = { mode: 'url', message, url, elicitationId: id };
    const answer = await work.ask('elicitation/create', params, work.signal, key);
    const action = isRecord(answer) ? answer['action'] : undefined;
    return { action: action === 'accept' || action === 'decline' ? action : 'cancel', id };
  };

  sample = async (params: SampleParams, { key }: QuestionOptions = {}): Promise<SampleResult> => {
    const { work } = this.#parts;
    const { sampling } = work.clientInfo.capabilities;
    if (!isRecord(sampling)) throw this.#cannot('sampling');
    if (usesTools(params) && !isRecord(sampling['tools'])) throw this.#cannot('sampling', 'tools');
    const answer = await work.ask('sampling/createMessage', params, work.signal, key);
    const fault = faultOfSample(answer);
    // `faultOfSample` has validated it.
    if (fault === undefined) return answer as SampleResult;
    throw new PlugboardError('PROTOCOL_ERROR', `The client's answer is not a completion: ${fault}`);
  };

  roots = async ({
    key,
  }: QuestionOptions = {}): Promise<readonly { readonly uri: string; readonly name?: string }[]> => {
    const { work } = this.#parts;
    if (!isRecord(work.clientInfo.capabilities['roots'])) return [];
    const answer = await work.ask('roots/list', {}, work.signal, key);
    const list = isRecord(answer) && Array.isArray(answer['roots']) ? answer['roots'] : [];
    return list.flatMap((root: unknown) => {
      if (!isRecord(root) || typeof root['uri'] !== 'string') return [];
      return [{ uri: root['uri'], ...(typeof root['name'] === 'string' ? { name: root['name'] } : {}) }];
    });
  };

  /** Returns the error for a missing capability: modern clients have a code for it; older ones get a sentence. */
  #cannot(capability: string, part?: string): Error {
    const missing = missingCapability(capability, part === undefined ? {} : { [part]: {} });
    if (this.#parts.work.clientInfo.era === 'modern') return missing;
    return new PlugboardError('PROTOCOL_ERROR', missing.message);
  }
}

/** Returns the schema of a form: forms are flat objects, and the protocol does not allow `$schema` in them. */
async function formOf(check: Check): Promise<Params> {
  const { $schema: _dialect, additionalProperties: _closed, ...form } = await check.describe();
  return form;
}
