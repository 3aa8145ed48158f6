import { afterEach, describe, expect, it } from 'vitest';
import type { HostOptions } from '../../src/host/host-options.ts';
import type { LineClient } from '../serve/line-client.ts';
import { type AskingHost, ask, askingEntry, askingHost, called } from './asking.ts';

const opened: AskingHost[] = [];
afterEach(async () => {
  for (const world of opened.splice(0)) await world.close();
});

async function world(options: Partial<HostOptions> = {}): Promise<AskingHost> {
  const made = await askingHost({ old: askingEntry('legacy', 'roots'), new: askingEntry('modern') }, options);
  opened.push(made);
  return made;
}

interface Rooted {
  readonly client: LineClient;
  /** Changes the client's roots and notifies the gateway. */
  move(...uris: string[]): void;
}

async function rooted(made: AskingHost, era: 'legacy' | 'modern', ...uris: string[]): Promise<Rooted> {
  let roots = uris.map((uri) => ({ uri }));
  const client = await made.client(era, { roots: { listChanged: true } }, () => ({ roots }));
  return {
    client,
    move(...moved) {
      roots = moved.map((uri) => ({ uri }));
      client.notify('notifications/roots/list_changed', {});
    },
  };
}

/** Waits until the server has got an answer about roots for the n-th time. */
async function told(client: LineClient, count: number): Promise<unknown> {
  for (;;) {
    const answers = (await called(client, 'old__roots')) as unknown[];
    if (answers.length >= count) return answers;
  }
}

describe.each([false, true])('many agents: %s', (manyAgents) => {
  it('SRV-10.12: a server that asks as soon as it is initialized gets the roots of its client', async () => {
    const { client } = await rooted(await world({ manyAgents }), 'legacy', 'file:///a');
    expect(await told(client, 1)).toEqual([['file:///a']]);
  });

  // Protocol: 25-roots-2, 25-roots-7d, 26-roots-7d
  it('SRV-10.12: a change of roots is passed on, and the server gets the new ones', async () => {
    const { client, move } = await rooted(await world({ manyAgents }), 'legacy', 'file:///a');
    await told(client, 1);
    move('file:///b', 'file:///c');
    expect(await told(client, 2)).toEqual([['file:///a'], ['file:///b', 'file:///c']]);
  });

  // Protocol: 25-roots-4
  it('SRV-10.12: a client without roots is an error, not an empty list', async () => {
    const made = await world({ manyAgents });
    const client = await made.client('legacy', {});
    expect(await told(client, 1)).toEqual([-32601]);
  });

  // Protocol: 25-roots-5c, 26-roots-5c
  it('A7: a client with other roots has a process of its own, one with the same shares it', async () => {
    const made = await world({ manyAgents });
    const ann = await rooted(made, 'legacy', 'file:///ann');
    await told(ann.client, 1);
    const bob = await rooted(made, 'legacy', 'file:///bob');
    const cleo = await rooted(made, 'legacy', 'file:///bob');
    const none = await made.client('legacy', {});
    expect([
      await told(bob.client, 1),
      await told(cleo.client, 1),
      await told(none, 1),
      await called(ann.client, 'old__roots'),
      made.host.servers().find(({ name }) => name === 'old')?.dedicated?.length,
    ]).toEqual([[['file:///bob']], [['file:///bob']], [-32601], [['file:///ann']], 2]);
    ann.move('file:///bob');
    expect(await told(bob.client, 1)).toEqual([['file:///bob']]);
  });

  it('A7: a call that waited while the process was given roots of another client goes elsewhere', async () => {
    const made = await askingHost({ late: askingEntry('legacy') }, { manyAgents });
    opened.push(made);
    const ann = await rooted(made, 'legacy', 'file:///ann');
    const bob = await rooted(made, 'legacy', 'file:///bob');
    const none = await made.client('legacy', {});
    const calls = [called(ann.client, 'late__learn'), called(bob.client, 'late__roots')];
    expect(await Promise.all([...calls, called(none, 'late__roots')])).toEqual([[['file:///ann']], [], []]);
    expect(await Promise.all([called(bob.client, 'late__learn'), called(ann.client, 'late__roots')])).toEqual(
      [[['file:///bob']], [['file:///ann']]],
    );
  });

  it('A7: a session that leaves shared roots leaves the process to the other', async () => {
    const made = await world({ manyAgents });
    const ann = await rooted(made, 'legacy', 'file:///a');
    const bob = await rooted(made, 'legacy', 'file:///a');
    expect([await told(ann.client, 1), await told(bob.client, 1)]).toEqual([
      [['file:///a']],
      [['file:///a']],
    ]);
    bob.move('file:///b');
    // The notification has been read once a later request is answered.
    await bob.client.request('prompts/list');
    expect([await told(bob.client, 1), await told(ann.client, 1)]).toEqual([
      [['file:///b']],
      [['file:///a']],
    ]);
  });
});

it.each(['legacy', 'modern'] as const)(
  'SRV-10.12: a %s client is asked for its roots during a call',
  async (era) => {
    const { client } = await rooted(await world(), era, 'file:///a');
    expect([await ask(client, 'new', 'roots/list'), await ask(client, 'old', 'roots/list')]).toEqual([
      { result: { roots: [{ uri: 'file:///a' }] } },
      { result: { roots: [{ uri: 'file:///a' }] } },
    ]);
  },
);

describe('host.setRoots', () => {
  // Protocol: 25-roots-2, 25-roots-7d, 26-roots-7d
  it('SRV-10.12: servers get the new roots', async () => {
    const made = await world({ sessions: undefined, roots: [{ uri: 'file:///one' }] });
    const { host } = made;
    await host.ready();
    const answers = async (count: number): Promise<unknown> => {
      for (;;) {
        const { content } = await host.call('mcp__old__roots');
        const list = content[0]?.type === 'text' ? JSON.parse(content[0].text) : [];
        if (list.length >= count) return list;
      }
    };
    expect(await answers(1)).toEqual([['file:///one']]);
    await host.setRoots([{ uri: 'file:///two' }]);
    expect(await answers(2)).toEqual([['file:///one'], ['file:///two']]);
  });

  it('SRV-10.12: a host that was made without roots declares them from then on', async () => {
    const made = await world({ sessions: undefined });
    const { host } = made;
    await host.ready();
    const text = async (name: string): Promise<unknown> => {
      const { content } = await host.call(name);
      return content[0]?.type === 'text' ? JSON.parse(content[0].text) : undefined;
    };
    const before = await text('mcp__old__capabilities');
    await host.setRoots([{ uri: 'file:///two' }]);
    const after = await text('mcp__old__capabilities');
    expect([before, after]).toEqual([
      { extensions: expect.anything() },
      { roots: { listChanged: true }, extensions: expect.anything() },
    ]);
  });
});
