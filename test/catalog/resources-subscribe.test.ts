import { describe, expect, it } from 'vitest';
import { fakeClock } from '../../src/testing/fake-clock.ts';
import { createGate } from '../../src/testing/gate.ts';
import type { ScriptedServer } from '../../src/testing/scripted-server.ts';
import { RpcError } from '../../src/testing/scripted-tool.ts';
import { contentServer, count, type Era, hostOver, paramsOf, updates } from './content-host.ts';

const ERAS: readonly Era[] = ['legacy', 'modern'];
const URI = 'file:///a.md';

/** Resolves with the nth subscription request that the server receives. */
async function told(server: ScriptedServer, era: Era, times = 1): Promise<unknown> {
  if (era === 'legacy') return paramsOf((await server.seen('resources/subscribe', times))[times - 1]);
  // The first stream is about the lists alone.
  return paramsOf((await server.seen('subscriptions/listen', times + 1))[times]);
}

const WANTED = {
  legacy: { uri: URI },
  modern: {
    notifications: { promptsListChanged: true, resourcesListChanged: true, resourceSubscriptions: [URI] },
  },
} as const;

const changed = (server: ScriptedServer, uri = URI): void =>
  server.notify('notifications/resources/updated', { uri });

describe.each(ERAS)('subscriptions to a %s server', (era) => {
  it('CAT-9: updates arrive until the last subscriber unsubscribes, which is sent to the server', async () => {
    const docs = contentServer({ era });
    const { host } = await hostOver({ docs });
    const [one, two] = [updates(), updates()];
    const stopOne = await host.subscribe('docs', URI, one.listener);
    const stopTwo = await host.subscribe('docs', URI, two.listener);
    expect(await told(docs, era)).toEqual(WANTED[era]);
    const first = Promise.all([one.next(), two.next()]);
    changed(docs);
    expect(await first).toEqual([
      { server: 'docs', uri: URI },
      { server: 'docs', uri: URI },
    ]);
    stopOne();
    stopOne();
    const second = two.next();
    changed(docs);
    await second;
    expect(one.all).toHaveLength(1);
    stopTwo();
    if (era === 'legacy') {
      expect(paramsOf((await docs.seen('resources/unsubscribe'))[0])).toEqual({ uri: URI });
      expect(count(docs, 'resources/subscribe')).toBe(1);
    } else {
      const [, , last] = await docs.seen('subscriptions/listen', 3);
      expect(paramsOf(last)).toEqual({
        notifications: { promptsListChanged: true, resourcesListChanged: true },
      });
    }
  });

  // Protocol: 26-subscriptions-8
  it('CAT-9: a server that crashed is asked again when it is back', async () => {
    const clock = fakeClock();
    const docs = contentServer({ era });
    const { host } = await hostOver({ docs }, { clock });
    const got = updates();
    await host.subscribe('docs', URI, got.listener);
    await told(docs, era);
    docs.crash();
    await clock.armed();
    await clock.advance(1_000);
    await host.connect('docs');
    if (era === 'legacy') expect(await told(docs, era, 2)).toEqual(WANTED.legacy);
    else expect(paramsOf((await docs.seen('subscriptions/listen', 4))[3])).toEqual(WANTED.modern);
    const next = got.next();
    changed(docs);
    expect(await next).toEqual({ server: 'docs', uri: URI });
  });

  it('a server without the capability is not asked, and the error names the reason', async () => {
    const docs = contentServer({ era, capabilities: { resources: {} } });
    const { host } = await hostOver({ docs });
    await expect(host.subscribe('docs', URI, () => {})).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
      server: 'docs',
      message: 'docs does not report changes of its resources',
    });
    expect(count(docs, 'resources/subscribe')).toBe(0);
  });

  it('a server with subscriptions is not put to rest', async () => {
    const clock = fakeClock();
    const docs = contentServer({ era });
    const { host } = await hostOver({ docs }, { clock });
    const stop = await host.subscribe('docs', URI, () => {});
    await clock.advance(60 * 60_000);
    expect(host.servers()[0]?.status).toBe('connected');
    stop();
    await clock.advance(60 * 60_000);
    expect(host.servers()[0]?.status).toBe('idle');
  });
});

describe('subscriptions', () => {
  it('an update of a part counts, one of a namesake does not', async () => {
    const docs = contentServer();
    const { host } = await hostOver({ docs });
    const got = updates();
    await host.subscribe('docs', 'file:///dir', got.listener);
    const next = got.next();
    changed(docs, 'file:///directory/x');
    changed(docs, 'file:///dir/x');
    expect(await next).toEqual({ server: 'docs', uri: 'file:///dir/x' });
  });

  it('a refusal reaches everybody who asked, and the next one asks again', async () => {
    const docs = contentServer();
    docs.once('resources/subscribe', () => {
      throw new RpcError(-32602, 'not that one');
    });
    const { host } = await hostOver({ docs });
    const both = await Promise.allSettled([
      host.subscribe('docs', URI, () => {}),
      host.subscribe('docs', URI, () => {}),
    ]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const got = updates();
    await host.subscribe('docs', URI, got.listener);
    expect(count(docs, 'resources/subscribe')).toBe(2);
    const next = got.next();
    changed(docs);
    await next;
  });

  it('subscribing again waits until the server is done with the end of the one before', async () => {
    const docs = contentServer({ files: { [URI]: 'a' } });
    const gate = createGate();
    const done: string[] = [];
    docs.on('resources/subscribe', () => void done.push('subscribed'));
    docs.once('resources/unsubscribe', async () => {
      await gate.opened;
      done.push('unsubscribed');
    });
    const { host } = await hostOver({ docs });
    (await host.subscribe('docs', URI, () => {}))();
    await docs.seen('resources/unsubscribe');
    const again = host.subscribe('docs', URI, () => {});
    // Answered behind whatever was sent before it.
    await host.read('docs', URI);
    gate.open();
    await again;
    expect(done).toEqual(['subscribed', 'unsubscribed', 'subscribed']);
  });

  it('a listener that throws harms no other', async () => {
    const docs = contentServer();
    const { host, complaints } = await hostOver({ docs });
    const got = updates();
    await host.subscribe('docs', URI, () => {
      throw new Error('oh no');
    });
    await host.subscribe('docs', URI, got.listener);
    const next = got.next();
    changed(docs);
    await next;
    expect(complaints).toEqual([`docs: a listener for ${URI} threw: oh no`]);
  });
});
