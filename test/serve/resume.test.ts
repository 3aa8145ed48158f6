import { request } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { type ServedHttp, serveHttp } from '../../src/serve/index.ts';
import { legacySession, post } from './bare-client.ts';
import { type SmallHost, smallHost } from './small-host.ts';

const URI = 'test://watched';
let small: SmallHost;
let served: ServedHttp;
afterEach(async () => {
  await served.close();
  await small.close();
});

interface Stream {
  /** Resolves with the ids and addresses of the first events. */
  first(count: number): Promise<[string, string][]>;
  /** Cuts the connection, as a laptop that goes to sleep does. */
  cut(): void;
}

function open(url: string, headers: Record<string, string>): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { accept: 'text/event-stream', ...headers } }, (answer) => {
      let text = '';
      let look = (): void => {};
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        look();
      });
      answer.on('error', () => {});
      resolve({
        first: (count) =>
          new Promise((found) => {
            look = () => {
              const events = [...text.matchAll(/id: (\S+)\nevent: message\ndata: .*"uri":"([^"]+)".*\n\n/g)];
              if (events.length >= count) found(events.map(([, id = '', uri = '']) => [id, uri]));
            };
            look();
          }),
        cut: () => sent.destroy(),
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

async function subscribed(): Promise<Record<string, string>> {
  small = await smallHost({ eras: 'legacy', capabilities: { resources: { subscribe: true } } });
  small.server.on('resources/list', () => ({ resources: [{ uri: URI, name: 'watched' }] }));
  small.server.on('resources/subscribe', () => ({}));
  served = await serveHttp(small.host, { port: 0 });
  const session = await legacySession(served.url);
  await post(
    served.url,
    { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: URI } },
    session,
  );
  return session;
}

/** Announces a change, and waits until the gateway has received it. */
async function change(times: number): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    const heard = new Promise<void>((resolve) => {
      const stop = small.host.on('log', () => {
        stop();
        resolve();
      });
    });
    small.server.notify('notifications/resources/updated', { uri: URI });
    small.server.notify('notifications/message', { level: 'error', data: `after ${n}` });
    await heard;
  }
}

// Protocol: 25-transports-33, 25-transports-36
it('SRV-1: a stream that broke goes on after the last event that its client saw', async () => {
  const session = await subscribed();
  const first = await open(served.url, session);
  await change(1);
  const [seen] = await first.first(1);
  first.cut();
  await change(2);
  const second = await open(served.url, { ...session, 'last-event-id': seen?.[0] ?? '' });
  const missed = await second.first(2);
  await change(1);
  const all = await second.first(3);
  second.cut();
  expect({
    missed: missed.map(([, uri]) => uri),
    ids: new Set([seen?.[0], ...all.map(([id]) => id)]).size,
  }).toEqual({
    missed: [URI, URI],
    ids: 4,
  });
});

// Protocol: 25-transports-37, 25-transports-39
it('A7: the event of one session means nothing in another', async () => {
  const session = await subscribed();
  await change(2);
  const other = await open(served.url, { ...(await legacySession(served.url)), 'last-event-id': '0' });
  const own = await open(served.url, { ...session, 'last-event-id': '0' });
  const [, second] = await own.first(2);
  await change(1);
  const heard = await own.first(3);
  let strange = 0;
  void other.first(1).then(() => {
    strange += 1;
  });
  await change(1);
  own.cut();
  other.cut();
  expect([second?.[1], heard.length, strange]).toEqual([URI, 3, 0]);
});
