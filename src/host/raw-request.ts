/** Decides which methods may be sent as raw requests and notifications: those without a method of the host. */

import { PlugboardError } from '../errors.ts';

/** The replacement for a method, by its prefix; the host applies approvals, limits and state there. */
const OWN_WAYS: readonly (readonly [prefix: string, instead: string])[] = [
  ['tools/call', 'Use call(), which asks for approval.'],
  ['tools/', 'Use tools().'],
  ['resources/', 'Use resources(), read() or subscribe().'],
  ['prompts/', 'Use prompts() or prompt().'],
  ['completion/', 'Use complete().'],
  ['logging/', 'Use logLevel of createHost, or setLogLevel() of a session.'],
  ['roots/', 'Use roots of createHost, or setRoots().'],
  ['notifications/', 'Notifications of the protocol are sent by the host.'],
  ['initialize', 'The host connects servers itself: connect() or reconnect().'],
  ['ping', 'The host watches its connections itself: servers() shows their state.'],
  ['server/', 'Use details().'],
  ['subscriptions/', 'Use subscribe(), or on() for changed lists.'],
  ['tasks/', 'Tasks are followed by call().'],
  ['sampling/', 'That is a request of servers.'],
  ['elicitation/', 'That is a request of servers.'],
];

/** Notifications of the protocol, which belong to a request, a subscription or the connection that the host manages. */
const OWN_NOTIFICATIONS: ReadonlySet<string> = new Set(
  [
    'initialized',
    'cancelled',
    'progress',
    'message',
    'roots/list_changed',
    'tools/list_changed',
    'resources/list_changed',
    'resources/updated',
    'prompts/list_changed',
    'elicitation/complete',
    'subscriptions/acknowledged',
    'tasks',
    'tasks/status',
  ].map((name) => `notifications/${name}`),
);

/** @throws PlugboardError USAGE for a method that would bypass the host. */
export function checkRawMethod(
  server: string,
  method: unknown,
  kind: 'request' | 'notification' = 'request',
): void {
  const name = typeof method === 'string' ? method.trim() : '';
  const isExtension =
    kind === 'notification' && name.startsWith('notifications/') && !OWN_NOTIFICATIONS.has(name);
  const own = isExtension ? undefined : OWN_WAYS.find(([prefix]) => name.startsWith(prefix));
  if (name !== '' && name === method && own === undefined) return;
  const why = own === undefined ? 'is not the name of a method' : `is not sent as a raw ${kind}`;
  throw new PlugboardError('USAGE', `${JSON.stringify(method)} ${why}`, { server, hint: own?.[1] });
}
