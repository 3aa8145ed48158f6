import { afterEach, expect, it } from 'vitest';
import { serveHttp } from '../../src/serve/index.ts';
import { type Sign, startIssuer } from '../world/issuer.ts';
import { profiledWorld } from '../world/profiled-world.ts';
import { legacySession, modern, post, send } from './bare-client.ts';
import { smallHost } from './small-host.ts';

const AUDIENCE = 'https://gateway.example/mcp';
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serve(): Promise<{ url: string; issuer: string; sign: Sign }> {
  const { issuer, sign, close } = await startIssuer(AUDIENCE);
  closers.push(close);
  const small = await smallHost({ tools: { echo: () => 'hi' } });
  const gateway = await serveHttp(small.host, { port: 0, issuer: { issuer, audience: AUDIENCE } });
  closers.push(small.close, gateway.close);
  return { url: gateway.url, issuer, sign };
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

// Protocol: 25-authorization-53, 25-authorization-54, 25-authorization-55, 25-authorization-56, 25-authorization-69,
// 25-authorization-97, 25-authorization-99, 26-auth-security-2, 26-auth-security-30, 26-auth-security-32,
// 26-authorization-39, 26-authorization-40, 26-authorization-41, 26-authorization-42
it('A9: a token for another audience, of another issuer, of a stranger or out of date is refused', async () => {
  const { url, sign } = await serve();
  const tokens = await Promise.all([
    sign({}),
    sign({ audience: 'https://other.example' }),
    sign({ issuer: 'https://evil.example' }),
    sign({ stranger: true }),
    sign({ expires: 1_000 }),
  ]);
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${tokens[0]?.split('.')[1]}.`;
  const answers = await Promise.all([...tokens, unsigned].map((token) => post(url, PING, bearer(token))));
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 401, 401, 401, 401]);
  expect((await post(url, PING)).headers['www-authenticate']).toBe(
    'Bearer resource_metadata="https://gateway.example/.well-known/oauth-protected-resource"',
  );
});

// Protocol: 25-elicitation-21, 25-elicitation-23, 25-elicitation-49, 25-elicitation-50, 26-elicitation-16,
// 26-elicitation-41, 26-elicitation-42
it('A7: the session of one principal is unknown to another with a valid token', async () => {
  const { url, sign } = await serve();
  const ada = await legacySession(url, '2025-11-25', {}, bearer(await sign({ sub: 'ada' })));
  const eve = { ...ada, ...bearer(await sign({ sub: 'eve' })) };
  const answers = [
    await post(url, PING, ada),
    await post(url, PING, eve),
    await send(url, 'GET', undefined, eve),
    await send(url, 'DELETE', undefined, eve),
    await post(url, PING, ada),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 404, 404, 200]);
});

// Protocol: 25-authorization-6, 25-authorization-11, 25-authorization-12, 26-auth-discovery-2, 26-auth-discovery-5,
// 26-authorization-6, 26-authorization-49
it('names the issuer to clients without a token', async () => {
  const { url, issuer } = await serve();
  const { status, messages } = await send(
    url.replace('/mcp', '/.well-known/oauth-protected-resource/mcp'),
    'GET',
    undefined,
  );
  expect([status, messages[0]]).toEqual([
    200,
    { resource: AUDIENCE, authorization_servers: [issuer], bearer_methods_supported: ['header'] },
  ]);
});

it('does not start when the issuer cannot be found', async () => {
  const small = await smallHost({});
  closers.push(small.close);
  const issuer = { issuer: 'http://127.0.0.1:1', audience: AUDIENCE };
  await expect(serveHttp(small.host, { port: 0, issuer })).rejects.toMatchObject({ code: 'CONNECT_FAILED' });
});

it('SRV-8: recognises clients by all their claims, the first one that matches, and refuses other tokens', async () => {
  const { issuer, sign, close } = await startIssuer(AUDIENCE);
  closers.push(close);
  const made = await profiledWorld(
    { git: { tools: { status: () => 'clean', push: () => 'pushed' } } },
    {
      profiles: { reader: { tools: ['git__status'] } },
      clients: {
        ada: { claims: { sub: 'ada', aud: AUDIENCE } },
        readers: { claims: { groups: ['staff', 'guests'] }, profile: 'reader' },
        both: { claims: { sub: 'bob', groups: 'staff' } },
      },
    },
  );
  const gateway = await serveHttp(made.host, { port: 0, issuer: { issuer, audience: AUDIENCE } });
  closers.push(made.close, gateway.close);
  const begun: unknown[] = [];
  made.host.on('call.begin', ({ client, profile }) => void begun.push([client, profile]));
  const listed = async (claims: Parameters<Sign>[0]): Promise<unknown> => {
    const headers = { authorization: `Bearer ${await sign(claims)}` };
    await modern(gateway.url, 1, 'tools/call', { name: 'git__status' }, {}, headers);
    const { status, messages } = await modern(gateway.url, 1, 'tools/list', {}, {}, headers);
    const { tools = [] } = (messages[0]?.['result'] ?? {}) as { tools?: { name: string }[] };
    return status === 200 ? tools.map(({ name }) => name) : status;
  };
  expect([
    await listed({ sub: 'ada', groups: ['guests'] }),
    await listed({ sub: 'eve', groups: ['guests', 'others'] }),
    await listed({ sub: 'bob', groups: ['staff'] }),
    await listed({ sub: 'bob' }),
  ]).toEqual([['git__push', 'git__status'], ['git__status'], ['git__status'], 403]);
  expect(begun).toEqual([
    ['ada', undefined],
    ['readers', 'reader'],
    ['readers', 'reader'],
  ]);
});

it.each([
  ['is invalid', { claims: { sub: 5 }, profile: 'reader' }],
  ['is misspelt', { claim: { sub: 'ada' }, profile: 'reader' }],
  ['has no claims', { claims: {}, profile: 'reader' }],
])('SRV-8: a token that matches no client is refused, also if the only client %s', async (_what, client) => {
  const { issuer, sign, close } = await startIssuer(AUDIENCE);
  closers.push(close);
  const made = await profiledWorld(
    { git: { tools: { status: () => 'clean' } } },
    { profiles: { reader: { tools: ['git__status'] } }, clients: { ci: client } },
  );
  const refused: string[] = [];
  const gateway = await serveHttp(made.host, {
    port: 0,
    issuer: { issuer, audience: AUDIENCE },
    onRefusedClient: (message) => void refused.push(message),
  });
  closers.push(made.close, gateway.close);
  expect((await post(gateway.url, PING, bearer(await sign({ sub: 'ada' })))).status).toBe(403);
  expect(refused).toEqual(['Refused a token of the subject "ada": its claims match no client']);
});

it('A9: reports why a token of the issuer is refused, once for each reason', async () => {
  const { issuer, sign, close } = await startIssuer(AUDIENCE);
  closers.push(close);
  const small = await smallHost({});
  const refused: string[] = [];
  const gateway = await serveHttp(small.host, {
    port: 0,
    issuer: { issuer, audience: AUDIENCE },
    onRefusedClient: (message) => void refused.push(message),
  });
  closers.push(small.close, gateway.close);
  const other = { audience: 'https://other.example' };
  for (const claims of [other, other, { stranger: true }, { expires: 1_000 }])
    await post(gateway.url, PING, bearer(await sign(claims)));
  await post(gateway.url, PING, bearer('no token at all'));
  expect(refused).toEqual([
    `Refused a token for ${AUDIENCE} of ${issuer}: unexpected "aud" claim value`,
    `Refused a token for ${AUDIENCE} of ${issuer}: signature verification failed`,
  ]);
});
