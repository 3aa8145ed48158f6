/** Calls, questions and clients of every host of this process: the page shows all of them, whichever host it was opened for. */

import type { Host } from '../host/host.ts';
import type { HostEvents } from '../host/host-options.ts';
import type { Clock } from '../lib/clock.ts';
import { Emitter, type Unsubscribe } from '../lib/emitter.ts';
import { ConnectedClients } from '../serve/connected-clients.ts';
import { ApprovalQueue } from './approval-queue.ts';
import { RecentCalls } from './recent-calls.ts';

export type TrafficEvents = Pick<
  HostEvents,
  'call.begin' | 'call.progress' | 'call.end' | 'question' | 'answer'
>;

export const TRAFFIC_EVENTS: readonly (keyof TrafficEvents)[] = [
  'call.begin',
  'call.progress',
  'call.end',
  'question',
  'answer',
];

export class Traffic {
  /** The approval queue. */
  readonly approvalQueue: ApprovalQueue;
  readonly calls: RecentCalls;
  readonly clients: ConnectedClients = new ConnectedClients();
  readonly #events = new Emitter<TrafficEvents>();

  constructor(clock: Clock) {
    this.approvalQueue = new ApprovalQueue(clock);
    this.calls = new RecentCalls(this, clock);
    this.on('question', (question) => this.approvalQueue.put(question));
    this.on('answer', (answer) => this.approvalQueue.answered(answer));
  }

  /** Adds the events of a host. The ids of its calls, sessions and questions must be unique in this process. */
  watch(host: Pick<Host, 'on'>): Unsubscribe {
    const stops = TRAFFIC_EVENTS.map((name) => host.on(name, (event) => this.#events.emit(name, event)));
    return () => {
      for (const stop of stops) stop();
    };
  }

  on<Name extends keyof TrafficEvents>(
    name: Name,
    listener: (event: TrafficEvents[Name]) => void,
  ): Unsubscribe {
    return this.#events.on(name, listener);
  }

  close(): void {
    this.approvalQueue.close();
    this.calls.close();
    this.#events.clear();
  }
}
