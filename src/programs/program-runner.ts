/** Runs programs for the tool `run` (CAL-9): starts them, continues paused ones, and keeps values between them. */

import type { OwnAction } from '../call/approve.ts';
import { OWN } from '../call/approve.ts';
import type { Call, CallContext, Handler, Stage } from '../call/call.ts';
import { observe } from '../call/observe.ts';
import type { Session } from '../call/session.ts';
import { snapshotFor } from '../call/session-view.ts';
import type { ShapedResult } from '../call/shape.ts';
import { telemetry } from '../call/telemetry.ts';
import { validate } from '../call/validate.ts';
import { runTool } from '../catalog/run-tool-definition.ts';
import type { CodeModeSettings } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import type { QuestionEvents, QuestionId } from '../connection/open-questions.ts';
import { PlugboardError } from '../errors.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import {
  type FrozenPrograms,
  isProgramId,
  MemoryPrograms,
  ProgramFiles,
  programId,
} from './frozen-programs.ts';
import { limitsOf } from './program-limits.ts';
import { ProgramRun } from './program-run.ts';
import { ProgramThreads } from './program-thread.ts';

/** Programs of one host that run at the same time. */
const MAX_RUNNING = 8;
/** Principals without sessions whose stored values are kept; the oldest are dropped. */
const MAX_PRINCIPALS = 1_000;

export interface ProgramsOptions {
  readonly context: CallContext;
  readonly home: Home;
  readonly pipeline: Handler;
  nextId(): string;
  on<Name extends keyof QuestionEvents>(
    event: Name,
    listener: (event: QuestionEvents[Name]) => void,
  ): Unsubscribe;
  approveOwn(session: Session, action: OwnAction): Promise<void>;
}

/** The parts of a host that a run needs. */
export interface ProgramsHost extends Pick<ProgramsOptions, 'context' | 'pipeline' | 'nextId' | 'on'> {
  readonly frozen: FrozenPrograms;
  readonly threads: ProgramThreads;
  /** Loads the handler of resources. */
  resources(): Promise<Handler>;
  /** Calls back with the id of a call when a question about it was answered. */
  onAnswered(listener: (call: string) => void): Unsubscribe;
}

export class Programs {
  readonly handle: Handler;
  readonly #options: ProgramsOptions;
  readonly #host: ProgramsHost;
  readonly #stored = new WeakMap<Session, Map<string, string>>();
  /** Of clients whose sessions last for one request. */
  readonly #storedByPrincipal = new Map<string, Map<string, string>>();
  readonly #runs = new Set<Promise<unknown>>();

  constructor(options: ProgramsOptions) {
    const { context, home, pipeline } = options;
    this.#options = options;
    let resources: Promise<Handler> | undefined;
    const asked = new Map<QuestionId, string>();
    options.on('question', ({ id, call }) => {
      if (call !== undefined) asked.set(id, call);
    });
    const listeners = new Set<(call: string) => void>();
    options.on('answer', ({ id }) => {
      const call = asked.get(id);
      asked.delete(id);
      if (call !== undefined) for (const listener of [...listeners]) listener(call);
    });
    this.#host = {
      context,
      pipeline,
      nextId: () => options.nextId(),
      on: (event, listener) => options.on(event, listener),
      frozen: home.isNone ? new MemoryPrograms() : new ProgramFiles(home, context.clock),
      threads: new ProgramThreads(),
      resources() {
        resources ??= import('../call/read-resources.ts').then(({ createResourceHandler }) =>
          createResourceHandler(context),
        );
        return resources;
      },
      onAnswered(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
    const stages: readonly Stage[] = [observe, telemetry, validate];
    const last: Handler = (call) => this.#run(call);
    const handle = stages.reduceRight((next, stage) => stage(context, next), last);
    this.handle = (call) => {
      const { tools } = snapshotFor(context, call.session);
      call.tool = { ...runTool(tools), server: OWN };
      call.decision = 'each call is approved by itself';
      const { resume } = call.arguments;
      call.program = typeof resume === 'string' && isProgramId(resume) ? resume : programId();
      call.onProgram?.(call.program);
      return handle(call);
    };
  }

  /** Starts a thread and compiles the engine for the first program. */
  warm(settings: CodeModeSettings): void {
    this.#host.threads.warm(limitsOf(settings).memoryBytes);
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#runs);
    await this.#host.threads.close();
  }

  async #run(call: Call): Promise<ShapedResult> {
    const { session, arguments: args } = call;
    const { code, resume } = args;
    if ((code === undefined) === (resume === undefined))
      throw new PlugboardError('INVALID_ARGUMENTS', 'Give run either code or resume', {
        hint: 'Give the program as code, or the id of a paused program as resume.',
      });
    // Rules for `plugboard__run` apply; its calls are judged by themselves.
    await this.#options.approveOwn(session, {
      tool: 'run',
      arguments: args,
      annotations: { readOnlyHint: true },
      signal: call.signal ?? call.cancellation?.signal,
    });
    if (this.#runs.size >= MAX_RUNNING)
      throw new PlugboardError('LIMIT_EXCEEDED', `${MAX_RUNNING} programs run already`, {
        hint: 'Wait until one of them has ended.',
      });
    const running = typeof resume === 'string' ? this.#resume(call, resume) : this.#start(call, String(code));
    this.#runs.add(running);
    return running.finally(() => this.#runs.delete(running));
  }

  async #start(call: Call, code: string): Promise<ShapedResult> {
    const { program: id = programId() } = call;
    const run = this.#newRun(call, id, 0);
    await run.start(code, JSON.stringify(call.ownProgram?.input));
    return run.result;
  }

  async #resume(call: Call, id: string): Promise<ShapedResult> {
    const { frozen } = this.#host;
    const taken = isProgramId(id) ? await frozen.take(id) : undefined;
    if (taken === 'running')
      throw new PlugboardError('INVALID_ARGUMENTS', `The program ${id} is running already`, {
        hint: 'Wait for the result of the call that started or continued it.',
      });
    if (taken !== undefined && taken.program.owner !== ownerOf(call)) await frozen.release(id);
    if (taken === undefined || taken.program.owner !== ownerOf(call))
      throw new PlugboardError('INVALID_ARGUMENTS', `There is no paused program ${JSON.stringify(id)}`, {
        hint: 'It has ended or expired, or it belongs to another client. Run it again with code.',
      });
    const run = this.#newRun(call, id, taken.program.version);
    await run.restore(taken);
    return run.result;
  }

  #newRun(call: Call, id: string, version: number): ProgramRun {
    const { session } = call;
    const limits = limitsOf(this.#options.context.codeMode(session) ?? {});
    return new ProgramRun(this.#host, {
      id,
      owner: ownerOf(call),
      call,
      limits,
      version,
      stored: this.#storedFor(session),
    });
  }

  #storedFor(session: Session): Map<string, string> {
    const { partyName } = session;
    if (!session.isStateless || partyName === undefined)
      return getOrMake(this.#stored, session, () => new Map<string, string>());
    const stored = getOrMake(this.#storedByPrincipal, partyName, () => new Map<string, string>());
    this.#storedByPrincipal.delete(partyName);
    this.#storedByPrincipal.set(partyName, stored);
    const [oldest] = this.#storedByPrincipal.keys();
    if (this.#storedByPrincipal.size > MAX_PRINCIPALS && oldest !== undefined)
      this.#storedByPrincipal.delete(oldest);
    return stored;
  }
}

/** Who may continue a program: the same client with the same profile, in any process; by a command, if one began it. */
function ownerOf({ session: { client, profile }, ownProgram }: Call): string {
  const owner = [client ?? null, profile?.name ?? null];
  return JSON.stringify(ownProgram === undefined ? owner : [...owner, 'command']);
}
