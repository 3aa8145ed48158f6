/** The history of calls through the management API: what it has, what it hides, and its limits. */

import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resultText } from '../../src/history/value-text.ts';
import { createGate, fakeClock } from '../../src/testing/index.ts';
import { CALLING_TOKEN, type ManagedGateway, readEvents, send } from '../world/managed-gateway.ts';
import { managedGateways } from '../world/managed-gateways.ts';
import { until } from '../world/until.ts';

const setUp = managedGateways();

const TOOLS = {
  echo: ({ message }: Readonly<Record<string, unknown>>) => String(message),
  fails: () => ({ content: [{ type: 'text', text: 'no such file' }], isError: true }),
  picture: () => ({ content: [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(40_000) }] }),
} as const;

interface Listed {
  readonly calls: readonly {
    readonly key: string;
    readonly tool: string;
    readonly [more: string]: unknown;
  }[];
  readonly next?: string;
}

async function listed({ api }: ManagedGateway, query = ''): Promise<Listed> {
  return (await api('GET', `/api/calls${query}`)).body as Listed;
}

function historyText({ home }: ManagedGateway): string {
  const folder = join(home, 'history');
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');
}

/** One call of an MCP client of 2026-07-28, which identifies itself with each request. */
function mcpCall({ origin }: ManagedGateway, name: string, args: object): ReturnType<typeof send> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'Some Agent', version: '7.1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: args, _meta: meta },
  };
  return send(`${origin}/mcp`, 'POST', body, {
    authorization: `Bearer ${CALLING_TOKEN}`,
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': name,
  });
}

describe('UI-6: the history of calls', () => {
  it('has arguments, result, client, duration, tokens and rule of a call', async () => {
    const world = await setUp({
      script: { tools: TOOLS },
      config: { permissions: { allow: ['small__echo'] } },
    });
    await mcpCall(world, 'small__echo', { message: 'hello' });
    await world.api('POST', '/api/call', { name: 'small__fails', ref: 'mine' });
    const { calls } = await listed(world);
    expect(calls.map(({ tool, outcome, agent, ref }) => ({ tool, outcome, agent, ref }))).toEqual([
      { tool: 'fails', outcome: 'tool-error', agent: undefined, ref: 'mine' },
      { tool: 'echo', outcome: 'ok', agent: { name: 'Some Agent', version: '7.1' }, ref: undefined },
    ]);
    const { body } = await world.api('GET', `/api/calls/${calls[1]?.key}`);
    expect(body).toEqual({
      key: expect.stringMatching(/^\w+-c\d+$/),
      id: expect.any(String),
      server: 'small',
      tool: 'echo',
      session: expect.any(String),
      at: expect.any(Number),
      ms: expect.any(Number),
      outcome: 'ok',
      client: 'token',
      agent: { name: 'Some Agent', version: '7.1' },
      rule: 'small__echo',
      decision: 'the rule "small__echo" allows it',
      tokens: { arguments: expect.any(Number), result: expect.any(Number) },
      arguments: { message: 'hello' },
      result: expect.objectContaining({ content: [{ type: 'text', text: 'hello' }], isError: false }),
    });
  });

  it('has the error of a call that failed', async () => {
    const world = await setUp({
      script: { tools: TOOLS },
      config: { permissions: { deny: ['small__echo'] } },
    });
    await world.api('POST', '/api/call', { name: 'small__echo', arguments: { message: 'x' } });
    const { calls } = await listed(world, '?state=failed');
    const { body } = await world.api('GET', `/api/calls/${calls[0]?.key}`);
    expect(body).toMatchObject({
      outcome: 'denied',
      code: 'DENIED',
      rule: 'small__echo',
      arguments: { message: 'x' },
      error: { code: 'DENIED', message: expect.stringContaining('small') },
    });
  });

  it('filters by server, tool, state, agent and time, and searches values', async () => {
    const world = await setUp({ script: { tools: TOOLS } });
    await world.api('POST', '/api/call', { name: 'small__echo', arguments: { message: 'Blue whale' } });
    await world.api('POST', '/api/call', { name: 'small__echo', arguments: { message: 'red fox' } });
    await world.api('POST', '/api/call', { name: 'small__fails' });
    await mcpCall(world, 'small__echo', { message: 'of an agent' });
    const count = async (query: string): Promise<number> => (await listed(world, query)).calls.length;
    expect(await count('')).toBe(4);
    expect(await count('?tool=echo')).toBe(3);
    expect(await count('?server=other')).toBe(0);
    expect(await count('?state=failed')).toBe(1);
    expect(await count('?state=ok&agent=Some+Agent')).toBe(1);
    expect(await count('?q=whale+BLUE')).toBe(1);
    expect(await count('?q=no+such+file')).toBe(1);
    expect(await count('?q=whale+fox')).toBe(0);
    expect(await count(`?from=${Date.now() + 60_000}`)).toBe(0);
    expect(await count(`?to=${Date.now() + 60_000}`)).toBe(4);
    expect((await world.api('GET', '/api/calls?state=odd')).status).toBe(400);
    expect((await world.api('GET', '/api/calls?from=odd')).status).toBe(400);
  });

  it('is read page by page without gaps', async () => {
    const world = await setUp({ script: { tools: TOOLS } });
    for (let n = 0; n < 7; n += 1)
      await world.api('POST', '/api/call', { name: 'small__echo', arguments: { message: n }, ref: `r${n}` });
    const seen: unknown[] = [];
    let next: string | undefined = '';
    while (next !== undefined) {
      const page: Listed = await listed(world, `?limit=3${next === '' ? '' : `&before=${next}`}`);
      seen.push(...page.calls.map(({ ref }) => ref));
      next = page.next;
    }
    expect(seen).toEqual(['r6', 'r5', 'r4', 'r3', 'r2', 'r1', 'r0']);
  });

  it('survives a restart, and skips damaged lines', async () => {
    const world = await setUp({ script: { tools: TOOLS } });
    await world.api('POST', '/api/call', { name: 'small__echo', arguments: { message: 'before' } });
    const [before] = (await listed(world)).calls;
    const [file = ''] = readdirSync(join(world.home, 'history'));
    appendFileSync(join(world.home, 'history', file), '{"key":"x"}\t{}\n\n{broken\tx\nno tab\n');
    const again = await setUp({
      script: { tools: TOOLS },
      host: { home: world.home },
    });
    await again.api('POST', '/api/call', { name: 'small__echo', arguments: { message: 'after' } });
    const { calls } = await listed(again);
    expect(calls.map(({ key }) => key)).toEqual([expect.any(String), before?.key]);
    expect(calls[0]?.key).not.toBe(before?.key);
    const { body } = await again.api('GET', `/api/calls/${before?.key}`);
    expect(body).toMatchObject({ arguments: { message: 'before' } });
  });

  it('is private to the user', async () => {
    const world = await setUp({ script: { tools: TOOLS } });
    await world.api('POST', '/api/call', { name: 'small__echo', arguments: { message: 'x' } });
    await listed(world);
    const folder = join(world.home, 'history');
    const modes = [folder, ...readdirSync(folder).map((name) => join(folder, name))].map(
      (path) => statSync(path).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o600]);
  });

  it('never has a configured secret, in arguments, results or errors, also of servers that do not run', async () => {
    const secret = 'hush-hush-1234567890';
    const pin = '73315';
    const world = await setUp({
      script: { tools: TOOLS },
      config: {
        mcpServers: {
          off: { command: 'x', enabled: false, env: { API_KEY: secret, DOOR_PASSWORD: pin } },
          web: {
            url: 'https://example.com/mcp',
            enabled: false,
            headers: { Authorization: `Bearer ${secret}-2` },
          },
        },
      },
    });
    const message = `a ${secret} b ${secret}-2 ${encodeURIComponent(secret)} ${Buffer.from(secret).toString('base64')}`;
    await world.api('POST', '/api/call', { name: 'small__echo', arguments: { message, code: 73315, pin } });
    await world.api('POST', '/api/call', { name: 'small__echo', arguments: { [secret]: 1 } });
    await world.api('POST', '/api/call', {
      name: 'small__echo',
      arguments: { message: `${'x'.repeat(32 * 1024 - 12)}${secret}${'y'.repeat(70_000)}` },
    });
    const { calls } = await listed(world, '?tool=echo');
    const answers = await Promise.all(calls.map(({ key }) => world.api('GET', `/api/calls/${key}`)));
    const text = historyText(world) + answers.map((answer) => answer.text).join('');
    expect(calls).toHaveLength(3);
    expect(text).toContain('[secret]');
    for (const hidden of [secret, 'hush-hush', Buffer.from(secret).toString('base64'), `"${pin}"`])
      expect(text).not.toContain(hidden);
  });

  it('hides arguments whose name is that of a secret', async () => {
    const world = await setUp({ script: { tools: TOOLS } });
    const args = {
      message: 'x',
      password: 'open sesame',
      nested: { apiKey: 'abc', key: 'PROJ-1' },
      maxTokens: 5,
    };
    await world.api('POST', '/api/call', { name: 'small__echo', arguments: args });
    const [call] = (await listed(world)).calls;
    const { body } = await world.api('GET', `/api/calls/${call?.key}`);
    expect(body).toMatchObject({
      arguments: {
        message: 'x',
        password: '[secret]',
        nested: { apiKey: '[secret]', key: 'PROJ-1' },
        maxTokens: 5,
      },
    });
  });

  it('cuts long values and leaves media out', async () => {
    const world = await setUp({ script: { tools: TOOLS } });
    await world.api('POST', '/api/call', {
      name: 'small__echo',
      arguments: { message: 'x'.repeat(200_000) },
    });
    await world.api('POST', '/api/call', { name: 'small__picture' });
    const { calls } = await listed(world);
    const [picture, long] = await Promise.all(
      calls.map(async ({ key }) => (await world.api('GET', `/api/calls/${key}`)).body),
    );
    expect(picture).toMatchObject({
      result: { content: [{ type: 'image', mimeType: 'image/png', omittedBytes: 30_000 }] },
    });
    expect(long).toMatchObject({
      cut: { arguments: expect.any(Number), result: expect.any(Number) },
      arguments: { message: expect.stringMatching(/^x{32768}… \[167232 characters cut\]$/) },
    });
  });

  it('F15: bounds the size of a value that refers to itself', () => {
    const value: Record<string, unknown> = { text: 'x'.repeat(300_000) };
    for (const name of ['a', 'b', 'c']) value[name] = value;
    const { text, cut } = resultText(value, { redact: (plain) => plain });
    expect([text.length < 300_000, cut]).toEqual([true, 64 * 1024 * 1024]);
  });

  it('deletes files that are older than a week or beyond 200 MB, and lists nothing older', async () => {
    const clock = fakeClock();
    const world = await setUp({ script: { tools: TOOLS }, host: { clock }, serve: { clock } });
    const folder = join(world.home, 'history');
    const nameAt = (days: number, tail: string): string =>
      `calls-${(clock.now() - days * 86_400_000).toString(36).padStart(9, '0')}-${tail}.lines`;
    mkdirSync(folder);
    const [old, recent, large] = [nameAt(9, '00000001'), nameAt(2, '00000002'), nameAt(3, '00000003')];
    const past = { key: 'k-c1', id: 'c1', server: 's', tool: 't', session: 's1', ms: 1, outcome: 'ok' };
    const line = (days: number): string =>
      `${JSON.stringify({ ...past, at: clock.now() - days * 86_400_000 })}\t{}\n`;
    writeFileSync(join(folder, old), line(9));
    writeFileSync(join(folder, recent), line(8) + line(2));
    writeFileSync(join(folder, large), '');
    utimesSync(join(folder, old), 0, 0);
    const { truncateSync } = await import('node:fs');
    truncateSync(join(folder, large), 200 * 1024 * 1024);
    await world.api('POST', '/api/call', { name: 'small__echo', arguments: { message: 'x' } });
    const { calls } = await listed(world);
    expect(calls.map(({ tool }) => tool)).toEqual(['echo', 't']);
    expect(readdirSync(folder).sort()).toEqual([recent, expect.stringMatching(/^calls-/)]);
  });

  it('is cleared, and switched off and on in config.json', async () => {
    const world = await setUp({ script: { tools: TOOLS } });
    await world.api('POST', '/api/call', { name: 'small__echo', arguments: { message: 'secret plan' } });
    await listed(world);
    expect((await world.api('GET', '/api/history')).body).toMatchObject({ enabled: true, days: 7 });
    expect((await world.api('DELETE', '/api/history')).body).toEqual({ cleared: true });
    expect((await listed(world)).calls).toEqual([]);
    expect(readdirSync(join(world.home, 'history'))).toEqual([]);
    expect((await world.api('POST', '/api/history', { enabled: false })).body).toMatchObject({
      enabled: false,
    });
    expect(world.readConfig()).toEqual({ history: false });
    await world.api('POST', '/api/call', { name: 'small__echo', arguments: { message: 'unkept' } });
    // The calls of this run are still listed, without their values.
    const { calls } = await listed(world);
    expect(calls.map(({ tool }) => tool)).toEqual(['echo', 'echo']);
    expect((await world.api('GET', `/api/calls/${calls[0]?.key}`)).text).not.toContain('unkept');
    expect(readdirSync(join(world.home, 'history'))).toEqual([]);
    await world.api('POST', '/api/history', { enabled: true });
    expect(world.readConfig()).toEqual({});
  });

  it('a home that cannot be written stops no call', async () => {
    const world = await setUp({ script: { tools: TOOLS } });
    writeFileSync(join(world.home, 'history'), 'a file');
    const { status } = await world.api('POST', '/api/call', {
      name: 'small__echo',
      arguments: { message: 'x' },
    });
    expect(status).toBe(200);
    await listed(world);
    expect((await world.api('GET', '/api/history')).body).toMatchObject({ problem: expect.any(String) });
    expect((await listed(world)).calls.map(({ tool }) => tool)).toEqual(['echo']);
  });
});

describe('UI-6: running calls', () => {
  it('are listed with their progress and arguments, and cancelled for an agent, which gets an answer', async () => {
    const gate = createGate();
    const world = await setUp({
      script: { tools: { slow: (_args, { signal }) => Promise.race([gate.opened, aborted(signal)]) } },
    });
    const answer = mcpCall(world, 'small__slow', { path: '/a' });
    const call = await firstRunning(world);
    expect(call).toMatchObject({ tool: 'slow', agent: { name: 'Some Agent' } });
    expect((await world.api('GET', `/api/calls/${call.key}`)).body).toMatchObject({
      arguments: { path: '/a' },
    });
    const { body } = await world.api('POST', `/api/calls/${call.key}/cancel`);
    expect(body).toEqual({ id: call['id'], cancelled: true });
    expect((await answer).text).toContain('cancelled by the user');
    expect((await world.api('POST', `/api/calls/${call.key}/cancel`)).status).toBe(404);
    expect((await listed(world)).calls).toMatchObject([{ tool: 'slow', outcome: 'cancelled' }]);
  });

  it('M4: a call of the page goes on without its request, and its answer is found by its id', async () => {
    const gate = createGate();
    const world = await setUp({
      script: { tools: { slow: async () => gate.opened.then(() => 'done'), ...TOOLS } },
    });
    const events = await readEvents(world);
    const started = await world.api('POST', '/api/call', { name: 'small__slow', wait: false, ref: 'tab-1' });
    const { id, key } = started.body as { id: string; key: string };
    expect(started.body).toEqual({ id, key, ref: 'tab-1' });
    const path = `/api/calls/${key}/result`;
    expect((await world.api('GET', path)).status).toBe(409);
    gate.open();
    await events.next(({ event, data }) => event === 'call.end' && (data as { key: string }).key === key);
    expect((await world.api('GET', path)).body).toMatchObject({
      content: [{ type: 'text', text: 'done' }],
      isError: false,
    });
    events.close();
    const unknown = await world.api('POST', '/api/call', { name: 'small__none', wait: false });
    expect([unknown.status, unknown.body]).toMatchObject([404, { error: { code: 'UNKNOWN_TOOL' } }]);
    expect((await world.api('GET', '/api/calls/none/result')).status).toBe(404);
  });

  it('a call of the page is cancelled by its id too, also while it waits for an approval', async () => {
    const world = await setUp({
      script: { tools: TOOLS },
      config: { permissions: { ask: ['small__echo'] } },
    });
    const started = await world.api('POST', '/api/call', { name: 'small__echo', arguments: {}, wait: false });
    const { id } = started.body as { id: string };
    await until('it is asked about', async () => (await questions(world)).length > 0);
    await world.api('POST', `/api/calls/${id}/cancel`);
    await until(
      'it has ended',
      async () => !(await world.api('GET', `/api/calls/${id}/result`)).text.includes('runs'),
    );
    expect((await world.api('GET', `/api/calls/${id}/result`)).body).toMatchObject({
      error: { code: 'CANCELLED' },
    });
    expect(await questions(world)).toEqual([]);
  });
});

async function firstRunning(world: ManagedGateway): Promise<Listed['calls'][number]> {
  let found: Listed['calls'] = [];
  await until('a call runs', async () => {
    found = (await listed(world, '?state=running')).calls;
    return found.length > 0;
  });
  const [call] = found;
  if (call === undefined) throw new Error('no call runs');
  return call;
}

async function questions({ api }: ManagedGateway): Promise<readonly unknown[]> {
  return ((await api('GET', '/api/approvals')).body as { readonly approvals: readonly unknown[] }).approvals;
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('cancelled')), { once: true });
  });
}
