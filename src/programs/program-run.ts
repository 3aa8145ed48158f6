/**
 * One run of a program: makes the calls that it asks for, enforces its limits, and freezes it while it waits for a
 * person.
 */

import type { Call, Handler } from '../call/call.ts';
import type { ShapedResult } from '../call/shape.ts';
import { LIST_RESOURCES, READ_RESOURCE } from '../catalog/resource-tool-definitions.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { Cancellation, signalOf } from '../lib/cancellation.ts';
import { ticksOf } from '../lib/clock.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import { type FrozenAsk, type ProgramEnd, type TakenProgram, withJournal } from './frozen-programs.ts';
import { callArguments, type GuestAsk, parseGuestMessage } from './guest-messages.ts';
import { limitError, type ProgramLimits, tooManyCalls, tooMuchOutput } from './program-limits.ts';
import type { FromThread, Frozen, VmAnswer, VmLimits } from './program-messages.ts';
import { ProgramOutput } from './program-output.ts';
import { ProgramRecord } from './program-record.ts';
import { callsText, endedResult, isOutOfMemory, pausedResult, returnedText } from './program-result.ts';
import type { ProgramsHost } from './program-runner.ts';
import type { ProgramThread, ProgramThreads, ThreadListener } from './program-thread.ts';
import { describeTool, nameInCalls, searchTools, serversOf } from './program-tools.ts';

/** Time that the thread has to stop a program by itself. */
const STOP_MS = 80;
/** Time in which a thread must begin. */
const START_MS = 30_000;
/** Calls over the limit that are refused inside the program, before it is stopped. */
const REFUSED_CALLS = 100;

interface Ask {
  readonly ask: GuestAsk;
  readonly message: string;
  /** `held`: no person can be asked here; it is made again when the program is continued. */
  state: 'queued' | 'waiting' | 'sent' | 'held';
  /** The id of its call. */
  call: string | undefined;
  /** A person is asked about it, or a server asks. */
  questions: number;
  /** Why it is held. */
  reason: string;
  /** Its answer, which the program has not received yet. */
  answer: VmAnswer | undefined;
}

export interface RunOptions {
  readonly id: string;
  readonly owner: string;
  /** The call of `run`. */
  readonly call: Call;
  readonly limits: ProgramLimits;
  /** Of the frozen program that is continued; 0 for a new one. */
  readonly version: number;
  /** Values of earlier programs of the session. */
  readonly stored: Map<string, string>;
}

export class ProgramRun implements ThreadListener {
  readonly #host: ProgramsHost;
  readonly #options: RunOptions;
  readonly #record: ProgramRecord;
  readonly #threads: ProgramThreads;
  readonly #thread: ProgramThread;
  readonly #asks = new Map<number, Ask>();
  readonly #cancellation: Cancellation;
  readonly #unsubscribe: Unsubscribe[] = [];
  #output: ProgramOutput;
  #ended: ProgramEnd | undefined;
  /** The thread works on a turn, or its messages are handled. */
  #isBusy = true;
  #isSettled = false;
  #isFreezing = false;
  #calls = 0;
  #running = 0;
  #progress = 0;
  #usedMs = 0;
  #usedWallMs = 0;
  #since: number | undefined;
  #stopWall = (): void => {};
  #stopWatch = (): void => {};
  #resolve: (result: ShapedResult) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  readonly result: Promise<ShapedResult>;

  constructor(host: ProgramsHost, options: RunOptions) {
    const { call, limits } = options;
    this.#host = host;
    this.#options = options;
    this.#record = new ProgramRecord(host.frozen, options.id, options.version);
    this.#threads = host.threads;
    this.#output = new ProgramOutput(limits.outputTokens);
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Questions of servers find the client's request by its cancellation.
    this.#cancellation = call.cancellation ?? new Cancellation();
    const signal = signalOf(call);
    const cancelled = (): void => {
      const reason = asPlugboardError(signal?.reason, 'CANCELLED');
      this.#fail(reason);
      this.#cancellation.cancel(reason);
    };
    signal?.addEventListener('abort', cancelled, { once: true });
    const ended = (): void => this.#fail(call.session.ended.reason ?? new PlugboardError('CANCELLED', ENDED));
    call.session.ended.onCancel(ended);
    const closed = (): void => this.#fail(new PlugboardError('CANCELLED', ENDED));
    host.context.closing.addEventListener('abort', closed, { once: true });
    this.#unsubscribe.push(
      () => signal?.removeEventListener('abort', cancelled),
      () => call.session.ended.offCancel(ended),
      () => host.context.closing.removeEventListener('abort', closed),
      host.on('question', ({ call: id }) => this.#questioned(id, 1)),
      host.onAnswered((id) => this.#questioned(id, -1)),
    );
    this.#thread = this.#threads.take();
    this.#thread.use(this);
  }

  async start(code: string, input: string | undefined): Promise<void> {
    const { limits, call, stored } = this.#options;
    const module = await this.#threads.module(limits.memoryBytes);
    if (this.#isSettled) return;
    this.#watch(START_MS);
    this.#countWall();
    this.#thread.send({
      type: 'start',
      module,
      limits: vmLimits(limits),
      durable: limits.durable,
      code,
      servers: serversOf(this.#host.context, call.session),
      stored: Object.fromEntries(stored),
      input,
    });
  }

  /** Continues a frozen program: calls that a server had received are reported as failed, others are made now. */
  async restore(taken: TakenProgram): Promise<void> {
    const { program } = taken;
    const { limits } = this.#options;
    const module = await this.#threads.module(limits.memoryBytes);
    if (this.#isSettled) return;
    this.#output = new ProgramOutput(limits.outputTokens, program.output);
    [this.#ended, this.#calls] = [program.ended, program.calls];
    [this.#usedMs, this.#usedWallMs] = [program.frozen.usedMs, program.usedWallMs];
    this.#thread.send({
      type: 'restore',
      module,
      limits: vmLimits(limits),
      durable: limits.durable,
      frozen: program.frozen.bytes,
      token: program.frozen.token,
      usedMs: program.frozen.usedMs,
    });
    const { asks, answers } = withJournal(taken);
    for (const ask of asks) this.#restoreAsk(ask);
    for (const answer of answers) this.#restoreAnswer(answer);
    this.#isBusy = false;
    this.#countWall();
    this.#proceed();
  }

  #restoreAsk({ id, message, isSent }: FrozenAsk): void {
    const parsed = parseGuestMessage(message);
    if (parsed?.type !== 'ask') return;
    const answer = isSent
      ? failedAnswer(id, { message: LOST, code: 'CONNECTION_LOST', hint: LOST_HINT })
      : undefined;
    this.#asks.set(id, { ...newAsk(parsed.ask, message), answer });
  }

  #restoreAnswer(answer: VmAnswer): void {
    const ask = { id: answer.id, kind: 'describe', name: '' } as const;
    this.#asks.set(answer.id, { ...newAsk(ask, ''), state: 'sent', answer });
  }

  // The thread.

  received(message: FromThread): void {
    switch (message.type) {
      case 'began':
        this.#watch(this.#options.limits.cpuMs - this.#usedMs + STOP_MS);
        return;
      case 'turn':
        this.#stopWatch();
        this.#usedMs = message.usedMs;
        this.#handleTurn(message.messages, message.frozen).catch((error: unknown) => this.#fail(error));
        return;
      case 'frozen':
        this.#paused(message.frozen).catch((error: unknown) => this.#fail(error));
        return;
      case 'failed':
        // The thread has dropped the program, and can run another one; after a crash, it is not used again.
        this.#isBusy = message.failure === 'crashed';
        this.#fail(this.#failure(message));
        return;
      default:
        message satisfies never;
    }
  }

  lost(error: Error | undefined): void {
    const isMemory = error !== undefined && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    this.#fail(this.#limit(isMemory ? 'memory' : 'crashed', error?.message));
  }

  #failure({ failure, message }: Extract<FromThread, { type: 'failed' }>): PlugboardError {
    if (failure !== 'syntax') return this.#limit(failure, message);
    return new PlugboardError('INVALID_ARGUMENTS', `The program is not valid: ${message}`, {
      hint: 'Give the body of an async function in TypeScript or JavaScript, without imports.',
    });
  }

  #limit(limit: Parameters<typeof limitError>[0], message?: string): PlugboardError {
    return limitError(limit, this.#options.limits, this.#calls, message);
  }

  /** Terminates a thread that does not stop by itself. */
  #watch(ms: number): void {
    this.#stopWatch();
    this.#stopWatch = this.#host.context.clock.after(ms, () => {
      void this.#thread.terminate();
      this.#fail(this.#limit('cpu'));
    });
  }

  async #handleTurn(messages: readonly string[], frozen: Frozen | undefined): Promise<void> {
    let fresh = 0;
    for (const text of messages) {
      const message = parseGuestMessage(text);
      switch (message?.type) {
        case 'ask':
          fresh += 1;
          this.#asks.set(message.ask.id, newAsk(message.ask, text));
          break;
        case 'output':
          if (!this.#output.add(message.block)) throw this.#tooMuchOutput();
          break;
        case 'store':
          if (message.json === undefined) this.#options.stored.delete(message.key);
          else this.#options.stored.set(message.key, message.json);
          break;
        case 'end':
          this.#ended ??= message.end;
          break;
        case undefined:
          break;
        default:
          message satisfies never;
      }
    }
    if (fresh > 0) {
      if (frozen !== undefined) await this.#save(frozen);
      // What the program does from now on is not part of the frozen one, which must not be continued.
      else await this.#record.forget();
    }
    this.#isBusy = false;
    this.#proceed();
  }

  #tooMuchOutput(): PlugboardError {
    return new PlugboardError(
      'LIMIT_EXCEEDED',
      `${tooMuchOutput(this.#options.limits)}; ${callsText(this.#calls)}`,
      {
        hint: 'Return less: filter, count or sum up in the program.',
      },
    );
  }

  /** Delivers answers, makes the calls that may run, and ends or pauses a program that has nothing else to do. */
  #proceed(): void {
    if (this.#isSettled) return;
    this.#dispatch();
    this.#countWall();
    if (this.#isBusy || this.#isFreezing) return;
    const answered = [...this.#asks.values()].flatMap(({ answer }) => answer ?? []);
    if (answered.length > 0) {
      this.#isBusy = true;
      for (const { id } of answered) this.#asks.delete(id);
      this.#watch(START_MS);
      this.#thread.send({ type: 'settle', answers: answered });
      return;
    }
    if (this.#asks.size === 0) {
      if (this.#ended === undefined)
        this.#fail(new PlugboardError('INVALID_ARGUMENTS', STUCK, { hint: STUCK_HINT }));
      else this.#finish(this.#ended);
    } else if (this.#isWaiting && (!this.#record.isSaved || this.#isHeld)) {
      this.#isFreezing = true;
      this.#thread.send({ type: 'freeze' });
    }
  }

  /** True if only people can let the program go on. */
  get #isWaiting(): boolean {
    return [...this.#asks.values()].every(({ state, questions }) => state === 'held' || questions > 0);
  }

  /** True if no person can be asked about anything that it waits for. */
  get #isHeld(): boolean {
    return [...this.#asks.values()].every(({ state }) => state === 'held');
  }

  async #paused(frozen: Frozen): Promise<void> {
    // An answer that comes now is delivered afterwards: the frozen program waits for it, too.
    if (!this.#isSettled) await this.#save(frozen);
    this.#isFreezing = false;
    if (this.#isSettled) return;
    if (!this.#isHeld) return this.#proceed();
    this.#end();
    await this.#record.release();
    this.#resolve(pausedResult(this.#options.id, this.#reasons, this.#output.content(), this.#calls));
  }

  // Calls.

  #dispatch(): void {
    const { limits } = this.#options;
    for (const ask of this.#asks.values()) {
      if (ask.state !== 'queued' || ask.answer !== undefined) continue;
      if (this.#running >= limits.parallel) return;
      ask.state = 'waiting';
      this.#running += 1;
      this.#perform(ask)
        .then(
          (value) => this.#answered(ask, { id: ask.ask.id, ok: true, json: JSON.stringify(value) }),
          (thrown: unknown) => this.#failed(ask, thrown),
        )
        .finally(() => {
          this.#running -= 1;
        })
        .then(() => this.#proceed())
        .catch((error: unknown) => this.#fail(error));
    }
  }

  async #perform(ask: Ask): Promise<unknown> {
    const { context } = this.#host;
    const { session } = this.#options.call;
    const given = ask.ask;
    switch (given.kind) {
      case 'search':
        return searchTools(context, session, given.query, given.limit);
      case 'describe':
        return describeTool(context, session, given.name);
      case 'read':
      case 'list': {
        const { kind, id: _id, ...args } = given;
        const handler = await this.#host.resources();
        return this.#make(ask, handler, kind === 'read' ? READ_RESOURCE : LIST_RESOURCES, args);
      }
      case 'call': {
        const name = nameInCalls(context, session, given.server, given.tool);
        return this.#make(ask, this.#host.pipeline, name, callArguments(given.args));
      }
      default:
        return given satisfies never;
    }
  }

  /** Makes one call like any other of the session, and returns its value for the program. */
  async #make(
    ask: Ask,
    handler: Handler,
    name: string,
    args: Readonly<Record<string, unknown>>,
  ): Promise<unknown> {
    const { call, limits, id } = this.#options;
    this.#calls += 1;
    if (this.#calls > limits.calls + REFUSED_CALLS) throw this.#stop(this.#limit('calls'));
    if (this.#calls > limits.calls) throw new PlugboardError('LIMIT_EXCEEDED', tooManyCalls(limits));
    ask.call = this.#host.nextId();
    this.#report(name);
    const result = await handler({
      id: ask.call,
      name,
      arguments: args,
      session: call.session,
      cancellation: this.#cancellation,
      handedOn: call.handedOn,
      program: id,
      ownProgram: call.ownProgram,
      beforeSend: () => this.#sent(ask),
      ...(call.onProgress === undefined
        ? {}
        : {
            onProgress: ({ message }) => this.#report(message === undefined ? name : `${name}: ${message}`),
          }),
    });
    const text = result.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
    if (result.isError) throw new ToolFailure(text === '' ? `${name} failed` : text);
    if (result.structuredContent !== undefined) return result.structuredContent;
    const media = result.content.filter(({ type }) => type !== 'text');
    return media.length === 0 ? text : result.content;
  }

  #report(message: string): void {
    this.#progress += 1;
    this.#options.call.onProgress?.({ progress: this.#progress, message });
  }

  /** Called before a call leaves: from now on it is never made again. */
  async #sent(ask: Ask): Promise<void> {
    ask.state = 'sent';
    await this.#record.note({ kind: 'sent', id: ask.ask.id });
    if (this.#isSettled) throw new PlugboardError('CANCELLED', ENDED);
  }

  async #failed(ask: Ask, thrown: unknown): Promise<void> {
    if (thrown instanceof ToolFailure)
      return this.#answered(ask, failedAnswer(ask.ask.id, { message: thrown.message, code: 'TOOL_ERROR' }));
    const error = asPlugboardError(thrown);
    if (error.code === 'APPROVAL_REQUIRED' && ask.state === 'waiting') {
      [ask.state, ask.reason] = ['held', error.message];
      return;
    }
    const { message, code, hint, detail } = error;
    await this.#answered(ask, failedAnswer(ask.ask.id, { message, code, hint: detail.modelHint ?? hint }));
  }

  async #answered(ask: Ask, answer: VmAnswer): Promise<void> {
    // The calls of a program that was stopped fail with it; that is not their answer.
    if (this.#isSettled) return;
    await this.#record.note({ kind: 'answer', ...answer });
    ask.answer = answer;
  }

  #questioned(call: string | undefined, change: 1 | -1): void {
    if (call === undefined) return;
    for (const ask of this.#asks.values()) {
      if (ask.call !== call) continue;
      ask.questions += change;
      this.#proceed();
      return;
    }
  }

  // Time.

  /** Counts the time in which the program does not wait for a person. */
  #countWall(): void {
    const { clock } = this.#host.context;
    const isCounted = !this.#isSettled && (this.#isBusy || !this.#isWaiting);
    if (isCounted === (this.#since !== undefined)) return;
    if (this.#since !== undefined) {
      this.#usedWallMs += ticksOf(clock) - this.#since;
      this.#since = undefined;
      this.#stopWall();
      return;
    }
    this.#since = ticksOf(clock);
    this.#stopWall = clock.after(this.#options.limits.wallMs - this.#usedWallMs, () => {
      this.#stop(this.#limit('wall'));
    });
  }

  // Frozen programs.

  #save(frozen: Frozen): Promise<void> {
    const { owner, limits } = this.#options;
    return this.#record.save(() => {
      const asks = [...this.#asks.values()];
      return {
        owner,
        expiresAt: this.#host.context.clock.now() + limits.keepMs,
        frozen,
        asks: asks
          .filter(({ answer }) => answer === undefined)
          .map(({ ask, message, state }) => ({ id: ask.id, message, isSent: state === 'sent' })),
        answers: asks.flatMap(({ answer }) => answer ?? []),
        output: this.#output.blocks,
        calls: this.#calls,
        usedWallMs: this.#usedWallMs,
        ended: this.#ended,
      };
    });
  }

  get #reasons(): readonly string[] {
    return [...new Set([...this.#asks.values()].flatMap(({ reason }) => (reason === '' ? [] : [reason])))];
  }

  // The end.

  #finish(end: ProgramEnd): void {
    const text = returnedText(end);
    const isOver = text !== undefined && !this.#output.add({ kind: 'text', text });
    if (isOver || isOutOfMemory(end)) {
      this.#fail(isOver ? this.#tooMuchOutput() : this.#limit('memory'));
      return;
    }
    const result = endedResult(end, this.#output.content(), this.#calls);
    this.#end();
    void this.#leave().then(() => this.#resolve(result), this.#reject);
  }

  /** Stops the calls in flight as well: the caller gets the error. */
  #stop(error: PlugboardError): PlugboardError {
    this.#fail(error);
    this.#cancellation.stop(error);
    return error;
  }

  #fail(error: unknown): void {
    if (this.#isSettled) return;
    const wasBusy = this.#isBusy || this.#isFreezing;
    // One that waits for a person is kept for its client, and one that a closing host ends for the next process.
    const isKept = this.#record.willBeSaved && (this.#isWaiting || this.#host.context.closing.aborted);
    this.#end(wasBusy);
    const failed = (): void => this.#reject(error);
    if (isKept) void this.#record.release().then(failed, failed);
    else void this.#leave().then(failed, failed);
  }

  #end(isThreadBusy = false): void {
    this.#isSettled = true;
    this.#countWall();
    this.#stopWatch();
    this.#stopWall();
    for (const stop of this.#unsubscribe.splice(0)) stop();
    if (isThreadBusy) {
      void this.#thread.terminate();
      // The next program does not wait for a thread to start.
      this.#threads.warm(this.#options.limits.memoryBytes);
    } else this.#threads.give(this.#thread);
  }

  async #leave(): Promise<void> {
    await this.#record.forget();
    await this.#record.release();
  }
}

const ENDED = 'The program was cancelled';
const STUCK = 'The program waits for something that never happens';
const STUCK_HINT = 'Await only tools, search, describe and resources; there are no timers.';
const LOST =
  'The call was in flight when the process of this program ended; whether it was carried out is not known';
const LOST_HINT =
  'Check what it changed before you call it again; a question of a server can only be answered by the process that was asked.';

/** A tool's own failure, which the program catches with its text. */
class ToolFailure extends Error {}

interface Failure {
  readonly message: string;
  readonly code: string;
  readonly hint?: string | undefined;
}

function failedAnswer(id: number, failure: Failure): VmAnswer {
  return { id, ok: false, json: JSON.stringify(failure) };
}

function newAsk(ask: GuestAsk, message: string): Ask {
  return { ask, message, state: 'queued', call: undefined, questions: 0, reason: '', answer: undefined };
}

function vmLimits({ cpuMs, memoryBytes, messageChars, outputTokens, storedChars }: ProgramLimits): VmLimits {
  return { cpuMs, memoryBytes, messageChars, outputTokens, storedChars };
}
