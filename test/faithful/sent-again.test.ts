/** A modern client that sends its answers again, because the connection broke before it had the result. */

import { request } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { serveHttp } from '../../src/serve/index.ts';
import { createGate, type Gate } from '../../src/testing/index.ts';
import { modern } from '../serve/bare-client.ts';
import { smallHost } from '../serve/small-host.ts';

const QUESTION = {
  method: 'elicitation/create',
  params: { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } },
};
const CAPABILITIES = { elicitation: { form: {} } };
const CALL = { name: 'small__pay', arguments: { sum: 1 } };

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

interface Paying {
  readonly url: string;
  /** How often the tool has been answered and works. */
  works: number;
  cancelled: number;
  readonly working: Gate;
  readonly stopped: Gate;
  readonly done: Gate;
}

/** A tool that asks, and then works until the gate is open or it is cancelled. */
async function paying(eras: 'legacy' | 'modern'): Promise<Paying> {
  const world = { works: 0, cancelled: 0, working: createGate(), stopped: createGate(), done: createGate() };
  const small = await smallHost({
    eras,
    capabilities: { tools: {} },
    tools: {
      pay: async (_, exchange) => {
        if (eras === 'legacy') await exchange.request(QUESTION.method, QUESTION.params);
        else if (exchange.params['inputResponses'] === undefined)
          return { resultType: 'input_required', inputRequests: { sure: QUESTION }, requestState: 's' };
        world.works += 1;
        world.working.open();
        const isFirst = world.works === 1;
        exchange.signal.addEventListener('abort', () => {
          world.cancelled += 1;
          world.stopped.open();
        });
        await Promise.race([world.done.opened, ...(isFirst ? [world.stopped.opened] : [])]);
        return 'paid';
      },
    },
  });
  opened.push(() => small.close());
  const { url, close } = await serveHttp(small.host, { port: 0 });
  opened.push(close);
  return Object.assign(world, { url });
}

/** The retry with the answer to what the first round asked. */
async function answered(url: string): Promise<Record<string, unknown>> {
  const { messages } = await modern(url, 1, 'tools/call', CALL, CAPABILITIES);
  const [{ result } = {}] = messages as { result: { inputRequests: object; requestState: string } }[];
  const keys = Object.keys(result?.inputRequests ?? {});
  const answer = { action: 'accept', content: {} };
  return {
    ...CALL,
    requestState: result?.requestState,
    inputResponses: Object.fromEntries(keys.map((key) => [key, answer])),
  };
}

const PAID = [{ result: { content: [{ type: 'text', text: 'paid' }] } }];

/** Sends the call and breaks the connection once the tool works on it. */
async function dropped(world: Paying, params: Record<string, unknown>): Promise<void> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'bare', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': CAPABILITIES,
  };
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': CALL.name,
  };
  const sent = request(world.url, { method: 'POST', headers }).on('error', () => {});
  sent.end(
    JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { ...params, _meta: meta } }),
  );
  await world.working.opened;
  sent.destroy();
  await world.stopped.opened;
}

it.each(['legacy', 'modern'] as const)(
  'SRV-10.8: answers whose connection broke are sent again, and are not asked for twice (%s server)',
  async (eras) => {
    const world = await paying(eras);
    const retry = await answered(world.url);
    await dropped(world, retry);
    world.done.open();
    const { messages } = await modern(world.url, 3, 'tools/call', retry, CAPABILITIES);
    expect([messages, world.works, world.cancelled]).toMatchObject([PAID, 2, 1]);
  },
);

it('SRV-10.8: answers that are sent again while the tool works wait for the same result', async () => {
  const world = await paying('modern');
  const retry = await answered(world.url);
  const first = modern(world.url, 2, 'tools/call', retry, CAPABILITIES);
  await world.working.opened;
  const second = modern(world.url, 3, 'tools/call', retry, CAPABILITIES);
  // Answered after the second one has arrived.
  await modern(world.url, 4, 'tools/list');
  world.done.open();
  const answers = (await Promise.all([first, second])).map(({ messages }) => messages);
  const third = await modern(world.url, 5, 'tools/call', retry, CAPABILITIES);
  expect([...answers, third.messages, world.works]).toMatchObject([PAID, PAID, PAID, 1]);
});

it('SRV-10.8: another request cannot have the result of answers that were given', async () => {
  const world = await paying('modern');
  const retry = await answered(world.url);
  world.done.open();
  await modern(world.url, 2, 'tools/call', retry, CAPABILITIES);
  const other = { ...retry, arguments: { sum: 2 } };
  const { messages } = await modern(world.url, 3, 'tools/call', other, CAPABILITIES);
  expect(messages).toMatchObject([{ error: { code: -32602 } }]);
});
