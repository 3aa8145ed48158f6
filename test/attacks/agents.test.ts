/**
 * What an agent tries that has a token to call tools (A31): to become the person. Each is first shown to work on a
 * gateway with one token for both, then to fail on Plugboard. The table is docs/attacks/agents.md.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { table } from '../../scripts/docs/table.mjs';
import { Place } from '../cli/command.ts';
import { readEvents } from '../world/managed-gateway.ts';
import { isInProcessList, type Running, startNaive, startPlugboard } from './gateways.ts';
import { FIXTURE } from './naive.ts';

const HEAD = `# What an agent with a token tries

Eight things that an agent does with a token that was given to it to call tools, on a gateway that has one token for agents and for the person, and
on \`plugboard serve --http --approvals enforce\`. This page is written by the run that tries them:
[test/attacks/agents.test.ts](../../test/attacks/agents.test.ts) (\`npx vitest run test/attacks/agents.test.ts --update\` writes it).
`;
/** Programs start slowly on a busy machine. */
const ONE_TOKEN = 'one-token-for-everything';
const CALL = { name: 'bank__pay', arguments: {} };
const rows: string[][] = [];
const place = new Place();
let naive: Running;
let gateway: Running;
/** Of the agent, of another client, and of the page. */
let [agent, other, person] = ['', '', ''];

beforeAll(async () => {
  const tools = join(place.dir, 'tools.json');
  writeFileSync(tools, JSON.stringify({ tools: [{ name: 'pay', inputSchema: { type: 'object' } }] }));
  const bank = { ...canary(join(place.dir, 'bank'), tools), approval: 'prompt' };
  place.write(place.userFile, { mcpServers: { bank } });
  naive = await startNaive(ONE_TOKEN);
  [agent, other] = [await newToken('agent'), await newToken('other')];
  gateway = await startPlugboard(place, ['--approvals', 'enforce']);
  person = readFileSync(join(place.home, 'manage-token'), 'utf8').trim();
});
afterAll(async () => {
  await Promise.all([naive.end(), gateway.end()]);
  await place.run(['daemon', 'stop']);
  place.remove();
});

function canary(trace: string, ...more: string[]): { command: string; args: string[] } {
  return { command: process.execPath, args: [FIXTURE('attack-canary.mjs'), trace, ...more] };
}

async function newToken(name: string): Promise<string> {
  return ((await place.json(['token', 'add', name])).value as { token: string }).token;
}

function textOf({ body }: { readonly body: Readonly<Record<string, unknown>> }): string {
  const { content } = (body['result'] ?? {}) as { content?: { text: string }[] };
  return content?.[0]?.text ?? '';
}

/** One row of the table; both columns are what the case has just asserted. */
function row(attempt: string, plain: string, plugboard: string): void {
  rows.push([attempt, plain, plugboard]);
}

it('A31: an agent that lists the pending questions is not a person who looks', async () => {
  const before = await naive.mcp(ONE_TOKEN, 'tools/call', CALL);
  const looked = await naive.ask(ONE_TOKEN, 'GET', '/api/approvals');
  void naive.mcp(ONE_TOKEN, 'tools/call', CALL);
  await expect
    .poll(async () => (await naive.ask(ONE_TOKEN, 'GET', '/api/approvals')).body['approvals'])
    .toHaveLength(1);
  expect([textOf(before), looked.status]).toEqual(['no one looks', 200]);

  const statuses = await Promise.all(
    ['/api/approvals', '/api/events', '/api/calls'].map(
      async (path) => (await gateway.ask(agent, 'GET', path)).status,
    ),
  );
  const refused = textOf(await gateway.mcp(agent, 'tools/call', CALL, await gateway.session(agent)));
  expect([statuses, refused]).toEqual([[401, 401, 401], expect.stringContaining('must be approved')]);
  row(
    'lists the pending questions, so that a person seems to look',
    '200; its call waits for an answer',
    '401; its call is refused',
  );
});

it('A31: an agent does not answer its own question', async () => {
  const paid = naive.mcp(ONE_TOKEN, 'tools/call', CALL);
  let ids: string[] = [];
  await expect
    .poll(async () => {
      const { body } = await naive.ask(ONE_TOKEN, 'GET', '/api/approvals');
      ids = (body['approvals'] as { id: string }[]).map(({ id }) => id);
      return ids.length;
    })
    .toBe(2);
  for (const id of ids) await naive.ask(ONE_TOKEN, 'POST', `/api/approvals/${id}`, { answer: 'allow' });
  expect(textOf(await paid)).toBe('pay ran');

  // The person has the page open.
  const page = await readEvents(gateway, { authorization: `Bearer ${person}` });
  const call = gateway.mcp(agent, 'tools/call', CALL, await gateway.session(agent));
  const { data } = await page.next(({ event }) => event === 'question');
  const { id } = data as { id: string };
  const answers = ['allow', 'allow-session', 'allow-always'];
  const statuses = await Promise.all(
    answers.map(
      async (answer) => (await gateway.ask(agent, 'POST', `/api/approvals/${id}`, { answer })).status,
    ),
  );
  const waiting = await gateway.ask(person, 'GET', '/api/approvals');
  const denied = await gateway.ask(person, 'POST', `/api/approvals/${id}`, { answer: 'deny' });
  page.close();
  expect([statuses, waiting.body, denied.status, textOf(await call)]).toEqual([
    [401, 401, 401],
    { approvals: [expect.objectContaining({ id })] },
    200,
    expect.not.stringContaining('ran'),
  ]);
  expect(readFileSync(place.userFile, 'utf8')).not.toContain('allow');
  row('answers its own question', '200; the call ran', '401; the question waits for the person');
});

it('A31: an agent does not add a server, and one that a program adds for a person waits for them', async () => {
  const [first, second] = [join(place.dir, 'naive-added'), join(place.dir, 'added')];
  const body = (trace: string, name = 'evil'): object => ({ name, scope: 'user', entry: canary(trace) });
  await naive.ask(ONE_TOKEN, 'POST', '/api/servers', body(first));
  await expect.poll(() => existsSync(first)).toBe(true);

  const refused = await gateway.ask(agent, 'POST', '/api/servers', body(second));
  const added = await gateway.ask(person, 'POST', '/api/servers', body(second));
  const connected = await gateway.ask(person, 'POST', '/api/servers/evil/connect');
  const called = await gateway.ask(person, 'POST', '/api/call', { name: 'mcp__evil__x' });
  const listed = await place.run(['list']);
  // The same command under other keys, other scopes and claims of its own.
  const others = await Promise.all(
    [
      { scope: 'local', entry: { ...canary(second), unapproved: false } },
      { scope: 'project', entry: canary(second) },
      { scope: 'user', entry: { url: 'http://127.0.0.1:9/mcp', headersHelper: `touch ${second}` } },
      { scope: 'user', entry: { url: 'http://127.0.0.1:9/mcp', headers: { x: '${HOME}' } } },
      { scope: 'user', entry: { url: 'http://127.0.0.1:9/mcp', trusted: true } },
    ].map((each, at) => gateway.ask(person, 'POST', '/api/servers', { name: `more${at}`, ...each })),
  );
  expect({
    agent: refused.status,
    added: [added.status, added.body['status']],
    connected: connected.status,
    called: called.status,
    listed: listed.stdout.includes('plugboard trust evil'),
    others: others.map(({ body: answer }) => answer['status']),
    ran: existsSync(second),
  }).toEqual({
    agent: 401,
    added: [201, 'untrusted'],
    connected: 403,
    called: 403,
    listed: true,
    others: others.map(() => 'untrusted'),
    ran: false,
  });
  const { stdout } = await place.run(['trust', 'evil', '--yes']);
  expect(stdout).toMatch(/^approved {2}evil: it was added over the management API\n {2}command /);
  await expect.poll(() => existsSync(second)).toBe(true);
  row(
    'adds a server that runs a program',
    '200; the program ran',
    '401; added with the token of the page, it is not started before a person approves it',
  );
});

it('A31: an agent does not replace what a server runs', async () => {
  const [first, second] = [join(place.dir, 'naive-replaced'), join(place.dir, 'replaced')];
  await naive.ask(ONE_TOKEN, 'POST', '/api/servers', { name: 'bank', replace: true, entry: canary(first) });
  await expect.poll(() => existsSync(first)).toBe(true);

  const { mcpServers } = JSON.parse(readFileSync(place.userFile, 'utf8')) as {
    mcpServers: Record<string, { command: string; args: string[] }>;
  };
  const { bank = { command: '', args: [] } } = mcpServers;
  const replace = (entry: object, token = person): ReturnType<Running['ask']> =>
    gateway.ask(token, 'POST', '/api/servers', { name: 'bank', scope: 'user', replace: true, entry });
  const changes = [
    { command: 'sh', args: ['-c', `touch ${second}`] },
    { env: { NODE_OPTIONS: `--require ${second}` } },
  ];
  const refused = await replace({ ...bank, ...changes[0] }, agent);
  const statuses: unknown[] = [];
  for (const change of changes) {
    statuses.push((await replace({ ...bank, ...change })).body['status']);
    // Put back what the person had; that is a change as well, and theirs to approve.
    const { digest } = (await replace(bank)).body['unapproved'] as { digest: string };
    await gateway.ask(person, 'POST', '/api/servers/bank/approve', { digest });
  }
  const harmless = await replace({ ...bank, toolTimeoutMs: 1_000 });
  expect([refused.status, statuses, harmless.body['status'] !== 'untrusted', existsSync(second)]).toEqual([
    401,
    changes.map(() => 'untrusted'),
    true,
    false,
  ]);
  row(
    'replaces the command of a server',
    '200; the new command ran',
    '401; replaced with the token of the page, it is not started before a person approves it',
  );
});

it('A31: an agent finds no token of the page in the lines that it is connected with, and none calls', async () => {
  expect(naive.printed).toContain(`#token=${ONE_TOKEN}`);
  const answers = [await gateway.mcp(person, 'ping'), await gateway.ask(person, 'GET', '/api/servers')];
  expect([
    gateway.printed.includes(person),
    gateway.printed.includes('#token='),
    ...answers.map(({ status }) => status),
  ]).toEqual([false, false, 401, 200]);
  row(
    'looks for the secret of the page in the lines it was connected with',
    'the same token',
    'not printed; the token of the page does not call, and that of the agent does not manage',
  );
});

it('A46: a forwarded request cannot manage, whichever header marks it as forwarded', async () => {
  const headers = [
    'forwarded',
    'x-forwarded',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-real-ip',
    'via',
    'x-client-ip',
    'true-client-ip',
    'cf-connecting-ip',
    'x-original-host',
  ];
  const plain = await naive.ask(ONE_TOKEN, 'GET', '/api/servers', undefined, {
    'x-forwarded-for': '203.0.113.9',
  });
  expect(plain.status).toBe(200);
  const statuses = await Promise.all(
    ['/api/servers', '/'].flatMap((path) =>
      headers.map(
        async (name) => (await gateway.ask(person, 'GET', path, undefined, { [name]: '203.0.113.9' })).status,
      ),
    ),
  );
  expect(statuses).toEqual(statuses.map(() => 403));
  const configured = await startPlugboard(place, ['--manage-forwarded']);
  const allowed = await configured.ask(person, 'GET', '/api/servers', undefined, { via: '1.1 proxy' });
  await configured.end();
  expect(allowed.status).toBe(200);
  row(
    'reaches management through a proxy, which hides where it comes from',
    '200',
    '403, unless `--manage-forwarded` is given',
  );
});

it('A31: an agent does not go on with its open session when its token is revoked', async () => {
  const kept = await naive.session(ONE_TOKEN);
  await naive.ask(ONE_TOKEN, 'POST', '/revoke', {});
  const plain = await naive.mcp(ONE_TOKEN, 'ping', {}, kept);
  expect(plain.status).toBe(200);

  const token = await newToken('leaving');
  const session = await gateway.session(token);
  const stream = gateway.ask(token, 'GET', '/mcp', undefined, session).then(
    () => 'ended',
    () => 'ended',
  );
  const before = await gateway.mcp(token, 'ping', {}, session);
  await place.run(['token', 'revoke', 'leaving']);
  const after = await gateway.mcp(token, 'ping', {}, session);
  expect([before.status, after.status, await stream]).toEqual([200, 401, 'ended']);
  row(
    'goes on with an open session after its token was revoked',
    '200',
    '401; the session and its streams end',
  );
});

it('A31: an agent does not use the session of another client', async () => {
  const fresh = await startNaive(ONE_TOKEN);
  const theirs = await fresh.session(ONE_TOKEN);
  const plain = await fresh.mcp(ONE_TOKEN, 'ping', {}, theirs);
  await fresh.end();
  const session = await gateway.session(other);
  const [stolen, own] = [
    await gateway.mcp(agent, 'ping', {}, session),
    await gateway.mcp(other, 'ping', {}, session),
  ];
  expect([plain.status, stolen.status, own.status]).toEqual([200, 404, 200]);
  row(
    'uses the session of another client',
    '200: all clients have one token',
    '404: each has a token of its own',
  );
});

it('A31: writes the table', async () => {
  expect(rows).toHaveLength(8);
  const head = ['attempt', 'one token for both', 'Plugboard'];
  await expect(`${HEAD}\n${table([head, ...rows])}\n`).toMatchFileSnapshot('../../docs/attacks/agents.md');
});

it('A45: tokens are not in the list of processes, unless a person types them there', async () => {
  expect(isInProcessList([naive.child.pid], ONE_TOKEN)).toBe(true);
  const secret = 'a-token-from-the-environment';
  const file = join(place.dir, 'token');
  writeFileSync(file, 'a-token-from-a-file');
  const one = await startPlugboard(place, ['--own'], { PLUGBOARD_TOKEN: secret });
  const two = await startPlugboard(place, ['--token-file', file]);
  const statuses = [
    (await one.mcp(secret, 'ping')).status,
    (await two.mcp('a-token-from-a-file', 'ping')).status,
  ];
  const seen = [secret, 'a-token-from-a-file', person, agent].filter((text) =>
    isInProcessList([one.child.pid, two.child.pid, gateway.child.pid], text),
  );
  await Promise.all([one.end(), two.end()]);
  expect([statuses, seen]).toEqual([[200, 200], []]);
});

// Protocol: 25-elicitation-49, 26-elicitation-41
it('A43: signed tokens without a subject are not one principal: they are refused', async () => {
  const unsigned = (claims: object): string =>
    `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`;
  const plain = await startNaive(ONE_TOKEN);
  const carol = await plain.session(unsigned({ client: 'carol' }));
  const dave = await plain.mcp(unsigned({ client: 'dave' }), 'ping', {}, carol);
  await plain.end();
  expect(dave.status).toBe(200);

  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256', use: 'sig' }] };
  const server: Server = createServer((request, response) => {
    const isMetadata = request.url?.startsWith('/.well-known') === true;
    response.end(JSON.stringify(isMetadata ? { issuer, jwks_uri: `${issuer}/keys` } : keys));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const served = await startPlugboard(place, ['--own', '--issuer', issuer, '--audience', 'us']);
  const sign = (claims: Record<string, unknown>): Promise<string> =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .setIssuer(issuer)
      .setAudience('us')
      .setExpirationTime('10m')
      .sign(privateKey);
  const claims = [
    { sub: 'ada' },
    {},
    { sub: '' },
    { sub: ' ' },
    { sub: null },
    { sub: 7 },
    { sub: {} },
    { sub: ['ada'] },
  ];
  const statuses: number[] = [];
  for (const each of claims) statuses.push((await served.mcp(await sign(each), 'ping')).status);
  const named = await served.mcp(agent, 'ping');
  const managed = await served.ask(await sign({ sub: 'ada' }), 'GET', '/api/servers');
  await served.end();
  server.close();
  expect([statuses, named.status, managed.status]).toEqual([
    [200, 401, 401, 401, 401, 401, 401, 401],
    401,
    401,
  ]);
});
