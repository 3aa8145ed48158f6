import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHost, type Host } from '../../src/host/host.ts';
import { workspaceEntries } from '../../src/workspace/workspace-entry.ts';
import { removeHome } from '../remove-home.ts';
import { COMMAND } from './program.ts';
import { Tree } from './tree.ts';

let tree: Tree;
let home: string;

beforeEach(() => {
  tree = new Tree({ 'a.txt': 'a\n' });
  home = join(tree.dir, 'home');
  mkdirSync(home);
});
afterEach(() => removeHome(tree.dir));

function configure(config: unknown): void {
  writeFileSync(join(home, 'config.json'), JSON.stringify(config));
}

/** A host that starts nothing: which servers there are, and from where. */
async function configured(): Promise<readonly (readonly [string, string, string])[]> {
  const host = await createHost({
    cwd: tree.root,
    home,
    builtIn: workspaceEntries,
    connect: 'none',
    watch: false,
  });
  const servers = host.servers().map(({ name, scope, status }) => [name, scope, status] as const);
  await host.close();
  return servers;
}

describe('SRV-3: the workspace server is there', () => {
  it('by default, in code scope', async () => {
    expect(await configured()).toEqual([['workspace', 'code', 'idle']]);
  });

  it('not when the person switched it off, nor when it cannot be known whether they did', async () => {
    configure({ workspace: false });
    const off = await configured();
    writeFileSync(join(home, 'config.json'), '{ "workspace": fal');
    expect([off, await configured()]).toEqual([[], []]);
  });

  it('unless a server of its name is configured; one of a project needs approval first', async () => {
    configure({ mcpServers: { workspace: { command: 'own' } } });
    const user = await configured();
    configure({});
    writeFileSync(tree.at('.mcp.json'), JSON.stringify({ mcpServers: { workspace: { command: 'theirs' } } }));
    expect([user, await configured()]).toEqual([
      [['workspace', 'user', 'idle']],
      [['workspace', 'code', 'idle']],
    ]);
  });

  it('with the shell only when the person enabled it, and then every call requires approval', () => {
    const plain = workspaceEntries({})['workspace'];
    const shell = workspaceEntries({ workspace: { shell: true } })['workspace'];
    expect([plain, shell]).toEqual([
      expect.objectContaining({ args: [expect.any(String), 'workspace', '${PROJECT_DIR}'], trusted: true }),
      expect.objectContaining({
        args: [expect.any(String), 'workspace', '${PROJECT_DIR}', '--shell'],
        trusted: true,
        tools: { shell: { approval: 'prompt' } },
      }),
    ]);
  });
});

it('SRV-3: its tools are known before it is started, and are those that it then has', async () => {
  // As it is shipped: what it offers is written down when the command is built.
  const built = join(dirname(COMMAND), '..');
  const entry: typeof import('../../src/workspace/workspace-entry.ts') = await import(
    join(built, 'workspace/workspace-entry.js')
  );
  const shipped: typeof import('../../src/host/host.ts') = await import(join(built, 'host/host.js'));
  const seen: unknown[] = [];
  for (const shell of [false, true]) {
    configure({ workspace: { shell } });
    const host = await shipped.createHost({
      cwd: tree.root,
      home,
      builtIn: entry.workspaceEntries,
      builtInList: entry.workspaceList,
      watch: false,
      env: { PATH: process.env['PATH'] },
    });
    await host.ready();
    const before = {
      status: host.servers()[0]?.status,
      instructions: host.instructions(),
      tools: host.tools(),
    };
    await host.connect('workspace');
    const after = {
      status: host.servers()[0]?.status,
      instructions: host.instructions(),
      tools: host.tools(),
    };
    await host.close();
    expect(after).toEqual({ ...before, status: 'connected' });
    seen.push([before.status, before.tools.some(({ tool }) => tool === 'shell')]);
  }
  expect(seen).toEqual([
    ['idle', false],
    ['idle', true],
  ]);
});

async function serve(...flags: string[]): Promise<Client> {
  const client = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [COMMAND, 'serve', ...flags],
    cwd: tree.root,
    env: { PATH: process.env['PATH'] ?? '', PLUGBOARD_HOME: home, PLUGBOARD_CREDENTIALS: 'file' },
  });
  await client.connect(transport);
  return client;
}

describe('SRV-3: plugboard serve', () => {
  it('with "workspace" set gives an agent the project that it was started in; a shell that no one can be asked about is refused', async () => {
    configure({ workspace: { shell: true } });
    const client = await serve();
    const read = await client.callTool({ name: 'workspace__read', arguments: { path: 'a.txt' } });
    const write = await client.callTool({
      name: 'workspace__write',
      arguments: { path: 'b.txt', content: 'b' },
    });
    const shell = await client.callTool({
      name: 'workspace__shell',
      arguments: { command: 'touch ran' },
    });
    await client.close();
    expect([read.content, write.isError ?? false, tree.read('b.txt'), shell.isError]).toEqual([
      [{ type: 'text', text: 'a\n' }],
      false,
      'b',
      true,
    ]);
  });

  // In a process of its own, which reads the configuration as this test wrote it.
  it.each([
    ['no flag and no setting', [], {}, false],
    ['no flag and "workspace": true', [], { workspace: true }, true],
    ['no flag and a shell', [], { workspace: { shell: true } }, true],
    ['no flag and "workspace": false', [], { workspace: false }, false],
    ['--workspace', ['--workspace'], {}, true],
    ['--workspace and "workspace": false', ['--workspace'], { workspace: false }, false],
    ['--no-workspace and "workspace": true', ['--no-workspace'], { workspace: true }, false],
  ])('offers it as asked: %s', async (_, flags, config, isThere) => {
    configure(config);
    const client = await serve('--no-daemon', ...flags);
    const { tools } = await client.listTools();
    await client.close();
    expect(tools.some(({ name }) => name === 'workspace__read')).toBe(isThere);
  });
});

it('SRV-3: over HTTP it is absent, and with --workspace it works in the folder of --cwd', async () => {
  const readIn = async (...flags: string[]): Promise<unknown> => {
    const words = [COMMAND, 'serve', '--http', '0', '--no-auth', '--cwd', tree.root, '--json', ...flags];
    const gateway = spawn(process.execPath, words, {
      cwd: home,
      env: { PATH: process.env['PATH'] ?? '', PLUGBOARD_HOME: home, PLUGBOARD_CREDENTIALS: 'file' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [printed] = await once(gateway.stdout, 'data');
    const client = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new StreamableHTTPClientTransport(new URL(JSON.parse(printed).url)));
    const { tools } = await client.listTools();
    const call = { name: 'workspace__read', arguments: { path: 'a.txt' } };
    const read = tools.length === 0 ? [] : (await client.callTool(call)).content;
    await client.close();
    gateway.kill();
    await once(gateway, 'exit');
    return read;
  };
  expect([await readIn(), await readIn('--workspace')]).toEqual([[], [{ type: 'text', text: 'a\n' }]]);
});

it('A16: its annotations count: looking is let through, writing is asked about', async () => {
  const asked: string[] = [];
  const host: Host = await createHost({
    cwd: tree.root,
    home,
    builtIn: (settings) => {
      const { workspace, ...others } = workspaceEntries(settings);
      // Sources have no bundle next to them.
      return workspace === undefined || !('args' in workspace)
        ? others
        : { workspace: { ...workspace, args: [COMMAND, ...(workspace.args ?? []).slice(1)] } };
    },
    watch: false,
    approve: ({ tool }) => {
      asked.push(tool);
      return 'deny';
    },
  });
  await host.ready();
  const { content } = await host.call('mcp__workspace__read', { path: 'a.txt' });
  await expect(host.call('mcp__workspace__write', { path: 'a.txt', content: '' })).rejects.toThrow(
    /denied|refused/i,
  );
  await host.close();
  expect([content, asked]).toEqual([[{ type: 'text', text: 'a\n' }], ['write']]);
});
