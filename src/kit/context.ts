/** What a handler can do besides answering: report progress, write logs, ask the client, notice that it was cancelled. */

import type { CheckerSource } from '../call/author-check.ts';
import type { Era } from '../connection/eras.ts';
import { faultOfSample, usesTools } from '../connection/questions-sample.ts';
import type { SampleParams, SampleResult } from '../connection/sample-types.ts';
import { canElicit, FIRST_MODE_VERSION } from '../endpoint/elicitation.ts';
import type { Params } from '../endpoint/eras.ts';
import { missingCapability } from '../endpoint/rpc-failure.ts';
import type { Work } from '../endpoint/work.ts';
import { PlugboardError } from '../errors.ts';
import type { Checked, Schema } from '../lib/author-schema.ts';
import { isRecord, type RequestId } from '../lib/json-rpc.ts';
import { type Check, createCheck } from './check.ts';

export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

/** Who asks. */
export interface Client {
  readonly era: Era;
  readonly protocolVersion: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Who it was proven to be over HTTP (`token`, or what the verifier said), else `local` or `stdio`. */
  readonly principal: string;
}

export type Elicited<Content> =
  | { readonly action: 'accept'; readonly content: Content }
  | { readonly action: 'decline' | 'cancel' };

export interface Context {
  readonly requestId: RequestId;
  readonly client: Client;
  /** Aborted when the client cancels the request or goes away. */
  readonly signal: AbortSignal;
  /** `_meta` of the request. */
  readonly meta: Readonly<Record<string, unknown>>;
  /** Does nothing when the client asked for no progress. */
  progress(progress: number, total?: number, message?: string): void;
  /** A log message for the client, if it wants such. */
  log(level: LogLevel, data: unknown, logger?: string): void;
  /** A notification on the way of this request. */
  notify(method: string, params?: Readonly<Record<string, unknown>>): void;
  /** Asks the person for values by a form; the answer is checked. Rejects when the client cannot ask. */
  elicit<const S extends Schema>(question: FormQuestion<S>): Promise<Elicited<Checked<S>>>;
  /** Asks the person to visit an address. Rejects when the client cannot ask. */
  elicitUrl(
    question: UrlQuestion,
  ): Promise<{ readonly action: Elicited<never>['action']; readonly id: string }>;
  /**
   * Lets the client's model say something; `params` and answer are those of `sampling/createMessage`. With `tools`, the
   * model may answer with `tool_use` blocks: run them, and ask again with their results. Rejects when the client has
   * no model, or one that uses no tools.
   *
   * @example
   * const question = { role: 'user', content: { type: 'text', text: 'Which colour?' } } as const;
   * const { content } = await context.sample({ messages: [question], maxTokens: 100 });
   */
  sample(params: SampleParams, options?: QuestionOptions): Promise<SampleResult>;
  /** The folders that the client works in; none when it does not tell. */
  roots(options?: QuestionOptions): Promise<readonly { readonly uri: string; readonly name?: string }[]>;
}

export interface QuestionOptions {
  /** What a modern client finds the question under; default: made up. */
  readonly key?: string | undefined;
}

export interface FormQuestion<S extends Schema> extends QuestionOptions {
  readonly message: string;
  /** An object of plain values. */
  readonly schema: S;
}

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
  log(level: LogLevel, data: unknown, logger: string | undefined): void;
}

/** Its functions do without `this`: authors take a context apart where they name their parameters. */
export class HandlerContext implements Context {
  readonly #parts: ContextParts;

  constructor(parts: ContextParts) {
    this.#parts = parts;
  }

  get requestId(): RequestId {
    return this.#parts.work.id;
  }

  get client(): Client {
    const { era, version, capabilities } = this.#parts.work.asker;
    return { era, protocolVersion: version, capabilities, principal: this.#parts.principal };
  }

  get signal(): AbortSignal {
    return this.#parts.work.signal;
  }

  get meta(): Readonly<Record<string, unknown>> {
    const { _meta } = this.#parts.params;
    return isRecord(_meta) ? _meta : {};
  }

  progress = (progress: number, total?: number, message?: string): void => {
    const { progressToken } = this.meta;
    if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return;
    this.notify('notifications/progress', {
      progressToken,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
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
    if (!canElicit(work.asker, 'form')) throw this.#cannot('elicitation');
    const check = createCheck(question.schema, 'input', checker);
    const answer = await work.ask(
      'elicitation/create',
      {
        ...(work.asker.version >= FIRST_MODE_VERSION ? { mode: 'form' } : {}),
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
    // The check is the schema's own.
    return { action, content: verdict.value as Checked<S> };
  };

  elicitUrl = async (
    question: UrlQuestion,
  ): Promise<{ readonly action: Elicited<never>['action']; readonly id: string }> => {
    const { work } = this.#parts;
    if (!canElicit(work.asker, 'url')) throw this.#cannot('elicitation');
    const { message, url, id = crypto.randomUUID(), key } = question;
    const params = { mode: 'url', message, url, elicitationId: id };
    const answer = await work.ask('elicitation/create', params, work.signal, key);
    const action = isRecord(answer) ? answer['action'] : undefined;
    return { action: action === 'accept' || action === 'decline' ? action : 'cancel', id };
  };

  sample = async (params: SampleParams, { key }: QuestionOptions = {}): Promise<SampleResult> => {
    const { work } = this.#parts;
    const { sampling } = work.asker.capabilities;
    if (!isRecord(sampling)) throw this.#cannot('sampling');
    if (usesTools(params) && !isRecord(sampling['tools'])) throw this.#cannot('sampling', 'tools');
    const answer = await work.ask('sampling/createMessage', params, work.signal, key);
    const fault = faultOfSample(answer);
    // `faultOfSample` has looked at it.
    if (fault === undefined) return answer as SampleResult;
    throw new PlugboardError('PROTOCOL_ERROR', `The client's answer is not a completion: ${fault}.`);
  };

  roots = async ({
    key,
  }: QuestionOptions = {}): Promise<readonly { readonly uri: string; readonly name?: string }[]> => {
    const { work } = this.#parts;
    if (!isRecord(work.asker.capabilities['roots'])) return [];
    const answer = await work.ask('roots/list', {}, work.signal, key);
    const list = isRecord(answer) && Array.isArray(answer['roots']) ? answer['roots'] : [];
    return list.flatMap((root: unknown) => {
      if (!isRecord(root) || typeof root['uri'] !== 'string') return [];
      return [{ uri: root['uri'], ...(typeof root['name'] === 'string' ? { name: root['name'] } : {}) }];
    });
  };

  /** Modern clients have a code for what they lack; older ones read a sentence. */
  #cannot(capability: string, part?: string): Error {
    const missing = missingCapability(capability, part === undefined ? {} : { [part]: {} });
    if (this.#parts.work.asker.era === 'modern') return missing;
    return new PlugboardError('PROTOCOL_ERROR', missing.message);
  }
}

/** Forms are flat objects; `$schema` is not among the keys that the protocol lets them have. */
async function formOf(check: Check): Promise<Params> {
  const { $schema: _dialect, additionalProperties: _closed, ...form } = await check.describe();
  return form;
}
