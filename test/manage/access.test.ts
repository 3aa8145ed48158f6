/** Tokens, profiles, inputs and lines to connect an agent over the management API. */

import { describe, expect, it } from 'vitest';
import { modern } from '../serve/bare-client.ts';
import { managedGateways } from '../world/managed-gateways.ts';

const setUp = managedGateways();

const script = { tools: { read: () => 'read', write: () => 'written' } };

describe('UI-6: access', () => {
  it('names the project, the files and the address', async () => {
    const { api, project, home, served } = await setUp({ script });
    expect((await api('GET', '/api/about')).body).toEqual({
      version: expect.any(String),
      run: expect.any(String),
      folder: project,
      home,
      firstRun: false,
      files: { config: `${home}/config.json`, project: `${project}/.mcp.json` },
      url: served.url,
    });
    const { body } = await api('GET', '/api/connect?profile=careful');
    expect(body).toMatchObject({
      local: expect.arrayContaining([
        {
          agent: 'Claude Code',
          where: 'type',
          lines: ['claude mcp add --scope user plugboard -- plugboard serve --stdio --profile careful'],
        },
      ]),
      remote: [{ agent: 'Claude Code', lines: [expect.stringContaining('/mcp/careful')] }, {}, {}, {}, {}],
    });
  });

  it('L1: a home that cannot be written is reported as such, not as a fault of Plugboard', async () => {
    const opened = setUp({ script, host: { home: '/dev/null/home' }, serve: { manage: {} } });
    await expect(opened).rejects.toMatchObject({
      code: 'CONFIG_UNWRITABLE',
      message: expect.stringContaining('/dev/null/home/manage-token'),
    });
  });

  it('a token is made, calls tools, manages nothing, and is revoked', async () => {
    const world = await setUp({ script, takesNamed: true });
    const { api, served } = world;
    const made = await api('POST', '/api/tokens', { name: 'laptop', expires: '30d' });
    const { token } = made.body as { token: string };
    expect([made.status, made.body]).toMatchObject([
      201,
      { name: 'laptop', token: expect.any(String), connect: [{ agent: 'Claude Code' }, {}, {}, {}, {}] },
    ]);
    const headers = { authorization: `Bearer ${token}` };
    const called = await modern(served.url, 1, 'tools/call', { name: 'small__read' }, {}, headers);
    expect(called.messages).toMatchObject([{ result: { isError: false } }]);
    expect((await api('GET', '/api/tokens', undefined, headers)).status).toBe(401);
    const { body, text } = await api('GET', '/api/tokens');
    expect(body).toMatchObject({ tokens: [{ name: 'laptop', expired: false, expires: expect.any(Number) }] });
    expect(text).not.toContain(token);
    expect((await api('DELETE', '/api/tokens/laptop')).body).toEqual({ tokens: [] });
    expect((await api('DELETE', '/api/tokens/laptop')).status).toBe(404);
    expect((await modern(served.url, 1, 'tools/list', {}, {}, headers)).status).toBe(401);
    for (const wrong of [{ name: 'x', expires: 'soon' }, { name: 'a b' }, { name: 'x', profile: 'none' }])
      expect((await api('POST', '/api/tokens', wrong)).status).toBe(400);
  });

  it('a profile is added, tried and removed; an invalid one is refused with its path', async () => {
    const world = await setUp({ script });
    const { api } = world;
    const profile = { servers: ['small'], rules: { deny: ['small__write'] } };
    const added = await api('POST', '/api/profiles', { name: 'careful', profile });
    expect([added.status, added.body]).toMatchObject([
      201,
      {
        profiles: [
          { name: 'careful', address: '/mcp/careful', definition: profile, clients: [], servers: ['small'] },
        ],
      },
    ]);
    expect(world.readConfig()).toEqual({ profiles: { careful: profile } });
    expect((await api('POST', '/api/profiles', { name: 'careful', profile })).status).toBe(409);
    const tried = async (tool: string): Promise<unknown> =>
      (await api('POST', '/api/profiles/careful/try', { tool, arguments: {} })).body;
    expect(await tried('small__write')).toMatchObject({
      known: true,
      decision: 'deny',
      rule: 'small__write',
    });
    expect(await tried('small__none')).toEqual({ known: false });
    const wrong = await api('POST', '/api/profiles', { name: 'odd', profile: { servers: 'small' } });
    expect([wrong.status, wrong.body]).toMatchObject([400, { error: { path: ['servers'] } }]);
    const unknown = await api('POST', '/api/profiles', { name: 'odd', profile: { server: [] } });
    expect([unknown.status, unknown.body]).toMatchObject([400, { error: { path: ['server'] } }]);
    expect((await api('DELETE', '/api/profiles/careful')).body).toEqual({ profiles: [] });
    expect((await api('DELETE', '/api/profiles/careful')).status).toBe(404);
  });

  it('an input is set, starts its server, and is never shown', async () => {
    const world = await setUp({
      script,
      config: {
        inputs: [{ type: 'promptString', id: 'key', description: 'The key of docs', password: true }],
        mcpServers: { docs: { command: 'scripted', env: { KEY: '${input:key}' } } },
      },
    });
    const { api } = world;
    expect((await api('GET', '/api/servers/docs')).body).toMatchObject({
      next: { action: 'set-input', input: 'key' },
    });
    expect((await api('GET', '/api/inputs')).body).toEqual({
      inputs: [{ id: 'key', servers: ['docs'], password: true, description: 'The key of docs', kept: null }],
    });
    const set = await api('POST', '/api/inputs', { id: 'key', value: 'hush-hush-9' });
    expect([set.status, set.body]).toMatchObject([200, { inputs: [{ id: 'key', kept: 'file' }] }]);
    expect((await api('GET', '/api/servers/docs')).body).toMatchObject({ status: 'connected' });
    await api('POST', '/api/call', { name: 'docs__read', arguments: { note: 'hush-hush-9' } });
    const everything = await Promise.all(
      ['/api/inputs', '/api/servers/docs', '/api/servers/docs/entry', '/api/calls?q=docs'].map((path) =>
        api('GET', path),
      ),
    );
    expect(everything.map(({ text }) => text).join('')).not.toContain('hush');
    expect((await api('DELETE', '/api/inputs/key')).body).toMatchObject({ inputs: [{ kept: null }] });
    expect((await api('POST', '/api/inputs', { id: 'none', value: 'x' })).status).toBe(404);
  });
});
