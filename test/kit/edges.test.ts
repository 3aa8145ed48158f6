/** The table of KIT-2: what a server of the kit does where requests, lines and handlers go wrong. */

import { expect, it } from 'vitest';
import { z } from 'zod';
import { defineServer, http, RpcFailure, type Server, tool } from '../../src/kit/index.ts';
import { connectInMemory, createGate } from '../../src/testing/index.ts';
import { call, request, result, talkTo, text } from './lines.ts';

const message = {
  type: 'object',
  properties: { message: { type: 'string' } },
  required: ['message'],
} as const;

function server(options: Partial<Parameters<typeof defineServer>[0]> = {}): Server {
  return defineServer({
    name: 'edges',
    version: '1.0.0',
    tools: [
      tool({ name: 'echo', description: 'Says it.', input: message, run: ({ message }) => message }),
      tool({ name: 'zod', input: z.object({ size: z.number().int() }), run: ({ size }) => `${size}` }),
      tool({
        name: 'throws',
        run: () => {
          throw new Error('the disk is full');
        },
      }),
      tool({
        name: 'throws-text',
        run: () => {
          throw 'nothing but text';
        },
      }),
      tool({
        name: 'refuses',
        run: () => {
          throw new RpcFailure(-32042, 'visit this first', { url: 'https://example.com' });
        },
      }),
    ],
    ...options,
  });
}

/** What is answered to these messages, in the order of the answers' ids. */
async function answers(to: Server, ...messages: readonly unknown[]): Promise<unknown> {
  const talk = await talkTo(to);
  talk.say(...messages);
  const heard = await talk.end();
  return [...heard].sort((a, b) => Number(a['id'] ?? 0) - Number(b['id'] ?? 0));
}

function error(id: number | string | null, code: number, message: string, data?: unknown): unknown {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

it('KIT-2: an unknown method is −32601, also one that only the other era has', async () => {
  expect(await answers(server(), request(1, 'tools/destroy'), request(2, 'server/discover'))).toEqual([
    error(1, -32601, 'Method not found: tools/destroy'),
    error(2, -32601, 'Method not found: server/discover'),
  ]);
});

// Protocol: 25-completion-2, 25-lifecycle-14b, 25-prompts-9, 26-completion-3, 26-prompts-12
it('KIT-2: a method that is not offered is unknown too', async () => {
  expect(await answers(server(), request(1, 'resources/list'), request(2, 'prompts/list'))).toEqual([
    error(1, -32601, 'Method not found: resources/list'),
    error(2, -32601, 'Method not found: prompts/list'),
  ]);
});

// Protocol: 25-schema-15, 25-tools-16, 26-schema-44, 26-tools-34
it('KIT-2: a handler that throws is a result with isError and its message', async () => {
  expect(await answers(server(), call(1, 'throws'), call(2, 'throws-text'))).toEqual([
    result(1, text('the disk is full', true)),
    result(2, text('nothing but text', true)),
  ]);
});

it('KIT-2: when the author chooses protocol errors, it is −32000 with data.error, −32603 in the modern era', async () => {
  const failed = error(1, -32000, 'tools/call failed', { error: 'the disk is full' });
  expect(await answers(server({ errors: 'protocol' }), call(1, 'throws'))).toEqual([failed]);
  const strict = tool({
    name: 'throws',
    errors: 'protocol',
    run: () => Promise.reject(new Error('the disk is full')),
  });
  expect(await answers(server({ tools: [strict] }), call(1, 'throws'))).toEqual([failed]);
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const modern = request(1, 'tools/call', { name: 'throws', _meta });
  expect(await answers(server({ errors: 'protocol' }), modern)).toEqual([
    error(1, -32603, 'tools/call failed', { error: 'the disk is full' }),
  ]);
});

it('KIT-2: an error of the protocol that a handler throws is answered unchanged', async () => {
  expect(await answers(server(), call(1, 'refuses'))).toEqual([
    error(1, -32042, 'visit this first', { url: 'https://example.com' }),
  ]);
});

it('KIT-2: an unknown tool is −32602 and names the nearest one, whatever the author chooses for errors', async () => {
  const unknown = error(1, -32602, 'There is no tool "ecko". Did you mean "echo"?');
  expect(await answers(server(), call(1, 'ecko'))).toEqual([unknown]);
  expect(await answers(server({ errors: 'protocol' }), call(1, 'ecko'))).toEqual([unknown]);
});

// Protocol: 25-tools-17a, 26-tools-35a
it('KIT-2: invalid arguments are a result with isError that names what is wrong', async () => {
  expect(
    await answers(
      server({ errors: 'protocol' }),
      call(1, 'echo', { massage: 'hi' }),
      call(2, 'zod', { size: 'large' }),
    ),
  ).toEqual([
    result(1, text('Invalid arguments for echo: message is required', true)),
    result(2, text('Invalid arguments for zod: size: Invalid input: expected number, received string', true)),
  ]);
});

// Protocol: 25-logging-2, 25-pagination-2b, 25-pagination-5, 26-pagination-3b, 26-pagination-7
it('KIT-2: malformed params are −32602', async () => {
  const list = ['not', 'an', 'object'];
  expect(
    await answers(
      server(),
      request(1, 'tools/list', list),
      request(2, 'tools/call', 'echo'),
      request(3, 'tools/call'),
      call(4, 7),
      call(5, 'echo', list),
      request(6, 'tools/list', { cursor: 'invented' }),
      request(7, 'logging/setLevel', { level: 'loud' }),
    ),
  ).toEqual([
    error(1, -32602, '"params" must be an object'),
    error(2, -32602, '"params" must be an object'),
    error(3, -32602, 'tools/call needs the name of a tool'),
    error(4, -32602, 'tools/call needs the name of a tool'),
    error(5, -32602, 'The arguments of a tool must be an object'),
    error(6, -32602, 'This cursor is not known here'),
    error(
      7,
      -32602,
      '"loud" is not a log level: use one of debug, info, notice, warning, error, critical, alert, emergency',
    ),
  ]);
});

// Protocol: 25-base-2, 25-base-8, 25-base-9, 25-base-10, 26-base-2, 26-base-12, 26-base-13, 26-base-14
it('KIT-2: a line that is not JSON is −32700, one that is no message −32600, and the loop goes on', async () => {
  const talk = await talkTo(server());
  talk.write('{"jsonrpc":\n');
  talk.write(
    '42\n{"id":1,"method":"ping"}\n{"jsonrpc":"2.0","id":2}\n{"jsonrpc":"2.0","id":{},"method":"ping"}\n',
  );
  talk.say(request(3, 'ping'));
  expect(await talk.end()).toEqual([
    error(null, -32700, 'This line is not JSON'),
    error(null, -32600, 'This line is not a JSON-RPC message'),
    error(null, -32600, 'This line is not a JSON-RPC message'),
    error(2, -32600, 'This is neither a request nor an answer'),
    error(null, -32600, 'An id must be text or a number'),
    result(3, {}),
  ]);
});

it('F15, F11: a message nested without end or longer than a body may be is refused by its id, and the loop goes on', async () => {
  const talk = await talkTo(server());
  const deep = `${'['.repeat(2_000)}${']'.repeat(2_000)}`;
  const limit = 16 * 1024 * 1024;
  const long = 'x'.repeat(limit);
  const lines = [
    `{"jsonrpc":"2.0","id":"two","method":"ping","params":{"a":"${long}"}}`,
    `{"method":"ping","params":{"a":"${long}"},"jsonrpc":"2.0","id":3}`,
    `{"jsonrpc":"2.0","id":4,"result":{"a":"${long}"}}`,
  ];
  talk.write(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${deep}}}\n`);
  for (const line of lines) talk.write(`${line}\n`);
  talk.say(request(5, 'ping'));
  const tooLong = (at: number): string =>
    `A message of ${lines[at]?.length} bytes; the limit is ${limit} bytes.`;
  expect(await talk.end()).toEqual([
    error(1, -32700, 'This line is nested more than 1000 levels deep.'),
    error('two', -32600, tooLong(0)),
    error(3, -32600, tooLong(1)),
    error(null, -32600, tooLong(2)),
    result(5, {}),
  ]);
});

// Protocol: 25-base-4, 25-base-11, 25-cancellation-9, 26-base-4, 26-base-23, 26-cancellation-17
it('KIT-2: without an id, or with null, it is a notification, and never answered', async () => {
  expect(
    await answers(
      server(),
      { jsonrpc: '2.0', id: null, method: 'tools/list' },
      { jsonrpc: '2.0', method: 'tools/call', params: { name: 'throws' } },
      { jsonrpc: '2.0', id: null, method: 'no/such' },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 77 } },
      request(1, 'ping'),
    ),
  ).toEqual([result(1, {})]);
});

// Protocol: 25-lifecycle-3, 25-lifecycle-9, 25-lifecycle-11
it('KIT-2: initialize with empty params is answered, and a second one too', async () => {
  const about = (protocolVersion: string): unknown => ({
    protocolVersion,
    serverInfo: { name: 'edges', version: '1.0.0' },
    capabilities: { tools: { listChanged: true }, logging: {} },
  });
  expect(
    await answers(
      server(),
      request(1, 'initialize', {}),
      request(2, 'initialize', { protocolVersion: '2024-11-05' }),
      request(3, 'initialize'),
    ),
  ).toEqual([result(1, about('2025-11-25')), result(2, about('2024-11-05')), result(3, about('2025-11-25'))]);
});

it('KIT-1: the answer to initialize can be overridden, and a failing override is an error of the protocol', async () => {
  const own = server({ initialize: (params, answer) => ({ ...answer, extra: params['extra'] }) });
  const [first] = (await answers(own, request(1, 'initialize', { extra: 'x' }))) as [{ result: unknown }];
  expect(first.result).toMatchObject({ protocolVersion: '2025-11-25', extra: 'x' });
  const failing = server({ initialize: () => Promise.reject(new Error('no')) });
  expect(await answers(failing, request(1, 'initialize', {}))).toEqual([
    error(1, -32000, 'no', { error: 'no' }),
  ]);
});

it('KIT-2: blank lines are ignored, a batch is unpacked, and the last line may lack its newline', async () => {
  const talk = await talkTo(server());
  talk.write('\n  \r\n');
  talk.write(`${JSON.stringify([request(1, 'ping'), request(2, 'ping')])}\r\n\n`);
  talk.write(JSON.stringify(request(3, 'ping')));
  expect(await talk.end()).toEqual([result(1, {}), result(2, {}), result(3, {})]);
});

it('KIT-2: the end of input ends the server after its pending answers', async () => {
  const gate = createGate();
  const waits = tool({
    name: 'waits',
    run: async () => {
      await gate.opened;
      return 'done';
    },
  });
  const talk = await talkTo(server({ tools: [waits] }));
  talk.say(call(1, 'waits'), request(2, 'tools/list'));
  const ended = talk.end();
  await talk.atLeast(1);
  gate.open();
  expect((await ended).at(-1)).toEqual(result(1, text('done')));
});

it('KIT-2: a value that JSON cannot represent is an error for its request only, over every transport', async () => {
  const odd = (): Server =>
    server({
      tools: [
        tool({ name: 'bigint', run: () => ({ n: 10n }) }),
        tool({ name: 'whole', run: () => ({ content: [], _meta: { n: 10n } }) }),
        tool({ name: 'symbol', run: () => Symbol('x') }),
      ],
    });
  const why = 'Do not know how to serialize a BigInt';
  expect(await answers(odd(), call(1, 'bigint'), call(2, 'whole'), call(3, 'symbol'))).toEqual([
    result(1, text(why, true)),
    error(2, -32603, `The answer cannot be written as JSON: ${why}`),
    result(3, text('Symbol(x)')),
  ]);
  const client = await connectInMemory(odd());
  await expect(client.call('whole')).rejects.toMatchObject({ detail: { rpcCode: -32603 } });
  await client.close();
  const served = await odd().serve(http({ port: 0 }));
  const response = await fetch(served.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(call(1, 'whole')),
  });
  expect(await response.json()).toMatchObject({ id: 1, error: { code: -32603 } });
  await served.close();
});

it('KIT-2: two requests with one id at the same time: the second is refused', async () => {
  const gate = createGate();
  const waits = tool({ name: 'waits', run: () => gate.opened.then(() => 'done') });
  const talk = await talkTo(server({ tools: [waits] }));
  talk.say(call(1, 'waits'), call(1, 'waits'));
  await talk.atLeast(1);
  gate.open();
  expect(await talk.end()).toEqual([
    error(1, -32600, 'A request with this id is being worked on'),
    result(1, text('done')),
  ]);
});

// Protocol: 25-completion-3c, 25-completion-5b, 25-tools-17c, 26-completion-4c, 26-completion-6b, 26-tools-35c
it('KIT-2: more requests than run at once wait for their turn; those cancelled while they wait never begin', async () => {
  const RUNNING = 1_024;
  const gate = createGate();
  const begun: unknown[] = [];
  const waits = tool({
    name: 'waits',
    run: async ({ n }) => {
      begun.push(n);
      await gate.opened;
      return String(n);
    },
  });
  const talk = await talkTo(server({ tools: [waits] }));
  const all = Array.from({ length: RUNNING + 3 }, (_, n) => n);
  talk.say(...all.map((n) => call(n, 'waits', { n })));
  talk.say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: RUNNING + 1 } });
  talk.say(request('ping', 'ping'));
  await talk.atLeast(1);
  expect(begun).toEqual(all.slice(0, RUNNING));
  gate.open();
  const heard = await talk.end();
  expect(begun).toEqual(all.filter((n) => n !== RUNNING + 1));
  expect(
    heard
      .slice(1)
      .map(({ id }) => Number(id))
      .toSorted((a, b) => a - b),
  ).toEqual(begun);
});

// Protocol: 25-completion-3c, 25-completion-5b, 25-tools-17c, 26-completion-4c, 26-completion-6b, 26-tools-35c
it('KIT-2: queues are bounded: past the limit a request is refused, and the others are still answered', async () => {
  const OPEN = 16_384;
  const gate = createGate();
  const waits = tool({ name: 'waits', run: () => gate.opened.then(() => 'done') });
  const talk = await talkTo(server({ tools: [waits] }));
  talk.say(...Array.from({ length: OPEN + 1 }, (_, n) => call(n, 'waits')));
  expect(await talk.atLeast(1)).toEqual([error(OPEN, -32603, `More than ${OPEN} requests at once`)]);
  gate.open();
  expect(await talk.end()).toHaveLength(OPEN + 1);
});
