/** Switches, edits, tools, scopes and approvals of servers over the management API, with real files. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ManagedGateway } from '../world/managed-gateway.ts';
import { managedGateways } from '../world/managed-gateways.ts';

const setUp = managedGateways();

const script = { tools: { read: () => 'read', write: () => 'written' } };

function writeProject({ project }: ManagedGateway, mcpServers: object): void {
  writeFileSync(join(project, '.mcp.json'), JSON.stringify({ mcpServers }));
}

describe('UI-6: a server', () => {
  it('is disabled and enabled, and the next step is named', async () => {
    const world = await setUp({ script, config: { mcpServers: { docs: { command: 'scripted' } } } });
    const off = await world.api('POST', '/api/servers/docs/disable', {});
    expect([off.status, off.body]).toMatchObject([200, { status: 'disabled', next: { action: 'enable' } }]);
    expect(world.readConfig()).toEqual({ mcpServers: { docs: { command: 'scripted', enabled: false } } });
    const on = await world.api('POST', '/api/servers/docs/enable', {});
    expect([on.status, on.body]).toMatchObject([200, { status: 'connected' }]);
    expect(world.readConfig()).toEqual({ mcpServers: { docs: { command: 'scripted' } } });
    expect((await world.api('POST', '/api/servers/none/enable', {})).status).toBe(404);
    expect((await world.api('POST', '/api/servers/small/disable', {})).status).toBe(404);
  });

  it('of a project is switched for the person only', async () => {
    const world = await setUp({ script });
    writeProject(world, { tools: { command: 'scripted' } });
    await world.host.reload();
    await world.api('POST', '/api/servers/tools/disable', {});
    expect(world.readConfig()).toEqual({
      projects: { [world.project]: { servers: { tools: { enabled: false } } } },
    });
    expect(JSON.parse(readFileSync(join(world.project, '.mcp.json'), 'utf8'))).toEqual({
      mcpServers: { tools: { command: 'scripted' } },
    });
  });

  it.each([
    [
      { command: 'scripted', env: { X: '${NOT_SET_HERE}' } },
      { action: 'set-variable', setting: 'NOT_SET_HERE' },
    ],
    [
      { command: 'scripted', env: { X: '${input:key}' } },
      { action: 'set-input', input: 'key' },
    ],
  ])('that fails for a missing value names it: %j', async (entry, next) => {
    const world = await setUp({ script, config: { mcpServers: { docs: entry } } });
    const { body } = await world.api('GET', '/api/servers/docs');
    expect(body).toMatchObject({ status: 'failed', next });
  });

  it('M6: in two scopes is removed from the one that is chosen', async () => {
    const world = await setUp({ script, config: { mcpServers: { docs: { command: 'scripted' } } } });
    const entry = { url: 'http://127.0.0.1:9/mcp', enabled: false };
    await world.api('POST', '/api/servers', { name: 'docs', scope: 'local', entry });
    const { body } = await world.api('GET', '/api/servers/docs');
    expect(body).toMatchObject({
      places: [
        { scope: 'local', isUsed: true, isEditable: true, enabled: false },
        { scope: 'user', isUsed: false, isEditable: true, enabled: true },
      ],
    });
    const refused = await world.api('DELETE', '/api/servers/docs');
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { error: { scopes: [{ scope: 'local' }, { scope: 'user' }] } },
    ]);
    expect((await world.api('DELETE', '/api/servers/docs?scope=user')).body).toMatchObject({ scope: 'user' });
    expect((await world.api('DELETE', '/api/servers/docs')).body).toMatchObject({ scope: 'local' });
  });

  it('is edited without its secrets being shown or lost', async () => {
    const docs = {
      command: 'scripted',
      args: ['--token=hush-hush-1', '--verbose', 'x'],
      env: { API_KEY: 'hush-hush-2', LEVEL: 'debug' },
    };
    const world = await setUp({ script, config: { mcpServers: { docs } } });
    const read = await world.api('GET', '/api/servers/docs/entry');
    expect(read.text).not.toContain('hush');
    const { entry, digest, hidden } = read.body as {
      entry: typeof docs;
      digest: string;
      hidden: string[][];
    };
    expect(hidden).toEqual([
      ['args', '0'],
      ['env', 'API_KEY'],
    ]);
    const limits = { ...entry, toolTimeoutMs: 5_000 };
    const saved = await world.api('POST', '/api/servers/docs/entry', { entry: limits, digest });
    // A limit does not change what runs.
    expect([saved.status, saved.body]).toMatchObject([200, { status: 'connected' }]);
    expect(world.readConfig()).toEqual({ mcpServers: { docs: { ...docs, toolTimeoutMs: 5_000 } } });
    const stale = await world.api('POST', '/api/servers/docs/entry', { entry, digest });
    expect(stale.status).toBe(409);

    const again = (await world.api('GET', '/api/servers/docs/entry')).body as {
      entry: typeof docs;
      digest: string;
    };
    const moved = { ...again.entry, args: ['--new', ...again.entry.args.slice(0, 1)] };
    const changed = await world.api('POST', '/api/servers/docs/entry', {
      entry: moved,
      digest: again.digest,
    });
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { status: 'untrusted', next: { action: 'trust' } },
    ]);
    expect(world.readConfig()).toMatchObject({
      mcpServers: { docs: { args: ['--new', '--token=hush-hush-1'], env: docs.env, unapproved: true } },
    });
  });

  it('refuses an edit with a hidden value in another place, or an invalid one, with the path', async () => {
    const docs = { command: 'scripted', env: { API_KEY: 'hush-hush-2' } };
    const world = await setUp({ script, config: { mcpServers: { docs } } });
    const read = (await world.api('GET', '/api/servers/docs/entry')).body as {
      entry: typeof docs;
      digest: string;
    };
    const { digest } = read;
    const leak = { ...read.entry, args: [`--key=${read.entry.env.API_KEY}`] };
    const refused = await world.api('POST', '/api/servers/docs/entry', { entry: leak, digest });
    expect([refused.status, refused.body]).toMatchObject([400, { error: { path: ['args', '0'] } }]);
    const wrong = { ...read.entry, command: 7 };
    const invalid = await world.api('POST', '/api/servers/docs/entry', { entry: wrong, digest });
    expect([invalid.status, invalid.body]).toMatchObject([
      400,
      { error: { code: 'CONFIG_INVALID', path: expect.arrayContaining(['command']) } },
    ]);
    expect(world.readConfig()).toEqual({ mcpServers: { docs } });
    expect((await world.api('GET', '/api/servers/small/entry')).status).toBe(400);
  });

  it('has switches for its tools', async () => {
    const world = await setUp({ script, config: { mcpServers: { docs: { command: 'scripted' } } } });
    const toggle = (tool: string, enabled: boolean): ReturnType<typeof world.api> =>
      world.api('POST', '/api/servers/docs/tools', { tool, enabled });
    const off = await toggle('write', false);
    expect([off.status, off.body]).toMatchObject([
      200,
      {
        tools: [
          { tool: 'read', state: 'on', approval: { decision: 'ask' }, definitionTokens: expect.any(Number) },
          { tool: 'write', state: 'off' },
        ],
      },
    ]);
    expect(world.readConfig()).toEqual({
      mcpServers: { docs: { command: 'scripted', disabledTools: ['write'] } },
    });
    expect(world.host.find('docs__write')).toBeUndefined();
    expect((await toggle('write', true)).body).toMatchObject({ tools: [{ state: 'on' }, { state: 'on' }] });
    expect(world.readConfig()).toEqual({ mcpServers: { docs: { command: 'scripted' } } });
  });
});

describe('UI-6: approval on the page', () => {
  it('shows the command line, the folder and hashes of a project server, and approves exactly that', async () => {
    const world = await setUp({ script });
    mkdirSync(join(world.project, 'bin'));
    writeFileSync(join(world.project, 'bin', 'run.mjs'), 'one');
    writeProject(world, { tools: { command: 'node', args: ['bin/run.mjs', 'a b'] } });
    await world.host.reload();
    expect((await world.api('GET', '/api/servers/tools')).body).toMatchObject({
      status: 'untrusted',
      next: { action: 'trust' },
    });
    const shown = (await world.api('GET', '/api/servers/tools/trust')).body as { digest: string };
    expect(shown).toMatchObject({
      state: 'unknown',
      needed: true,
      from: 'project',
      commandLine: "node bin/run.mjs 'a b'",
      folder: world.project,
      file: join(world.project, '.mcp.json'),
      files: [{ path: 'bin/run.mjs', sha256: expect.stringMatching(/[0-9a-f]{64}/) }],
    });
    writeFileSync(join(world.project, 'bin', 'run.mjs'), 'two');
    const stale = await world.api('POST', '/api/servers/tools/trust', { digest: shown.digest });
    expect([stale.status, stale.body]).toMatchObject([409, { error: { server: 'tools' } }]);
    const { digest } = (await world.api('GET', '/api/servers/tools/trust')).body as { digest: string };
    const approved = await world.api('POST', '/api/servers/tools/trust', { digest });
    expect([approved.status, approved.body]).toMatchObject([200, { status: 'connected' }]);
    const withdrawn = await world.api('DELETE', '/api/servers/tools/trust');
    expect(withdrawn.body).toMatchObject({ status: 'untrusted' });
  });

  it('approves an entry that was added over the API, too', async () => {
    const world = await setUp({ script });
    const entry = { command: 'scripted', args: ['x'] };
    await world.api('POST', '/api/servers', { name: 'mine', scope: 'user', entry });
    const shown = (await world.api('GET', '/api/servers/mine/trust')).body as { digest: string };
    expect(shown).toMatchObject({ from: 'api', needed: true, commandLine: 'scripted x' });
    expect((await world.api('POST', '/api/servers/mine/trust', { digest: 'x' })).status).toBe(409);
    const approved = await world.api('POST', '/api/servers/mine/trust', { digest: shown.digest });
    expect([approved.status, approved.body]).toMatchObject([200, { status: 'connected' }]);
    expect(world.readConfig()).toEqual({ mcpServers: { mine: entry } });
  });
});
