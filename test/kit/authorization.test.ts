/** Who may use which tool: tokens, claims, scopes, and rules of the author. */

import { afterEach, expect, it } from 'vitest';
import { defineServer, jwtVerifier, type Server, type TokenVerifier, tool } from '../../src/kit/index.ts';
import { connectInMemory } from '../../src/testing/index.ts';
import { type Issuer, startIssuer } from '../world/issuer.ts';
import { resultOf, WebClient } from './web-client.ts';

const URL_OF = 'https://tools.example/mcp';
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Tokens are names: `ada` may write, `bob` may read. */
const verifier: TokenVerifier = {
  async principalOf(token) {
    if (token === 'ada') return { principal: 'ada', scopes: ['read', 'write'], claims: { team: 'core' } };
    if (token === 'bob') return { principal: 'bob', scopes: ['read'], claims: { team: 'sales' } };
    if (token === 'plain') return 'plain';
    if (token === 'broken') throw new Error('the database is down');
    return undefined;
  },
  metadata: { authorization_servers: ['https://login.example'] },
};

function notes(): Server {
  const who = tool({
    name: 'who',
    run: (_args, { client, headers }) => ({
      principal: client.principal,
      team: client.claims?.['team'],
      scopes: client.scopes,
      trace: headers['x-trace'],
    }),
  });
  const write = tool({
    name: 'write',
    scopes: ['write'],
    input: {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    },
    run: () => 'written',
  });
  const admin = tool({
    name: 'wrath',
    canAccess: async ({ client }) => client.claims?.['team'] === 'core',
    run: () => 'done',
  });
  const broken = tool({
    name: 'writ',
    canAccess: () => {
      throw new Error('no');
    },
    run: () => 'done',
  });
  return defineServer({ name: 'notes', tools: [who, write, admin, broken] });
}

function clientOf(token: string, server: Server = notes(), more: TokenVerifier = verifier): WebClient {
  const handler = server.handler({ verifier: more });
  closers.push(() => handler.close());
  const headers = { 'x-trace': 't1', ...(token === '' ? {} : { authorization: `Bearer ${token}` }) };
  return new WebClient(URL_OF, handler.fetch, headers);
}

async function toolsOf(client: WebClient): Promise<unknown> {
  const names = (answer: unknown): unknown =>
    (answer as { tools: { name: string }[] }).tools.map(({ name }) => name);
  const [modern, legacy] = [await client.modern('tools/list'), await client.legacy('tools/list')];
  expect(names(resultOf(modern))).toEqual(names(resultOf(legacy)));
  return names(resultOf(modern));
}

it('KIT-4: claims, scopes and request headers are in the context', async () => {
  const answer = await clientOf('ada').legacy('tools/call', { name: 'who' });
  expect(JSON.parse((resultOf(answer)['content'] as [{ text: string }])[0].text)).toEqual({
    principal: 'ada',
    team: 'core',
    scopes: ['read', 'write'],
    trace: 't1',
  });
});

it('KIT-4: a tool is listed for those who may use it, in both eras', async () => {
  expect(await toolsOf(clientOf('ada'))).toEqual(['who', 'write', 'wrath']);
  expect(await toolsOf(clientOf('bob'))).toEqual(['who']);
  expect(await toolsOf(clientOf('plain'))).toEqual(['who']);
});

it('KIT-4: a hidden tool answers as a missing one, in every detail', async () => {
  const bob = clientOf('bob');
  const failures = async (name: string): Promise<unknown> => {
    const call = { name, arguments: { region: 'eu' } };
    const answers = [await bob.modern('tools/call', call), await bob.legacy('tools/call', call)];
    return answers.map(({ status, messages }) => [status, messages.map(({ error }) => error)]);
  };
  const hidden = await failures('write');
  // The same number of letters away from the tool that can be seen, and not a tool.
  const missing = await failures('wrote');
  expect(JSON.parse(JSON.stringify(hidden).replaceAll('write', 'wrote'))).toEqual(missing);
  expect(JSON.stringify(missing)).toContain('There is no tool');
  expect(JSON.stringify(missing)).not.toContain('Did you mean');
});

it('KIT-4: a tool with rules still checks the headers that repeat its arguments', async () => {
  const ada = clientOf('ada');
  await ada.modern('tools/list');
  const answer = await ada.modern('tools/call', { name: 'write', arguments: { region: 'eu' } });
  expect([answer.status, answer.messages[0]?.['error']]).toEqual([
    400,
    expect.objectContaining({ code: -32020 }),
  ]);
});

it('KIT-4: scopes do not limit the user of the process itself, rules of the author do', async () => {
  const client = await connectInMemory(notes());
  closers.push(() => client.close());
  expect((await client.tools()).map(({ name }) => name)).toEqual(['who', 'write']);
});

it('KIT-4: the challenge and the metadata have absolute urls, also behind a proxy', async () => {
  const challenge = async (
    options: Parameters<Server['handler']>[0],
    headers: Readonly<Record<string, string>> = {},
  ): Promise<unknown> => {
    const handler = notes().handler({ verifier, ...options });
    closers.push(() => handler.close());
    const client = new WebClient('http://inner:3000/mcp', handler.fetch, headers);
    const { status, headers: answered } = await client.initialize();
    const [, url = ''] = /resource_metadata="([^"]+)"/.exec(answered.get('www-authenticate') ?? '') ?? [];
    const metadata = await handler.fetch(
      new Request(`http://inner:3000${new URL(url).pathname.replace(/^\/api/, '')}`, { headers }),
    );
    return [status, url, await metadata.json()];
  };
  const servers = ['https://login.example'];
  const metadata = (
    origin: string,
    resource: string,
    path = '/.well-known/oauth-protected-resource/mcp',
  ): unknown => [401, `${origin}${path}`, { resource, authorization_servers: servers }];
  const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'tools.example' };
  expect(await challenge({})).toEqual(metadata('http://inner:3000', 'http://inner:3000/mcp'));
  expect(await challenge({}, forwarded)).toEqual(metadata('http://inner:3000', 'http://inner:3000/mcp'));
  expect(await challenge({ trustProxy: true }, forwarded)).toEqual(
    metadata('https://tools.example', 'https://tools.example/mcp'),
  );
  expect(await challenge({ url: URL_OF })).toEqual(metadata('https://tools.example', URL_OF));
  expect(await challenge({ url: 'https://tools.example/api/mcp' })).toEqual(
    metadata(
      'https://tools.example',
      'https://tools.example/api/mcp',
      '/api/.well-known/oauth-protected-resource',
    ),
  );
});

it('KIT-4: a verifier that fails is an error of the server, and shows no detail', async () => {
  const answer = await clientOf('broken').initialize();
  expect(answer.status).toBe(500);
  expect(JSON.stringify(answer.messages)).not.toContain('database');
});

async function issuer(): Promise<Issuer> {
  const started = await startIssuer(URL_OF);
  closers.push(() => started.close());
  return started;
}

it('KIT-4: jwtVerifier accepts tokens of its issuer, and hands on their claims and scopes', async () => {
  const { issuer: address, sign } = await issuer();
  const jwt = jwtVerifier({ issuer: address, audience: URL_OF, requiredScopes: ['read'] });
  const ask = async (claims: Parameters<typeof sign>[0]): Promise<ReturnType<WebClient['modern']>> =>
    clientOf(await sign(claims), notes(), jwt).modern('tools/list');
  const names = ({ messages }: Awaited<ReturnType<WebClient['modern']>>): unknown =>
    ((messages[0]?.['result'] ?? { tools: [] }) as { tools: { name: string }[] }).tools.map(
      ({ name }) => name,
    );
  expect(names(await ask({ scope: 'read write' }))).toEqual(['who', 'write']);
  expect(names(await ask({ scope: 'read' }))).toEqual(['who']);
  const refused = await ask({ scope: 'write' });
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
    403,
    'Bearer error="insufficient_scope", scope="read"',
  ]);
  for (const wrong of [{ stranger: true }, { audience: 'https://other.example' }, { expires: 1_000 }])
    expect((await ask({ scope: 'read', ...wrong })).status).toBe(401);
  expect(() => jwtVerifier({ issuer: 'login.example', audience: URL_OF })).toThrow('not the address');
});

it('KIT-4: jwtVerifier asks an issuer that could not be reached again', async () => {
  const { issuer: address, sign, close } = await issuer();
  const jwt = jwtVerifier({ issuer: `${address}/gone`, audience: URL_OF });
  await expect(jwt.principalOf(await sign({}))).rejects.toMatchObject({ code: 'CONNECT_FAILED' });
  await close();
  await expect(jwt.principalOf(await sign({}))).rejects.toMatchObject({ code: 'CONNECT_FAILED' });
});
