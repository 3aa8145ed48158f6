/** What a handler can do besides answering, for clients of both eras. */

import { expect, it } from 'vitest';
import { z } from 'zod';
import { type Context, defineServer, type Server, tool } from '../../src/kit/index.ts';
import { type ConnectOptions, connectInMemory, createGate } from '../../src/testing/index.ts';

const ERAS = ['legacy', 'modern'] as const;

function running(run: (context: Context) => unknown): Server {
  return defineServer({ name: 'context', tools: [tool({ name: 'run', run: (_, context) => run(context) })] });
}

/** The text or the error of one call of a tool that does this. */
async function outcome(run: (context: Context) => unknown, options: ConnectOptions = {}): Promise<unknown> {
  const client = await connectInMemory(running(run), options);
  try {
    const { content, isError } = await client.call('run');
    return { text: (content as { text: string }[])[0]?.text, ...(isError === true ? { isError } : {}) };
  } catch (thrown) {
    return (thrown as { detail: unknown }).detail;
  } finally {
    await client.close();
  }
}

// Protocol: 25-logging-3b, 25-logging-3c, 25-progress-4, 26-logging-5, 26-logging-7b, 26-logging-7c, 26-progress-4
it.each(ERAS)('KIT-1: a %s client sees progress, log messages and who it is taken for', async (era) => {
  // Taken apart, as authors do.
  const server = running(({ progress, log, client, meta }) => {
    progress(1, 2, 'half');
    log('info', { step: 1 });
    log('debug', 'to be heard', 'inner');
    return JSON.stringify([client.era, client.principal, meta['hint']]);
  });
  const client = await connectInMemory(server, { era });
  if (era === 'legacy') await client.request('logging/setLevel', { level: 'debug' });
  const seen: unknown[] = [];
  const params = { name: 'run', arguments: {}, _meta: { hint: 'x' } };
  const answer = await client.request('tools/call', params, { onProgress: (step) => seen.push(step) });
  expect(answer['content']).toEqual([{ type: 'text', text: JSON.stringify([era, 'local', 'x']) }]);
  expect(seen).toEqual([{ progress: 1, total: 2, message: 'half' }]);
  expect(client.notifications).toEqual([
    { method: 'notifications/message', params: { level: 'info', logger: 'context', data: { step: 1 } } },
    { method: 'notifications/message', params: { level: 'debug', logger: 'inner', data: 'to be heard' } },
  ]);
  await client.close();
});

// Protocol: 25-elicitation-7, 25-elicitation-9, 25-elicitation-53, 26-elicitation-7, 26-elicitation-9,
// 26-elicitation-22, 26-elicitation-23, 26-elicitation-45, 26-mrtr-22
it.each(ERAS)('KIT-1: a %s client is asked by a form, and its answer is checked', async (era) => {
  const asked: unknown[] = [];
  const ask = ({ elicit }: Context) =>
    elicit({ message: 'Your name?', schema: z.object({ name: z.string().min(2) }) }).then((answer) =>
      answer.action === 'accept' ? answer.content.name : answer.action,
    );
  const answering = (answer: unknown): ConnectOptions => ({
    era,
    elicit: (params) => {
      asked.push(params);
      return answer;
    },
  });
  expect(await outcome(ask, answering({ action: 'accept', content: { name: 'Ada' } }))).toEqual({
    text: 'Ada',
  });
  expect(asked).toEqual([
    {
      mode: 'form',
      message: 'Your name?',
      requestedSchema: {
        type: 'object',
        properties: { name: { type: 'string', minLength: 2 } },
        required: ['name'],
      },
    },
  ]);
  expect(await outcome(ask, answering({ action: 'decline' }))).toEqual({ text: 'decline' });
  expect(await outcome(ask, answering('nonsense'))).toEqual({ text: 'cancel' });
  expect(await outcome(ask, answering({ action: 'accept', content: { name: 'A' } }))).toMatchObject({
    text: expect.stringContaining('The answer does not fit: name: '),
    isError: true,
  });
});

// Protocol: 25-elicitation-11, 26-elicitation-11
it.each(ERAS)('KIT-1: a %s client is sent to an address, samples, and lists its roots', async (era) => {
  const everything = async ({ elicitUrl, sample, roots }: Context): Promise<unknown> => [
    await elicitUrl({ message: 'Log in', url: 'https://example.com/', id: 'login-1' }),
    (await sample({ messages: [], maxTokens: 10 })).content,
    await roots(),
  ];
  const asked: unknown[] = [];
  const options: ConnectOptions = {
    era,
    elicit: (params) => {
      asked.push(params);
      return { action: 'accept' };
    },
    sample: () => ({ role: 'assistant', content: { type: 'text', text: 'hm' }, model: 'm' }),
    roots: [{ uri: 'file:///work', name: 'work' }],
  };
  expect(await outcome(everything, options)).toEqual({
    text: JSON.stringify([
      { action: 'accept', id: 'login-1' },
      { type: 'text', text: 'hm' },
      [{ uri: 'file:///work', name: 'work' }],
    ]),
  });
  expect(asked).toEqual([
    { mode: 'url', message: 'Log in', url: 'https://example.com/', elicitationId: 'login-1' },
  ]);
});

// Protocol: 25-elicitation-6, 25-lifecycle-14b, 25-lifecycle-20b, 25-roots-8a, 26-base-54, 26-elicitation-6,
// 26-mrtr-13, 26-roots-8a
it('KIT-1: a client that cannot be asked is an error that the handler may catch', async () => {
  const ask = (context: Context) => context.sample({ messages: [], maxTokens: 10 });
  const message = 'The client did not declare sampling, which this request needs';
  expect(await outcome(ask, { era: 'legacy' })).toEqual({ text: message, isError: true });
  expect(await outcome(ask, { era: 'modern' })).toMatchObject({
    rpcCode: -32021,
    rpcData: { requiredCapabilities: { sampling: {} } },
  });
  for (const era of ERAS) {
    const tools = [{ name: 'add', inputSchema: { type: 'object' } }];
    const useTools = (context: Context) =>
      context.sample({ messages: [], maxTokens: 10, tools }).catch((error: Error) => error.message);
    const model = () => ({ role: 'assistant', content: { type: 'text', text: 'hm' }, model: 'm' });
    expect(await outcome(useTools, { era, sample: model })).toEqual({
      text: 'The client did not declare sampling.tools, which this request needs',
    });
    expect(await outcome(ask, { era, sample: () => ({ text: 'hm' }) })).toEqual({
      text: `The client's answer is not a completion: "model" is missing`,
      isError: true,
    });
    expect(await outcome((context) => ask(context).catch(() => 'went on'), { era })).toEqual({
      text: 'went on',
    });
    expect(await outcome(async (context) => String((await context.roots()).length), { era })).toEqual({
      text: '0',
    });
  }
});

// Protocol: 25-cancellation-4, 26-cancellation-12, 26-stdio-11
it.each(ERAS)('KIT-1: a %s client cancels: the signal is aborted, and nothing is answered', async (era) => {
  const begun = createGate();
  const cancelled = createGate();
  const server = running(async ({ signal }) => {
    begun.open();
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    cancelled.open();
  });
  const client = await connectInMemory(server, { era });
  const controller = new AbortController();
  const call = client.call('run', {}, { signal: controller.signal });
  await begun.opened;
  controller.abort();
  await expect(call).rejects.toMatchObject({ code: 'CANCELLED' });
  await cancelled.opened;
  await client.close();
});

it('KIT-1: when the client disconnects, its handlers are aborted', async () => {
  const begun = createGate();
  const gone = createGate();
  const server = running(({ signal }) => {
    signal.addEventListener('abort', () => gone.open());
    begun.open();
    return gone.opened;
  });
  const client = await connectInMemory(server);
  const call = client.call('run');
  await begun.opened;
  await client.close();
  await expect(call).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
  await gone.opened;
});
