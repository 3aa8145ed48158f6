import { request } from 'node:http';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { serveHttp, serveStdio } from '../../src/serve/index.ts';
import { createGate, fakeClock } from '../../src/testing/index.ts';
import { legacySession, modern, post } from '../serve/bare-client.ts';
import { type SmallHost, smallHost } from '../serve/small-host.ts';
import { openRawGateway, type RawGateway } from '../world/raw-gateway.ts';

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

let world: RawGateway;

beforeAll(async () => {
  world = await openRawGateway({ old: { era: 'legacy' } });
});

afterAll(() => world.close());

// Protocol: 26-http-49, 26-http-69
it('SRV-10.15: Mcp-Name in base64 is decoded before it is compared, and a wrong one is refused', async () => {
  const encoded = (name: string): string => `=?base64?${Buffer.from(name).toString('base64')}?=`;
  const call = (name: string): ReturnType<typeof modern> =>
    modern(world.http.url, 1, 'tools/call', { name: 'old__seen' }, {}, { 'mcp-name': name });
  const answers = await Promise.all([
    call(encoded('old__seen')),
    call(encoded('old__other')),
    call('=?base64?not base64?='),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 400, 400]);
  expect(answers[1]?.messages).toMatchObject([{ error: { code: -32020 } }]);
});

it('SRV-10.15: initialize with a modern header or envelope begins a legacy session', async () => {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
  const header = { 'mcp-protocol-version': '2026-07-28' };
  for (const [body, headers] of [
    [initialize, header],
    [{ ...initialize, params: { ...params, _meta: ENVELOPE } }, {}],
    [{ ...initialize, params: { ...params, _meta: ENVELOPE } }, header],
  ] as const) {
    const answer = await post(world.http.url, body, headers);
    expect([answer.status, typeof answer.headers['mcp-session-id'], answer.messages]).toMatchObject([
      200,
      'string',
      [{ result: { protocolVersion: '2025-11-25' } }],
    ]);
  }
  const bare = await post(
    world.http.url,
    { ...initialize, params: { _meta: ENVELOPE } },
    {
      ...header,
      'mcp-method': 'initialize',
    },
  );
  expect([bare.status, bare.messages]).toMatchObject([404, [{ error: { code: -32601 } }]]);
  const unknown = await post(world.http.url, initialize, { 'mcp-protocol-version': '1999-01-01' });
  expect(unknown.status).toBe(400);
});

const LARGE = ['9007199254740993', '-9007199254740993', '123456789012345678901234567890'];

it('SRV-10.15: ids beyond 2^53 are echoed as they came over HTTP, in both eras and in batches', async () => {
  const { url } = world.http;
  const session = await legacySession(url);
  const raw = async (body: string, headers: Record<string, string>): Promise<string> => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body,
    });
    return answer.text();
  };
  for (const id of LARGE) {
    const ping = `{"jsonrpc":"2.0","id":${id},"method":"ping"}`;
    expect(await raw(ping, session)).toBe(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
    expect(await raw(`[${ping}]`, session)).toBe(`[{"jsonrpc":"2.0","id":${id},"result":{}}]`);
    const params = JSON.stringify({ name: 'old__seen', arguments: { id: 1 }, _meta: ENVELOPE });
    const call = `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`;
    const headers = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'old__seen',
    };
    expect(await raw(call, headers)).toContain(`"id":${id},`);
  }
});

// Protocol: 25-base-6, 25-base-8, 26-base-6, 26-base-12
it('SRV-10.15: ids beyond 2^53 are echoed over stdio, in errors and progress too, and cancel their request', async () => {
  const begun = createGate();
  const small: SmallHost = await smallHost({
    tools: {
      wait: (_, { signal, progress }) => {
        progress(1);
        begun.open();
        return new Promise((_resolve, reject) => signal.addEventListener('abort', reject));
      },
    },
  });
  const [input, output] = [new PassThrough(), new PassThrough()];
  let text = '';
  const told = new Set<() => void>();
  output.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    for (const look of told) look();
  });
  const shows = (part: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (text.includes(part)) resolve();
      };
      told.add(look);
      look();
    });
  const served = serveStdio(small.host, { input, output });
  try {
    for (const id of LARGE) {
      input.write(`{"jsonrpc":"2.0","id":${id},"method":"no/such"}\n`);
      await shows(`{"jsonrpc":"2.0","id":${id},"error":`);
    }
    const [id] = LARGE;
    const params = `{"name":"small__wait","arguments":{"id":7},"_meta":{"progressToken":${id}}}`;
    input.write(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}\n`);
    await begun.opened;
    await shows(`"progressToken":${id},`);
    // Another id that is the same number for JavaScript cancels nothing.
    input.write(
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740992}}\n',
    );
    input.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}\n`);
    input.write('{"jsonrpc":"2.0","id":5,"method":"ping"}\n');
    await shows('{"jsonrpc":"2.0","id":5,"result":{}}');
    input.end();
    await served.closed;
    expect(text).not.toContain(`"id":${id},"result"`);
  } finally {
    await served.close();
    await small.close();
  }
});

// Protocol: 25-transports-27
it('SRV-10.15: a legacy client whose POST drops has not cancelled; one that stays away has', async () => {
  const begun = createGate();
  const done = createGate();
  let isCancelled = false;
  const clock = fakeClock();
  const finish = createGate();
  const small = await smallHost({
    tools: {
      work: async (_, { signal }) => {
        signal.addEventListener('abort', () => {
          isCancelled = true;
        });
        begun.open();
        await finish.opened;
        done.open();
        return signal.aborted ? 'cancelled' : 'done';
      },
    },
  });
  const served = await serveHttp(small.host, { port: 0, clock });
  try {
    const session = await legacySession(served.url);
    const drop = async (id: number): Promise<void> => {
      const closed = createGate();
      const sent = request(served.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...session,
        },
      });
      sent.on('error', () => {});
      sent.on('close', () => closed.open());
      const params = { name: 'small__work' };
      sent.end(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }));
      await begun.opened;
      sent.destroy();
      await closed.opened;
    };
    await drop(1);
    // Requests of its session show that the client is there; by the last of them the server has seen the drop.
    for (let id = 2; id < 10; id += 1) {
      await post(served.url, { jsonrpc: '2.0', id, method: 'ping' }, session);
      await clock.advance(30_000);
    }
    expect(isCancelled).toBe(false);
    while (!isCancelled) await clock.advance(60_000);
    finish.open();
    await done.opened;
  } finally {
    await served.close();
    await small.close();
  }
});

// Protocol: 26-cancellation-4
it('SRV-10.15: a modern client whose POST drops has cancelled', async () => {
  const begun = createGate();
  const cancelled = createGate();
  const small = await smallHost({
    tools: {
      work: (_, { signal }) => {
        signal.addEventListener('abort', () => cancelled.open());
        begun.open();
        return new Promise(() => {});
      },
    },
  });
  const served = await serveHttp(small.host, { port: 0 });
  try {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'small__work',
    };
    const sent = request(served.url, { method: 'POST', headers });
    sent.on('error', () => {});
    const params = { name: 'small__work', _meta: ENVELOPE };
    sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
    await begun.opened;
    sent.destroy();
    await cancelled.opened;
  } finally {
    await served.close();
    await small.close();
  }
});
