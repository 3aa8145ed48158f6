/** A server of the kit over HTTP: who may come in, and several ways of serving at the same time. */

import { request as httpRequest } from 'node:http';
import { expect, it } from 'vitest';
import { defineServer, http, type Server, tool } from '../../src/kit/index.ts';
import { connectInMemory, createGate } from '../../src/testing/index.ts';
import { call, request, result, talkTo, text } from './lines.ts';

function echo(): Server {
  const who = tool({ name: 'who', run: (_, { client }) => `${client.principal} ${client.era}` });
  return defineServer({ name: 'echo', version: '1.0.0', tools: [who] });
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** `fetch` sets its own Host. */
function post(
  url: string,
  message: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      url,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      },
      (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          body += chunk;
        });
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, body: body === '' ? undefined : JSON.parse(body) }),
        );
      },
    );
    sent.once('error', reject);
    sent.end(JSON.stringify(message));
  });
}

const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const MODERN_HEADERS = {
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'who',
};

// Protocol: 26-http-1
it('KIT-1: clients of both eras are served at one address', async () => {
  const served = await echo().serve(http({ port: 0 }));
  expect(await post(served.url, call(1, 'who'))).toEqual({
    status: 200,
    body: result(1, text('local legacy')),
  });
  const modern = request(2, 'tools/call', { name: 'who', arguments: {}, _meta: MODERN });
  expect(await post(served.url, modern, MODERN_HEADERS)).toEqual({
    status: 200,
    body: result(2, {
      ...text('local modern'),
      resultType: 'complete',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'echo', version: '1.0.0' } },
    }),
  });
  await served.close();
  await expect(post(served.url, call(3, 'who'))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

// Protocol: 25-transports-8, 25-transports-9, 26-http-2, 26-http-3
it('A8: a foreign Host or Origin is refused', async () => {
  const served = await echo().serve(http({ port: 0 }));
  expect(await post(served.url, call(1, 'who'), { host: 'evil.example' })).toMatchObject({ status: 403 });
  expect(await post(served.url, call(1, 'who'), { origin: 'http://evil.example' })).toMatchObject({
    status: 403,
  });
  await served.close();
});

// Protocol: 25-transports-10, 25-transports-11, 26-http-4, 26-http-5
it('A9: with a token everybody has to bring it; beyond this machine there must be one', async () => {
  const served = await echo().serve(http({ port: 0, token: 'a long secret' }));
  expect(await post(served.url, call(1, 'who'))).toMatchObject({ status: 401 });
  expect(await post(served.url, call(1, 'who'), { authorization: 'Bearer a long secret' })).toEqual({
    status: 200,
    body: result(1, text('token legacy')),
  });
  await served.close();
  await expect(echo().serve(http({ port: 0, host: '0.0.0.0' }))).rejects.toMatchObject({ code: 'USAGE' });
  await expect(echo().serve(http({ port: 0, host: '0.0.0.0', token: '' }))).rejects.toMatchObject({
    code: 'USAGE',
  });
});

it('KIT-1: a verifier identifies the bearer of a token', async () => {
  const verifier = {
    principalOf: async (token: string) => (token === 'of-ada' ? 'ada' : undefined),
    metadataPath: '/.well-known/oauth-protected-resource',
    metadata: {},
  };
  const served = await echo().serve(http({ port: 0, verifier }));
  expect(await post(served.url, call(1, 'who'), { authorization: 'Bearer of-ada' })).toMatchObject({
    body: result(1, text('ada legacy')),
  });
  expect(await post(served.url, call(1, 'who'), { authorization: 'Bearer of-bob' })).toMatchObject({
    status: 401,
  });
  await served.close();
});

it('KIT-1: a taken port is an error with a hint, and one server can be served in several ways at once', async () => {
  const server = echo();
  const first = await server.serve(http({ port: 0 }));
  const port = Number(new URL(first.url).port);
  await expect(server.serve(http({ port }))).rejects.toMatchObject({
    code: 'START_FAILED',
    hint: 'Choose another port.',
  });
  const talk = await talkTo(server);
  const client = await connectInMemory(server);
  talk.say(call(1, 'who'));
  expect(await talk.atLeast(1)).toEqual([result(1, text('stdio legacy'))]);
  expect(await client.call('who')).toMatchObject(text('local modern'));
  expect(await post(first.url, call(1, 'who'))).toMatchObject({ body: result(1, text('local legacy')) });
  await server.close();
  await server.close();
  await first.closed;
  await expect(client.call('who')).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
});

it('KIT-1: closing lets what runs end, and takes no more', async () => {
  const gate = createGate();
  const begun = createGate();
  const waits = tool({
    name: 'waits',
    run: async () => {
      begun.open();
      await gate.opened;
      return 'done';
    },
  });
  const served = await defineServer({ name: 'waits', tools: [waits] }).serve(http({ port: 0 }));
  const answer = post(served.url, call(1, 'waits'));
  await begun.opened;
  const closed = served.close();
  gate.open();
  expect(await answer).toEqual({ status: 200, body: result(1, text('done')) });
  await closed;
});
