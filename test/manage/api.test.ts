import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createGate, fakeClock } from '../../src/testing/index.ts';
import { CALLING_TOKEN, send, TOKEN } from '../world/managed-gateway.ts';
import { managedGateways } from '../world/managed-gateways.ts';

const setUp = managedGateways();

const echo = { tools: { echo: ({ message }: Readonly<Record<string, unknown>>) => String(message) } };
const SMALL = {
  name: 'small',
  scope: 'code',
  transport: 'stdio',
  status: 'connected',
  tools: 1,
  protocolVersion: '2026-07-28',
  era: 'modern',
  connectMs: expect.any(Number),
};

describe('SRV-5: servers', () => {
  it('lists all of them in the shape of `list`', async () => {
    const { api } = await setUp({ script: echo });
    const { status, body, headers } = await api('GET', '/api/servers');
    expect({ status, body }).toEqual({ status: 200, body: { servers: [SMALL], problems: [] } });
    expect(headers['cache-control']).toBe('no-store');
  });

  it('shows one with its entry, and no secret value of it', async () => {
    const { api } = await setUp({
      config: {
        mcpServers: {
          docs: { command: 'scripted', env: { KEY: 'hush-hush' }, args: ['--token=hush-hush-too'] },
        },
      },
    });
    const { body, text } = await api('GET', '/api/servers/docs');
    expect(body).toMatchObject({
      name: 'docs',
      scope: 'user',
      status: 'connected',
      file: expect.stringMatching(/config\.json$/),
      entry: { command: 'scripted', env: { KEY: '(set in config.json)' } },
    });
    expect(text).not.toContain('hush');
  });

  it('A31: adds one to a file, starts it after it was approved as shown, and removes it again', async () => {
    const { api, readConfig, host } = await setUp({ script: echo });
    const entry = { command: 'scripted', args: ['a'] };
    const added = await api('POST', '/api/servers', { name: 'new one/2', scope: 'user', entry });
    const { unapproved } = added.body as { unapproved: { digest: string } };
    expect([added.status, added.body]).toMatchObject([
      201,
      {
        status: 'untrusted',
        error: { code: 'UNTRUSTED' },
        unapproved: { entry, digest: expect.any(String) },
      },
    ]);
    expect(readConfig()).toEqual({ mcpServers: { 'new one/2': { ...entry, unapproved: true } } });
    const path = '/api/servers/new%20one%2F2';
    expect((await api('POST', `${path}/connect`)).status).toBe(403);
    expect((await api('POST', `${path}/approve`, { digest: 'another' })).status).toBe(409);
    const approved = await api('POST', `${path}/approve`, { digest: unapproved.digest });
    expect([approved.status, approved.body]).toEqual([
      200,
      {
        ...SMALL,
        name: 'new one/2',
        scope: 'user',
        entry,
        file: expect.stringMatching(/config\.json$/),
        places: [expect.objectContaining({ scope: 'user', isUsed: true })],
      },
    ]);
    expect(readConfig()).toEqual({ mcpServers: { 'new one/2': entry } });
    expect((await api('POST', `${path}/approve`, { digest: unapproved.digest })).status).toBe(409);
    const removed = await api('DELETE', '/api/servers/new%20one%2F2');
    expect(removed.body).toEqual({
      name: 'new one/2',
      scope: 'user',
      file: expect.stringMatching(/config\.json$/),
      removed: true,
    });
    expect(host.servers().map(({ name }) => name)).toEqual(['small']);
    expect(readConfig()).toEqual({ mcpServers: {} });
  });

  it('refuses a name that is taken, unless it is to be replaced', async () => {
    const { api } = await setUp({ config: { mcpServers: { docs: { command: 'scripted' } } } });
    const again = { name: 'docs', scope: 'user', entry: { command: 'scripted', args: ['b'] } };
    const taken = await api('POST', '/api/servers', again);
    const replaced = await api('POST', '/api/servers', { ...again, replace: true });
    expect([taken.status, replaced.status]).toEqual([409, 201]);
    expect(taken.body).toEqual({
      error: { code: 'USAGE', server: 'docs', message: expect.any(String), hint: expect.any(String) },
    });
    expect(replaced.body).toMatchObject({ entry: { args: ['b'] } });
    // An entry that a stronger scope hides is not in the list, and not overwritten either.
    const hiding = await api('POST', '/api/servers', { ...again, scope: 'local' });
    const hidden = await api('POST', '/api/servers', again);
    expect([hiding.status, hidden.status, hidden.body]).toMatchObject([201, 409, taken.body]);
  });

  it.each([
    [{ entry: { command: 'x' } }, 'INVALID_ARGUMENTS'],
    [{ name: 'x', entry: 'npx' }, 'INVALID_ARGUMENTS'],
    [{ name: 'x', entry: { command: 'x' }, scope: 'managed' }, 'INVALID_ARGUMENTS'],
    [{ name: 'x', entry: { command: 'x' }, scope: 'code' }, 'INVALID_ARGUMENTS'],
    [{ name: 'x', entry: {} }, 'CONFIG_INVALID'],
    [{ name: '-x', entry: { command: 'x' } }, 'USAGE'],
  ])('refuses to add %j', async (body, code) => {
    const { api, readConfig } = await setUp();
    const answer = await api('POST', '/api/servers', body);
    expect([answer.status, answer.body]).toMatchObject([400, { error: { code } }]);
    expect(readConfig()).toEqual({});
  });

  it('keeps a client secret out of every file and answer', async () => {
    const { api, home } = await setUp();
    const oauth = { clientId: 'me', clientSecret: 'hush-hush' };
    const entry = { url: 'http://127.0.0.1:9/mcp', oauth, enabled: false };
    const { status, text } = await api('POST', '/api/servers', { name: 'remote', scope: 'user', entry });
    expect(status).toBe(201);
    expect(text + readFileSync(join(home, 'config.json'), 'utf8')).not.toContain('hush');
  });

  it('A10: one that is added to the project is not started until it is approved on a terminal', async () => {
    const { api, project, server } = await setUp();
    const before = server.connections;
    const added = await api('POST', '/api/servers', {
      name: 'theirs',
      scope: 'project',
      entry: { command: 'scripted' },
    });
    const connected = await api('POST', '/api/servers/theirs/connect');
    expect(added.body).toMatchObject({ status: 'untrusted', error: { code: 'UNTRUSTED' } });
    expect([connected.status, connected.body]).toMatchObject([
      403,
      { error: { code: 'UNTRUSTED', hint: expect.stringContaining('plugboard trust theirs') } },
    ]);
    expect(JSON.parse(readFileSync(join(project, '.mcp.json'), 'utf8'))).toEqual({
      mcpServers: { theirs: { command: 'scripted' } },
    });
    expect(server.connections).toBe(before);
    expect((await api('DELETE', '/api/servers/theirs')).status).toBe(200);
  });

  it('asks which scope is meant when several have it', async () => {
    const { api, host, project } = await setUp({ config: { mcpServers: { two: { command: 'scripted' } } } });
    writeFileSync(
      join(project, '.mcp.json'),
      JSON.stringify({ mcpServers: { two: { command: 'scripted' } } }),
    );
    await host.reload();
    const unclear = await api('DELETE', '/api/servers/two');
    const clear = await api('DELETE', '/api/servers/two?scope=project');
    expect([unclear.status, clear.status, clear.body]).toEqual([
      400,
      200,
      { name: 'two', scope: 'project', file: join(project, '.mcp.json'), removed: true },
    ]);
  });

  it('takes one that is in no file out of this run', async () => {
    const { api, host } = await setUp({ script: echo });
    expect((await api('DELETE', '/api/servers/small')).body).toEqual({
      name: 'small',
      scope: 'code',
      removed: true,
    });
    expect(host.servers()).toEqual([]);
  });

  it('disconnects and connects', async () => {
    const { api } = await setUp({ script: echo });
    const statuses = [
      (await api('POST', '/api/servers/small/disconnect')).body,
      (await api('POST', '/api/servers/small/connect')).body,
    ];
    expect(statuses).toMatchObject([{ status: 'disconnected' }, { status: 'connected' }]);
    const again = await api('POST', '/api/servers/small/reconnect');
    expect([again.status, again.body]).toMatchObject([200, { status: 'connected' }]);
  });

  it('answers a server that is not there with 404 and the nearest name', async () => {
    const { api } = await setUp({ script: echo });
    const paths = ['', '/connect', '/reconnect', '/disconnect', '/auth', '/auth/authenticate'];
    const answers = await Promise.all(
      paths.map((path) => api(path === '' ? 'GET' : 'POST', `/api/servers/smal${path}`)),
    );
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
    expect(answers[0]?.body).toMatchObject({
      error: { code: 'UNKNOWN_SERVER', hint: 'Did you mean "small"?' },
    });
  });
});

describe('SRV-5: tools', () => {
  it('lists all of them, also those that a model has to search for', async () => {
    const { api } = await setUp({ script: echo, host: { toolSearch: true } });
    const { body } = await api('GET', '/api/tools');
    expect(body).toEqual({
      tools: [
        {
          name: 'mcp__small__echo',
          server: 'small',
          tool: 'echo',
          description: 'The tool echo.',
          inputSchema: { type: 'object' },
          deferred: true,
        },
      ],
    });
    expect((await api('GET', '/api/tools?server=other')).body).toEqual({ tools: [] });
  });

  it('finds them and explains why', async () => {
    const { api } = await setUp({ script: echo });
    const { body } = await api('GET', '/api/search?q=echo');
    expect(body).toMatchObject({
      results: [{ name: 'mcp__small__echo', score: expect.any(Number), why: [{ words: ['echo'] }, {}] }],
    });
    expect((await api('GET', '/api/search?q=')).body).toEqual({ results: [] });
    expect((await api('GET', '/api/search?q=why?echo')).body).toEqual(body);
    expect((await api('GET', '/api/search?q=echo&limit=0')).status).toBe(400);
  });

  it('calls one, and remembers how it went', async () => {
    const { api } = await setUp({ script: echo });
    const call = await api('POST', '/api/call', { name: 'mcp__small__echo', arguments: { message: 'hi' } });
    expect([call.status, call.body]).toEqual([
      200,
      { content: [{ type: 'text', text: 'hi' }], isError: false, _meta: expect.any(Object) },
    ]);
    expect((await api('GET', '/api/calls')).body).toEqual({
      calls: [
        {
          id: 'c1',
          server: 'small',
          tool: 'echo',
          session: 's1',
          at: expect.any(Number),
          ms: expect.any(Number),
          outcome: 'ok',
          key: expect.stringMatching(/-c1$/),
          decision: 'asked by the caller',
          tokens: { arguments: expect.any(Number), result: expect.any(Number) },
        },
      ],
    });
    expect((await api('GET', '/api/stats')).body).toMatchObject({
      servers: [{ name: 'small', tools: 1, calls: 1, failed: 0, running: 0, recent: [expect.any(Number)] }],
      definitionTokens: { all: expect.any(Number), given: expect.any(Number) },
    });
  });

  it('answers with the reason when a call cannot be made', async () => {
    const { api } = await setUp({
      script: echo,
      config: { permissions: { deny: ['mcp__small__echo'] } },
    });
    const unknown = await api('POST', '/api/call', { name: 'mcp__small__ech', arguments: {} });
    const denied = await api('POST', '/api/call', { name: 'mcp__small__echo' });
    expect([unknown.status, unknown.body, denied.status, denied.body]).toMatchObject([
      404,
      { error: { code: 'UNKNOWN_TOOL' } },
      403,
      { error: { code: 'DENIED' } },
    ]);
  });

  it('F55: a client that disconnects cancels its call', async () => {
    const [begun, cancelled] = [createGate(), createGate()];
    const { origin } = await setUp({
      script: {
        tools: {
          wait: (_, { signal }) => {
            begun.open();
            signal.addEventListener('abort', () => cancelled.open());
            return new Promise(() => {});
          },
        },
      },
    });
    const stop = new AbortController();
    const call = fetch(`${origin}/api/call`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'mcp__small__wait' }),
      signal: stop.signal,
    }).catch(() => 'given up');
    await begun.opened;
    stop.abort();
    await cancelled.opened;
    expect(await call).toBe('given up');
  });
});

describe('A8: access', () => {
  it('rejects a foreign Host or Origin, for page and API alike', async () => {
    const { origin, port } = await setUp();
    const authorization = `Bearer ${TOKEN}`;
    const host = `127.0.0.1:${port}`;
    const strangers = [
      { host: `evil.example:${port}` },
      { host: '127.0.0.1:1' },
      { host, origin: 'https://evil.example' },
      { host, origin: 'null' },
      { host, origin: 'http://127.0.0.1:1' },
    ];
    const answers = await Promise.all(
      ['/api/servers', '/api/events', '/'].flatMap((path) =>
        strangers.map((headers) => send(`${origin}${path}`, 'GET', undefined, { authorization, ...headers })),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 403));
    expect(answers[0]?.body).toEqual({ error: { code: 'DENIED', message: expect.any(String) } });
    expect(answers.map(({ headers }) => headers['access-control-allow-origin'])).toEqual(
      answers.map(() => undefined),
    );
  });

  it('rejects requests without the token on every path; wrong ones have to wait, and the right one always passes', async () => {
    const clock = fakeClock();
    const { origin, api } = await setUp({ serve: { clock } });
    const wrong = (path: string) =>
      send(`${origin}${path}`, 'GET', undefined, { authorization: 'Bearer wrong' });
    const first = await send(`${origin}/api/servers`, 'GET', undefined, {});
    expect([first.status, first.headers['www-authenticate'], first.body]).toEqual([
      401,
      'Bearer',
      { error: { code: 'DENIED', message: expect.any(String), hint: expect.any(String) } },
    ]);
    const statuses: number[] = [];
    for (let count = 0; count < 12; count += 1) statuses.push((await wrong('/api/nothing')).status);
    expect(statuses).toEqual([...Array(9).fill(401), 429, 429, 429]);
    const late = await wrong('/api/servers');
    expect([late.headers['retry-after'], late.body]).toMatchObject([
      '60',
      { error: { code: 'LIMIT_EXCEEDED' } },
    ]);
    expect((await api('GET', '/api/servers')).status).toBe(200);
    await clock.advance(60_001);
    expect((await wrong('/api/servers')).status).toBe(401);
  });

  it('with an issuer or without any token for MCP, management still needs its own', async () => {
    const { api, origin } = await setUp({ serve: { token: undefined, manage: { token: TOKEN } } });
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const accept = 'application/json, text/event-stream';
    const mcp = await send(`${origin}/mcp`, 'POST', ping, { accept });
    expect([mcp.status, (await api('GET', '/api/servers')).status]).toEqual([200, 200]);
    expect((await send(`${origin}/api/servers`, 'GET', undefined, {})).status).toBe(401);
  });

  it('without any token there is no management', async () => {
    const { origin, served } = await setUp({ serve: { token: undefined, manage: undefined } });
    const answers = await Promise.all(
      ['/', '/api/servers'].map((path) => send(`${origin}${path}`, 'GET', undefined, {})),
    );
    expect([served.page, ...answers.map(({ status }) => status)]).toEqual([undefined, 404, 404]);
  });
});

describe('SRV-5: as HTTP has it', () => {
  it('answers unsupported methods with those that it supports', async () => {
    const { api } = await setUp();
    const answers = await Promise.all([
      api('PUT', '/api/servers'),
      api('OPTIONS', '/api/servers'),
      api('HEAD', '/api/servers'),
      api('GET', '/api/servers/'),
      api('GET', '/api'),
      api('GET', '/api/servers/%E0%A4%A'),
      api('HEAD', '/api/events'),
    ]);
    expect(answers.map(({ status, headers, text }) => [status, headers['allow'], text.length > 0])).toEqual([
      [405, 'GET, POST, HEAD, OPTIONS', true],
      [204, 'GET, POST, HEAD, OPTIONS', false],
      [200, undefined, false],
      [404, undefined, true],
      [404, undefined, true],
      [400, undefined, true],
      [200, undefined, false],
    ]);
  });

  it('refuses bodies that are no JSON, no object, of another type or too large', async () => {
    const { api, port } = await setUp();
    const answers = await Promise.all([
      api('POST', '/api/call', '{'),
      api('POST', '/api/call', '[]'),
      api('POST', '/api/call', '{}', { 'content-type': 'text/plain' }),
      api('POST', '/api/call', '{"name":1}'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 415, 400]);
    const socket = connect(Number(port), '127.0.0.1');
    const answered = new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data))));
    socket.write(
      `POST /api/call HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${TOKEN}\r\n` +
        `content-type: application/json\r\ncontent-length: ${64 * 1024 * 1024}\r\n\r\n`,
    );
    expect((await answered).split('\r\n')[0]).toBe('HTTP/1.1 413 Payload Too Large');
    socket.destroy();
  });

  it('the page is served with a policy that lets nothing else in, and is not sent twice', async () => {
    const { origin } = await setUp();
    const first = await send(`${origin}/`, 'GET', undefined, {});
    const etag = String(first.headers['etag']);
    const again = await send(`${origin}/`, 'GET', undefined, { 'if-none-match': etag });
    const post = await send(`${origin}/`, 'POST', '{}', {});
    expect([first.status, again.status, again.text, post.status]).toEqual([200, 304, '', 405]);
    expect(first.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy': expect.stringMatching(/^default-src 'none'; script-src 'self'; /),
    });
    expect(first.headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(first.headers['content-security-policy']).not.toContain('unsafe');
    const outside = await send(`${origin}/..%2f..%2fpackage.json`, 'GET', undefined, {
      authorization: `Bearer ${CALLING_TOKEN}`,
    });
    expect([outside.status, existsSync('package.json')]).toEqual([404, true]);
  });
});
