/** Calls, questions and clients of every host of this process: the page shows all of them, whichever host it was opened for. */

import { randomBytes } from 'node:crypto';
import type { Call } from '../call/call.ts';
import type { CallEnd } from '../call/call-recorder.ts';
import type { ClientPlace } from '../call/session.ts';
import { type Home, noHome } from '../config/home.ts';
import type { QuestionId } from '../connection/open-questions.ts';
import { PlugboardError } from '../errors.ts';
import { CallHistory } from '../history/call-history.ts';
import { argumentText } from '../history/value-text.ts';
import type { Host } from '../host/host.ts';
import type { HostEvents } from '../host/host-options.ts';
import type { RuleCall } from '../host/host-rules.ts';
import type { Clock } from '../lib/clock.ts';
import { defined } from '../lib/defined.ts';
import { Emitter, type Unsubscribe } from '../lib/emitter.ts';
import { ConnectedClients } from '../serve/connected-clients.ts';
import { ApprovalQueue, type QuestionFacts } from './approval-queue.ts';
import { RecentCalls } from './recent-calls.ts';

/** The client behind a call or a question, as far as known. */
export interface Asker extends ClientPlace {
  readonly client?: string | undefined;
  readonly profile?: string | undefined;
}

export interface TrafficEvents extends Pick<HostEvents, 'call.progress' | 'question' | 'answer'> {
  /** As of the host, with the `key` of the call, its client's program and folder, and its time. */
  readonly 'call.begin': Pick<HostEvents['call.begin'], 'id' | 'server' | 'tool' | 'session'> &
    Asker & {
      readonly ref?: string | undefined;
      readonly key?: string | undefined;
      readonly at?: number | undefined;
    };
  readonly 'call.end': Pick<HostEvents['call.end'], 'id' | 'outcome' | 'ms'> & {
    readonly code?: HostEvents['call.end']['code'] | undefined;
    readonly rule?: string | undefined;
    readonly key?: string | undefined;
  };
}

export const TRAFFIC_EVENTS: readonly (keyof TrafficEvents)[] = [
  'call.begin',
  'call.progress',
  'call.end',
  'question',
  'answer',
];

/** The parts of a host that are watched. */
export type WatchedHost = Pick<Host, 'on' | 'management' | 'reload'>;

export interface TrafficOptions {
  readonly clock: Clock;
  /** The home of the history; default: no history is kept. */
  readonly home?: Home | undefined;
  /** Called once if the history cannot be written. */
  readonly failed?: ((message: string) => void) | undefined;
}

export class Traffic {
  /** Names this process in the keys of calls. */
  readonly run: string;
  /** The approval queue. */
  readonly approvalQueue: ApprovalQueue;
  readonly calls: RecentCalls;
  readonly clients: ConnectedClients;
  /** Undefined without a home. */
  readonly history: CallHistory | undefined;
  readonly #events = new Emitter<TrafficEvents>();
  readonly #hosts = new Set<WatchedHost>();
  /** The hosts of questions that have no answer yet. */
  readonly #asking = new Map<QuestionId, WatchedHost>();

  constructor({ clock, home = noHome(), failed = () => {} }: TrafficOptions) {
    this.run = `${clock.now().toString(36)}${randomBytes(3).toString('hex')}`;
    this.approvalQueue = new ApprovalQueue(clock);
    this.clients = new ConnectedClients(clock);
    this.calls = new RecentCalls(this, clock);
    this.history = home.isNone ? undefined : new CallHistory({ home, clock, failed });
    this.on('answer', (answer) => {
      this.approvalQueue.answered(answer);
      this.#asking.delete(answer.id);
    });
  }

  /** Adds the events of a host. The ids of its calls, sessions and questions must be unique in this process. */
  watch(host: WatchedHost): Unsubscribe {
    const stops = [
      host.management.recordCalls({
        begun: (call, at) => this.#begun(call, at),
        ended: (call, at, end) => this.#ended(host, call, at, end),
      }),
      host.on('call.progress', (event) => this.#events.emit('call.progress', event)),
      host.on('question', (event) => this.#asked(host, event)),
      host.on('answer', (event) => this.#events.emit('answer', event)),
    ];
    this.#hosts.add(host);
    return () => {
      this.#hosts.delete(host);
      for (const stop of stops) stop();
    };
  }

  on<Name extends keyof TrafficEvents>(
    name: Name,
    listener: (event: TrafficEvents[Name]) => void,
  ): Unsubscribe {
    return this.#events.on(name, listener);
  }

  /** Ends a running call for the person at the page; its caller gets the reason. False if it does not run. */
  cancel(id: string): boolean {
    const call = this.#runningCall(id)?.call;
    if (call?.cancellation === undefined) return false;
    call.cancellation.stop(
      new PlugboardError('CANCELLED', `${call.name} was cancelled by the user`, {
        server: call.tool?.server,
        hint: 'Ask the user before you call it again.',
      }),
    );
    return true;
  }

  /**
   * Answers an approval with a rule that the person wrote: the call is allowed, and later ones by the rule. False if no
   * such question waits.
   */
  async allowBy(id: QuestionId, rule: string): Promise<boolean> {
    const question = this.approvalQueue.get(id);
    const host = this.#asking.get(id);
    if (question === undefined || host === undefined) return false;
    const { kind, server, tool, arguments: args } = question;
    if (kind !== 'approval' || typeof tool !== 'string')
      throw new PlugboardError('INVALID_ARGUMENTS', 'Only an approval can be answered with a rule');
    if (rule === question['rule']) {
      return this.approvalQueue.answer(id, { answer: 'allow-always' }) !== undefined;
    }
    await host.management.rules.allow(rule, { server, tool, arguments: args });
    await host.reload(undefined, { settle: false });
    return this.approvalQueue.answer(id, { answer: 'allow' }) !== undefined;
  }

  /** Returns the host and the call of an approval that waits, for a preview of rules. */
  askedAbout(id: QuestionId): { readonly host: WatchedHost; readonly call: RuleCall } | undefined {
    const question = this.approvalQueue.get(id);
    const host = this.#asking.get(id);
    if (question === undefined || host === undefined) return undefined;
    const { server, tool, arguments: args } = question;
    return typeof tool === 'string' ? { host, call: { server, tool, arguments: args } } : undefined;
  }

  /** Returns the arguments of a running call as the history would have them. */
  argumentsOf(id: string): { readonly arguments?: unknown } {
    const running = this.#runningCall(id);
    if (running === undefined) return {};
    return {
      arguments: JSON.parse(argumentText(running.call.arguments, running.host.management.secrets).text),
    };
  }

  /** Writes pending calls of the history. */
  async close(): Promise<void> {
    this.approvalQueue.close();
    this.calls.close();
    this.#events.clear();
    await this.history?.flush();
  }

  keyOf(id: string): string {
    return `${this.run}-${id}`;
  }

  #runningCall(id: string): { readonly call: Call; readonly host: WatchedHost } | undefined {
    for (const host of this.#hosts) {
      const call = host.management.runningCall(id);
      if (call !== undefined) return { call, host };
    }
    return undefined;
  }

  // Members may be undefined, which JSON leaves out: every call passes here.
  #begun(call: Call, at: number): void {
    const { id, session, ref, tool } = call;
    const place = session.describe?.();
    if (tool === undefined) return;
    this.#events.emit('call.begin', {
      id,
      key: this.keyOf(id),
      server: tool.server,
      tool: tool.tool,
      session: session.id,
      at,
      client: session.client,
      profile: session.profile?.name,
      agent: place?.agent,
      folder: place?.folder,
      ref,
    });
  }

  #ended(host: WatchedHost, call: Call, at: number, { outcome, ms, result, error }: CallEnd): void {
    const { id, session, rule, decision, ref, tool } = call;
    if (tool === undefined) return;
    const key = this.keyOf(id);
    const code = error?.code;
    this.#events.emit('call.end', { id, key, outcome, ms, code, rule });
    if (this.history === undefined || !host.management.keepsHistory) return;
    const place = session.describe?.();
    this.history.add({
      key,
      id,
      server: tool.server,
      tool: tool.tool,
      session: session.id,
      at,
      ms,
      outcome,
      client: session.client,
      profile: session.profile?.name,
      agent: place?.agent,
      folder: place?.folder,
      ref,
      code,
      rule,
      decision,
      arguments: call.arguments,
      result,
      error: error?.toJSON(),
      redactor: host.management.secrets,
    });
  }

  #asked(host: WatchedHost, event: HostEvents['question']): void {
    const { id, kind, server, tool, arguments: args, call } = event;
    const called = call === undefined ? undefined : this.#runningCall(call)?.call.tool?.tool;
    const known = typeof tool === 'string' ? tool : called;
    const facts: QuestionFacts = {
      ...defined({ call, tool: known, ...this.#askerOf(event) }),
      ...(kind === 'approval' && known !== undefined
        ? host.management.rules.factsOf({ server, tool: known, arguments: args })
        : {}),
    };
    this.#asking.set(id, host);
    this.approvalQueue.put(id, facts);
    this.#events.emit('question', { ...event, ...facts });
  }

  /** A client without a lasting session is known by its call. */
  #askerOf({ call, session }: HostEvents['question']): Asker {
    const running = call === undefined ? undefined : this.#runningCall(call);
    if (running !== undefined) {
      const { client, profile, describe } = running.call.session;
      return defined({ client, profile: profile?.name, ...describe?.() });
    }
    const { session: _session, ...asker } = this.clients.of(session) ?? { session };
    return asker;
  }
}
