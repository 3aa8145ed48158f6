/** The methods that every endpoint implements, whatever its backend. */

import type { Front } from './client-connection.ts';
import type { Method, MethodTable, NotificationRow } from './methods.ts';

export const FRONT_METHODS: MethodTable<Front> = {
  requests: new Map<string, Method<Front>>([
    ['server/discover', { era: 'modern', cached: true, answer: (front) => front.discover() }],
    ['subscriptions/listen', { era: 'modern', work: (front, params, work) => front.listen(params, work) }],
    ['initialize', { era: 'legacy', answer: (front, params) => front.initialize(params) }],
    ['ping', { era: 'legacy', answer: () => ({}) }],
    ['logging/setLevel', { era: 'legacy', answer: (front, { level }) => front.setLevel(level) }],
    [
      'resources/subscribe',
      { era: 'legacy', answer: (front, { uri }, asker) => front.subscribe(uri, asker) },
    ],
    ['resources/unsubscribe', { era: 'legacy', answer: (front, { uri }) => front.unsubscribe(uri) }],
  ]),
  notifications: new Map<string, NotificationRow<Front>>([
    ['notifications/initialized', { notified: (front) => front.ready() }],
    ['notifications/cancelled', { notified: (front, params) => front.cancelled(params) }],
  ]),
};
