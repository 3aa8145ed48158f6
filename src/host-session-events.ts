/** The events of one session: its calls and questions, and what is about servers and concerns everyone. */

import type { HostEvents } from './host-options.ts';
import type { Emitter, Unsubscribe } from './lib/emitter.ts';

/** Events that name their call or question by its id, with the event that says whose it is. */
const BEGUN_BY: Readonly<Partial<Record<keyof HostEvents, 'call.begin' | 'question'>>> = {
  'call.arguments': 'call.begin',
  'call.result': 'call.begin',
  'call.progress': 'call.begin',
  'call.end': 'call.begin',
  answer: 'question',
};

export function onSession<Name extends keyof HostEvents>(
  events: Emitter<HostEvents>,
  session: string,
  name: Name,
  listener: (event: HostEvents[Name]) => void,
): Unsubscribe {
  const begun = BEGUN_BY[name];
  if (begun === undefined) {
    return events.on(name, (event) => {
      const { session: whose } = event as { readonly session?: unknown };
      if (whose === undefined || whose === session) listener(event);
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
