/** A stream of events of the gateway, read while it is open. */

import { request } from 'node:http';

export interface EventStream {
  /** Resolves with all events so far once there are this many. */
  events(count: number): Promise<Record<string, unknown>[]>;
  /** The ids of the events so far, the newest first. */
  ids(): string[];
  /** Cuts the connection, as a laptop that goes to sleep does. */
  cut(): void;
}

/** A GET, or the POST of a message whose answer is a stream. */
export function openStream(
  url: string,
  headers: Record<string, string>,
  message?: object,
): Promise<EventStream> {
  return new Promise((resolve, reject) => {
    const accept = 'application/json, text/event-stream';
    const method = message === undefined ? 'GET' : 'POST';
    const sent = request(
      url,
      { method, headers: { accept, 'content-type': 'application/json', ...headers } },
      (answer) => {
        let text = '';
        let look = (): void => {};
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          look();
        });
        answer.on('error', () => {});
        const events = (): Record<string, unknown>[] =>
          [...text.matchAll(/data: (.+)\n\n/g)].map(([, data = '']) => JSON.parse(data));
        resolve({
          events: (count) =>
            new Promise((found) => {
              look = () => {
                if (events().length >= count) found(events());
              };
              look();
            }),
          ids: () => [...text.matchAll(/^id: (.+)$/gm)].map(([, id = '']) => id).reverse(),
          cut: () => sent.destroy(),
        });
      },
    );
    sent.on('error', reject);
    sent.end(message === undefined ? undefined : JSON.stringify(message));
  });
}
