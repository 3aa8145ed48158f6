/** The methods that every endpoint implements, whatever its backend. */

import type { ClientConnection } from './client-connection.ts';
import type { Method, MethodTable, NotificationRow } from './methods.ts';

export const SHARED_METHODS: MethodTable<ClientConnection> = {
  requests: new Map<string, Method<ClientConnection>>([
    [
      'server/discover',
      { era: 'modern', cached: true, answer: (clientConnection) => clientConnection.discover() },
    ],
    [
      'subscriptions/listen',
      { era: 'modern', work: (clientConnection, params, work) => clientConnection.listen(params, work) },
    ],
    [
      'initialize',
      { era: 'legacy', answer: (clientConnection, params) => clientConnection.initialize(params) },
    ],
    ['ping', { era: 'legacy', answer: () => ({}) }],
    [
      'logging/setLevel',
      { era: 'legacy', answer: (clientConnection, { level }) => clientConnection.setLevel(level) },
    ],
    [
      'resources/subscribe',
      {
        era: 'legacy',
        answer: (clientConnection, { uri }, clientInfo) => clientConnection.subscribe(uri, clientInfo),
      },
    ],
    [
      'resources/unsubscribe',
      { era: 'legacy', answer: (clientConnection, { uri }) => clientConnection.unsubscribe(uri) },
    ],
  ]),
  notifications: new Map<string, NotificationRow<ClientConnection>>([
    ['notifications/initialized', { notified: (clientConnection) => clientConnection.ready() }],
    [
      'notifications/cancelled',
      { notified: (clientConnection, params) => clientConnection.cancelled(params) },
    ],
  ]),
};
