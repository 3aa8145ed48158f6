/** One server explained over the management API: description, log, resources and prompts of real processes. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { type ManagedGateway, openManagedGateway, TOKEN } from '../world/managed-gateway.ts';
import { until } from '../world/until.ts';

const FIXTURE = fileURLToPath(new URL('../fixtures/content-server.mjs', import.meta.url));
const open: ManagedGateway[] = [];
afterEach(async () => {
  for (const world of open.splice(0)) await world.close();
});

async function setUp(config: object = {}): Promise<ManagedGateway> {
  const world = await openManagedGateway({
    config: {
      ...config,
      mcpServers: { docs: { command: process.execPath, args: [FIXTURE], lifecycle: 'eager' } },
    },
    host: { servers: {}, replaceTransport: undefined },
  });
  open.push(world);
  return world;
}

describe('UI-6: one server', () => {
  it('has its description, the steps of its start and its costs', async () => {
    const { api } = await setUp();
    const { status, body } = await api('GET', '/api/servers/docs/details');
    expect([status, body]).toMatchObject([
      200,
      {
        serverInfo: { name: expect.any(String), version: expect.any(String) },
        capabilities: { resources: {}, prompts: {} },
        phases: [{ name: 'start' }, { name: 'negotiate' }, { name: 'list' }],
        definitionTokens: 0,
        instructionTokens: expect.any(Number),
        resources: true,
        prompts: true,
        stats: { name: 'docs', calls: 0 },
      },
    ]);
    expect((await api('GET', '/api/servers/none/details')).status).toBe(404);
    expect((await api('GET', '/api/stats?server=docs')).body).toMatchObject({
      servers: [{ name: 'docs', tools: [] }],
    });
  });

  it('lists and reads resources, gets prompts and completes, by the rules', async () => {
    const { api } = await setUp({ permissions: { deny: ['docs__resources.read(uri=file:///p.png)'] } });
    expect((await api('GET', '/api/servers/docs/resources')).body).toMatchObject({
      resources: [{ uri: 'file:///a.md', name: 'a.md' }, { title: 'A picture' }],
      templates: [{ uriTemplate: 'file:///{path}' }],
    });
    const read = (uri: string): ReturnType<typeof api> =>
      api('POST', '/api/servers/docs/resources/read', { uri });
    expect((await read('file:///a.md')).body).toMatchObject({ contents: [{ text: '# A\n' }] });
    expect((await read('file:///p.png')).status).toBe(403);
    expect((await api('GET', '/api/servers/docs/prompts')).body).toMatchObject({
      prompts: [{ name: 'greet', arguments: [{ name: 'who', required: true }, { name: 'how' }] }, {}],
    });
    const got = await api('POST', '/api/servers/docs/prompts/get', {
      name: 'greet',
      arguments: { who: 'Ada' },
    });
    expect(got.body).toMatchObject({
      messages: [{ role: 'user', content: { text: expect.stringContaining('Ada') } }],
    });
    const completion = { prompt: 'greet', argument: { name: 'who', value: 'A' } };
    expect((await api('POST', '/api/servers/docs/complete', completion)).body).toMatchObject({
      values: expect.any(Array),
    });
    expect(
      (await api('POST', '/api/servers/docs/complete', { argument: { name: 'x', value: '' } })).status,
    ).toBe(400);
    expect((await api('POST', '/api/servers/none/resources/read', { uri: 'x' })).status).toBe(404);
  });

  it('has its log, and streams new lines after a cursor', async () => {
    const world = await setUp();
    const script = join(world.dir, 'fails.mjs');
    writeFileSync(
      script,
      'console.error("first problem"); console.error("key hush-hush-123"); process.exit(3);',
    );
    const entry = { command: process.execPath, args: [script], env: { API_KEY: 'hush-hush-123' } };
    await world.host.save('broken', entry, { scope: 'user' });
    const lines = async (): Promise<string> => (await world.api('GET', '/api/servers/broken/log')).text;
    await until('the log has stderr', async () => (await lines()).includes('first problem'));
    expect(await lines()).not.toContain('hush-hush');
    expect((await world.api('GET', '/api/servers/broken')).body).toMatchObject({
      status: 'failed',
      next: { action: 'read-log' },
    });
    const { cursor, lines: before } = (await world.api('GET', '/api/servers/broken/log')).body as {
      cursor: string;
      lines: unknown[];
    };
    expect(before).toContainEqual({
      time: expect.stringMatching(/Z$/),
      pid: expect.any(Number),
      kind: 'stderr',
      message: 'first problem',
    });
    writeFileSync(script, 'console.error("second problem"); process.exit(3);');
    await world.api('POST', '/api/servers/broken/reconnect');
    const stop = new AbortController();
    const response = await fetch(`${world.origin}/api/servers/broken/log/stream?after=${cursor}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
      signal: stop.signal,
    });
    let seen = '';
    for await (const chunk of response.body ?? []) {
      seen += Buffer.from(chunk).toString();
      if (seen.includes('second problem')) break;
    }
    stop.abort();
    expect(seen).not.toContain('first problem');
    expect(seen).toMatch(/id: \d+-\d+\nevent: line/);
    expect((await world.api('GET', '/api/servers/none/log')).status).toBe(404);
  });
});
