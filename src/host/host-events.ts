/** Subscriptions to a host's events: checks names and listeners, and filters the events of one session. */

import type { Session } from '../call/session.ts';
import { PlugboardError } from '../errors.ts';
import type { Emitter, Unsubscribe } from '../lib/emitter.ts';
import { nearest } from '../lib/nearest.ts';
import type { HostEvents } from './host-options.ts';

const NAMES: Readonly<Record<keyof HostEvents, true>> = {
  'call.begin': true,
  'call.arguments': true,
  'call.result': true,
  'call.progress': true,
  'call.end': true,
  question: true,
  answer: true,
  'elicitation.complete': true,
  task: true,
  server: true,
  ready: true,
  tools: true,
  resources: true,
  prompts: true,
  login: true,
  log: true,
  message: true,
};

/** Throws USAGE for a listener that would never be called. */
export function checkEvent(name: unknown, listener: unknown): void {
  if (typeof name !== 'string' || !Object.hasOwn(NAMES, name)) {
    const known = Object.keys(NAMES);
    const close = nearest(String(name), known);
    const list = (names: readonly string[]): string => names.map((each) => JSON.stringify(each)).join(', ');
    throw new PlugboardError('USAGE', `There is no event called ${JSON.stringify(String(name))}`, {
      hint: close.length > 0 ? `Did you mean ${list(close)}?` : `There are ${list(known)}.`,
    });
  }
  if (typeof listener !== 'function')
    throw new PlugboardError('USAGE', `The listener of ${JSON.stringify(name)} must be a function`);
}

/** Events that identify their call or question by id, with the event that carries the session. */
const BEGUN_BY: Readonly<Partial<Record<keyof HostEvents, 'call.begin' | 'question'>>> = {
  'call.arguments': 'call.begin',
  'call.result': 'call.begin',
  'call.progress': 'call.begin',
  'call.end': 'call.begin',
  answer: 'question',
};

export function onSession<Name extends keyof HostEvents>(
  events: Emitter<HostEvents>,
  { id: session, profile }: Pick<Session, 'id' | 'profile'>,
  name: Name,
  listener: (event: HostEvents[Name]) => void,
): Unsubscribe {
  const begun = BEGUN_BY[name];
  if (begun === undefined) {
    // Counts of all servers, and tasks of other clients.
    if ((name === 'ready' || name === 'task') && profile !== undefined) return () => {};
    return events.on(name, (event) => {
      const { session: whose, server } = event as { readonly session?: unknown; readonly server?: unknown };
      const about = name === 'server' ? (event as HostEvents['server']).name : server;
      const isShown = profile === undefined || (typeof about === 'string' && profile.offersAll(about));
      if (whose === session || (whose === undefined && isShown)) listener(event);
    });
  }
  const ids = new Set<unknown>();
  const stopBegun = events.on(begun, (event) => {
    if (event.session === session) ids.add(event.id);
  });
  const isLast = name === 'call.end' || name === 'answer';
  const stopEnds =
    name === 'call.end' || begun === 'question'
      ? () => {}
      : events.on('call.end', ({ id }) => ids.delete(id));
  const stop = events.on(name, (event) => {
    const { id } = event as { readonly id?: unknown };
    if (!ids.has(id)) return;
    if (isLast) ids.delete(id);
    listener(event);
  });
  return () => {
    stopBegun();
    stopEnds();
    stop();
  };
}
