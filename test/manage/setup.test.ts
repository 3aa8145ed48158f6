/** The beginning on the page: presets, pasted text, agents of the machine and their servers. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ManagedGateway, openManagedGateway } from '../world/managed-gateway.ts';
import { managedGateways } from '../world/managed-gateways.ts';

const setUp = managedGateways();

describe('UI-6: pasted text', () => {
  const parsed = async (text: string): Promise<unknown> =>
    (await (await setUp()).api('POST', '/api/parse', { text })).body;

  it.each([
    [
      'npx -y @modelcontextprotocol/server-memory@1.2.3',
      'memory',
      { command: 'npx', args: ['-y', '@modelcontextprotocol/server-memory@1.2.3'] },
    ],
    // M7: quotes group, as in a shell.
    ['node x.mjs --header="X-Key: a b"', 'x', { command: 'node', args: ['x.mjs', '--header=X-Key: a b'] }],
    [
      `$ API_KEY='a b' uvx mcp-server-time \\\n  --local`,
      'time',
      { command: 'uvx', args: ['mcp-server-time', '--local'], env: { API_KEY: 'a b' } },
    ],
    [
      'claude mcp add --scope user files -e A=1 -- npx -y files-mcp /tmp',
      'files',
      { command: 'npx', args: ['-y', 'files-mcp', '/tmp'], env: { A: '1' } },
    ],
    [
      'claude mcp add --transport http sentry https://mcp.sentry.dev/mcp --header "X: y z"',
      'sentry',
      { url: 'https://mcp.sentry.dev/mcp', headers: { X: 'y z' } },
    ],
    ['npx @playwright/mcp@latest', 'playwright', { command: 'npx', args: ['@playwright/mcp@latest'] }],
    ['https://mcp.linear.app/mcp', 'linear', { url: 'https://mcp.linear.app/mcp' }],
  ])('%s', async (text, name, entry) => {
    expect(await parsed(text)).toMatchObject({ servers: [{ name, entry }] });
  });

  it('reads the JSON of a README in every known format', async () => {
    const entry = { command: 'npx', args: ['-y', 'x'] };
    for (const text of [
      JSON.stringify({ mcpServers: { x: entry } }),
      JSON.stringify({ servers: { x: entry } }),
      `"x": ${JSON.stringify(entry)},`,
      `## Setup\nAdd this to your configuration:\n\n\`\`\`json\n{ "mcpServers": { "x": { "command": "npx", "args": ["-y", "x"] } } } // end\n\`\`\`\nThen restart.`,
    ])
      expect(await parsed(text)).toMatchObject({ kind: 'json', servers: [{ name: 'x', entry }] });
    expect(await parsed(JSON.stringify({ ...entry, env: { KEY: '<your key>' } }))).toMatchObject({
      servers: [{ name: 'x', notes: [expect.stringContaining('placeholder')] }],
    });
  });

  it('refuses a text without a server, with the place of a mistake and without words for a terminal', async () => {
    const { api } = await setUp();
    const broken = await api('POST', '/api/parse', { text: '{\n  "mcpServers": { "x": nope } }' });
    expect([broken.status, broken.body]).toMatchObject([
      400,
      { error: { line: 2, column: expect.any(Number) } },
    ]);
    const open = await api('POST', '/api/parse', { text: 'npx "x' });
    const empty = await api('POST', '/api/parse', { text: '# nothing' });
    expect([open.status, empty.status]).toEqual([400, 400]);
    for (const { text } of [broken, open, empty]) expect(text).not.toContain('plugboard add');
  });
});

describe('UI-6: presets', () => {
  it('are listed, and added with a secret in the keyring, waiting for approval', async () => {
    const world = await setUp();
    const { api } = world;
    const { presets } = (await api('GET', '/api/presets')).body as { presets: { id: string }[] };
    expect(presets.map(({ id }) => id)).toContain('brave-search');
    const added = await api('POST', '/api/presets/brave-search', {
      name: 'web',
      scope: 'user',
      values: { key: 'hush-hush-77' },
    });
    expect([added.status, added.body]).toMatchObject([
      201,
      {
        name: 'web',
        status: 'untrusted',
        entry: { command: 'npx', env: { BRAVE_API_KEY: '${input:web-key}' } },
      },
    ]);
    expect(readFileSync(join(world.home, 'config.json'), 'utf8')).not.toContain('hush');
    expect((await api('GET', '/api/inputs')).body).toMatchObject({
      inputs: [{ id: 'web-key', kept: 'file' }],
    });
    expect((await api('POST', '/api/presets/none', {})).status).toBe(404);
    const docs = await api('POST', '/api/presets/context7', { scope: 'user' });
    expect([docs.status, docs.body]).toMatchObject([
      201,
      { name: 'context7', entry: { url: expect.any(String) } },
    ]);
  });
});

describe('UI-6: agents of this machine', () => {
  async function withCursor(): Promise<ManagedGateway & { readonly user: string }> {
    const world = await openManagedGateway();
    await world.close();
    const user = join(world.dir, 'user');
    mkdirSync(join(user, '.cursor'), { recursive: true });
    const mcpServers = {
      files: { command: 'npx', args: ['-y', 'files-mcp'], env: { TOKEN: 'hush-hush-5' } },
      plugboard: { command: 'plugboard', args: ['serve', '--stdio'] },
    };
    writeFileSync(join(user, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers }));
    const env = { HOME: user, PLUGBOARD_CREDENTIALS: 'file', PATH: process.env['PATH'] };
    return { ...(await setUp({ host: { env, servers: {} } })), user };
  }

  it('are found with their servers, which are imported after a look, and wait for approval', async () => {
    const { api, readConfig } = await withCursor();
    expect((await api('GET', '/api/about')).body).toMatchObject({ firstRun: true });
    const { agents } = (await api('GET', '/api/agents')).body as { agents: { id: string }[] };
    expect(agents.find(({ id }) => id === 'cursor')).toMatchObject({
      title: 'Cursor',
      isInstalled: true,
      isConnected: true,
      servers: [{ name: 'files', action: 'add' }],
      importable: 1,
    });
    const shown = await api('POST', '/api/import', { agents: ['cursor'] });
    expect(shown.body).toMatchObject({
      dryRun: true,
      servers: [{ source: 'cursor', name: 'files', action: 'add' }, { action: 'skip' }],
    });
    expect(shown.text).not.toContain('hush');
    expect(readConfig()).toEqual({});
    const done = await api('POST', '/api/import', {
      servers: [{ agent: 'cursor', name: 'files' }],
      dryRun: false,
    });
    expect(done.body).toMatchObject({ dryRun: false, servers: [{ name: 'files', action: 'add' }] });
    expect(readConfig()).toMatchObject({ mcpServers: { files: { command: 'npx', unapproved: true } } });
    expect((await api('GET', '/api/servers/files')).body).toMatchObject({
      status: 'untrusted',
      next: { action: 'trust' },
    });
  });
});
