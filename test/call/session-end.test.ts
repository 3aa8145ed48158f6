import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/config/limits.ts';
import type { ApprovalAnswer, ElicitAnswer, HostSession, PlugboardError } from '../../src/index.ts';
import { createGate, type Exchange, scriptedServer } from '../../src/testing/index.ts';
import { text } from '../world/content.ts';
import { failure } from '../world/failure.ts';
import { type ScriptedHost, scriptedHost } from '../world/scripted-host.ts';

const FORM = {
  message: 'Where?',
  requestedSchema: { type: 'object', properties: { place: { type: 'string' } } },
};

/** `wait` ends when it is cancelled, `ask` asks a form in the way of the era. */
function patient(era: 'modern' | 'legacy'): ReturnType<typeof scriptedServer> {
  return scriptedServer({
    eras: era,
    capabilities: { tools: {}, resources: { subscribe: true } },
    tools: {
      echo: () => 'here',
      wait: (_args, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('off')))),
      ask: (_args, exchange: Exchange) =>
        era === 'legacy'
          ? exchange.request('elicitation/create', FORM)
          : {
              resultType: 'input_required',
              inputRequests: { where: { method: 'elicitation/create', params: FORM } },
            },
    },
  });
}

/** A person who never answers, and the signal of each question. */
function silent(): {
  readonly asked: AbortSignal[];
  readonly isAsked: Promise<void>;
  readonly put: (request: { readonly signal?: AbortSignal }) => Promise<never>;
} {
  const gate = createGate();
  const asked: AbortSignal[] = [];
  return {
    asked,
    isAsked: gate.opened,
    put: ({ signal }) => {
      if (signal !== undefined) asked.push(signal);
      gate.open();
      return new Promise<never>(() => {});
    },
  };
}

const reasons = (signals: readonly AbortSignal[]): unknown =>
  signals.map(({ aborted, reason }) => [aborted, (reason as PlugboardError | undefined)?.code]);

describe.each(['modern', 'legacy'] as const)('a session that ends (%s)', (era) => {
  const made = (options: Parameters<typeof scriptedHost>[0] = {}): Promise<ScriptedHost> =>
    scriptedHost({ server: patient(era), sessions: { elicit: () => ({ action: 'cancel' }) }, ...options });

  it('cancels its calls, here and at the server, and leaves those of others alone', async () => {
    const world = await made();
    const [one, two] = [
      world.host.session({ approve: () => 'allow' }),
      world.host.session({ approve: () => 'allow' }),
    ];
    const calls = [one.call('mcp__s__wait'), one.call('mcp__s__wait')].map(failure);
    const other = two.call('mcp__s__wait');
    const others = failure(other);
    await world.server.seen('tools/call', 3);
    one.end();
    one.end();
    expect((await Promise.all(calls)).map((error) => error.toJSON())).toEqual(
      [1, 2].map(() => ({
        code: 'CANCELLED',
        message: `The call was cancelled: the session ${one.id} has ended`,
        server: 's',
      })),
    );
    expect(await world.server.seen('notifications/cancelled', 2)).toHaveLength(2);
    expect((await failure(one.call('mcp__s__echo'))).code).toBe('USAGE');
    expect(await two.call('mcp__s__echo')).toMatchObject({ content: [text('here')] });
    expect(world.events('call.end').map(({ outcome }) => outcome)).toEqual(['cancelled', 'cancelled', 'ok']);
    await world.host.close();
    expect((await others).code).toBe('CANCELLED');
  });

  it('withdraws its approvals and forms, and aborts their signals', async () => {
    const world = await made();
    const approval = silent();
    const asking = world.host.session({ approve: approval.put });
    const asked = failure(asking.call('mcp__s__echo'));
    await approval.isAsked;
    asking.end();
    expect((await asked).code).toBe('CANCELLED');
    expect(reasons(approval.asked)).toEqual([[true, 'CANCELLED']]);
    const form = silent();
    const filling = world.host.session({ approve: () => 'allow', elicit: form.put });
    const filled = failure(filling.call('mcp__s__ask'));
    await form.isAsked;
    filling.end();
    expect((await filled).code).toBe('CANCELLED');
    expect(reasons(form.asked)).toEqual([[true, 'CANCELLED']]);
    expect(world.events('answer').filter(({ answer }) => answer === 'cancelled')).toHaveLength(2);
    await world.host.close();
  });

  it('ends what reads and subscribes for it', async () => {
    const world = await made();
    world.server.on(
      'resources/read',
      ({ signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('off')))),
    );
    const session = world.host.session();
    const read = failure(session.read('s', 'a://b'));
    await world.server.seen('resources/read');
    session.end();
    expect((await read).toJSON()).toMatchObject({ code: 'CANCELLED', server: 's' });
    await world.server.seen('notifications/cancelled');
    await world.host.close();
  });
});

describe('work of a session that has not begun', () => {
  const calling = async (
    world: ScriptedHost,
  ): Promise<{ session: HostSession; calls: Promise<unknown>[] }> => {
    const session = world.host.session({ approve: () => 'allow' });
    const calls = Array.from({ length: DEFAULT_LIMITS.maxConcurrentCalls + 1 }, () =>
      failure(session.call('mcp__s__wait')),
    );
    await world.server.seen('tools/call', DEFAULT_LIMITS.maxConcurrentCalls);
    return { session, calls };
  };

  it('ends in the line of a busy server too', async () => {
    const world = await scriptedHost({ server: patient('legacy') });
    const { session, calls } = await calling(world);
    session.end();
    for (const call of calls) expect(await call).toMatchObject({ code: 'CANCELLED' });
    await world.server.seen('notifications/cancelled', DEFAULT_LIMITS.maxConcurrentCalls);
    expect(
      world.server.received.filter((each) => 'method' in each && each.method === 'tools/call'),
    ).toHaveLength(DEFAULT_LIMITS.maxConcurrentCalls);
    await world.host.close();
  });

  it('ends while the server is started', async () => {
    const world = await scriptedHost({ server: patient('legacy') });
    await world.host.disconnect('s');
    const gate = createGate();
    const started = createGate();
    for (const method of ['server/discover', 'initialize'])
      world.server.on(method, async () => {
        started.open();
        await gate.opened;
        throw new Error('too late');
      });
    const connecting = world.host.connect('s').catch(() => {});
    await started.opened;
    const session = world.host.session();
    const read = failure(session.read('s', 'a://b'));
    session.end();
    expect(await read).toMatchObject({ code: 'CANCELLED' });
    gate.open();
    await world.host.close();
    await connecting;
  });
});

describe('the signal of a question', () => {
  const answers: readonly (ApprovalAnswer | ElicitAnswer)[] = ['allow', { action: 'decline' }];

  it('is there for each question, and is neither compared nor aborted after an answer', async () => {
    const seen: { readonly signal?: AbortSignal }[] = [];
    const world = await scriptedHost({
      server: patient('modern'),
      approve: (request) => {
        seen.push(request);
        return 'allow';
      },
      elicit: (request) => {
        seen.push(request);
        world.server.tool('ask', () => 'asked');
        return { action: 'decline' };
      },
    });
    await world.host.call('mcp__s__ask');
    expect(seen.map((request) => [request.signal?.aborted, Object.keys(request).includes('signal')])).toEqual(
      answers.map(() => [false, false]),
    );
    await world.host.call('mcp__s__ask', {}, { signal: new AbortController().signal });
    expect(Object.keys(seen[2] ?? {})).toContain('signal');
    await world.host.close();
    expect(seen.map(({ signal }) => signal?.aborted)).toEqual([false, false, false]);
  });

  it.each(['modern', 'legacy'] as const)('is aborted when the host closes (%s)', async (era) => {
    const [approval, form] = [silent(), silent()];
    const world = await scriptedHost({ server: patient(era), sessions: { elicit: form.put } });
    const approving = failure(world.host.session({ approve: approval.put }).call('mcp__s__echo'));
    const filling = world.host.session({ approve: () => 'allow', elicit: form.put });
    const filled = failure(filling.call('mcp__s__ask'));
    await Promise.all([approval.isAsked, form.isAsked]);
    await world.host.close();
    expect([(await approving).code, (await filled).code]).toEqual(['CANCELLED', 'CANCELLED']);
    expect([reasons(approval.asked), reasons(form.asked)]).toEqual([
      [[true, 'CANCELLED']],
      [[true, 'CANCELLED']],
    ]);
  });

  it.each(['modern', 'legacy'] as const)('is aborted when the server of a form is gone (%s)', async (era) => {
    const form = silent();
    const world = await scriptedHost({ server: patient(era), elicit: form.put });
    const filled = failure(world.host.call('mcp__s__ask'));
    await form.isAsked;
    world.server.crash();
    expect((await filled).code).toBe('CONNECTION_LOST');
    expect(form.asked.map(({ aborted }) => aborted)).toEqual([true]);
    await world.host.close();
  });

  it('is aborted when the server of an approval was disconnected', async () => {
    const approval = silent();
    const world = await scriptedHost({ approve: approval.put });
    const approved = failure(world.host.call('mcp__s__echo'));
    await approval.isAsked;
    await world.host.disconnect('s');
    expect((await approved).code).toBe('CONNECTION_LOST');
    expect(reasons(approval.asked)).toEqual([[true, 'CONNECTION_LOST']]);
    await world.host.close();
  });
});
