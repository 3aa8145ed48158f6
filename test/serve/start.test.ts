import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { DEFAULT_PORT } from '../../src/serve/gateway-http.ts';
import { refereeOnHttp } from '../testing/referee.ts';
import { startDemonstration } from './demonstration.ts';

const COMMAND = fileURLToPath(new URL('../../dist/bin/plugboard.cjs', import.meta.url));

const home = mkdtempSync(join(tmpdir(), 'plugboard-start-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Process ids of workspace servers that run under this parent. */
function workspacesOf(parent: number | undefined): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
      return (
        command.includes(COMMAND) &&
        command.includes('workspace') &&
        status.slice(status.lastIndexOf(')')).split(' ')[2] === String(parent)
      );
    } catch {
      return false; // ended while we looked
    }
  });
}

it.each(['SIGINT', 'SIGTERM'] as const)(
  'SRV-3: npm start serves a copy of the sample project, prints the next commands, and leaves nothing after %s',
  async (signal) => {
    const demo = await startDemonstration(home);
    const servers = workspacesOf(demo.child.pid);
    const client = await refereeOnHttp(demo.url, 'auto', demo.headers);
    const { tools } = await client.listTools();
    const call = (name: string, args: object): ReturnType<typeof client.callTool> =>
      client.callTool({ name: `workspace__${name}`, arguments: { ...args } });
    const glob = await call('glob', { pattern: '**' });
    const status = await call('git_status', {});
    await client.close();
    const output = demo.output();
    const sample = /^A sample project, in (\S+)/m.exec(output)?.[1] ?? '';
    expect({
      servers: servers.length,
      tools: tools.map((tool) => tool.name),
      glob: glob.structuredContent,
      status: status.structuredContent,
      page: output.includes(`  ${new URL(demo.url).origin}/#token=`),
      next: ['npm install -g', 'plugboard up', 'plugboard dashboard'].filter((command) =>
        output.includes(`\n  ${command} `),
      ),
      said: ['Claude Code', 'Codex', 'OpenCode', 'Cursor', 'VS Code'].filter((agent) =>
        output.includes(`  ${agent}`),
      ),
      claude: output.includes(
        `claude mcp add --transport http plugboard ${demo.url} --header "Authorization: ${demo.headers.authorization}"`,
      ),
      tokenMode: statSync(join(home, 'manage-token')).mode & 0o777,
      isSeparate: !output.includes(`#token=${demo.headers.authorization.slice('Bearer '.length)}`),
    }).toEqual({
      servers: 1,
      tools: [
        'edit',
        'git_commit',
        'git_diff',
        'git_log',
        'git_status',
        'glob',
        'grep',
        'list',
        'read',
        'write',
      ].map((name) => `workspace__${name}`),
      glob: {
        files: ['README.md', 'package.json', 'src/cart.js', 'test/cart.js'],
        truncated: false,
      },
      status: expect.objectContaining({ staged: [], unstaged: [], untracked: [] }),
      page: true,
      next: ['npm install -g', 'plugboard up', 'plugboard dashboard'],
      said: ['Claude Code', 'Codex', 'OpenCode', 'Cursor', 'VS Code'],
      claude: true,
      tokenMode: 0o600,
      isSeparate: true,
    });
    expect(await demo.end(signal)).toEqual([0, null]);
    expect({
      servers: servers.filter((pid) => readdirSync('/proc').includes(pid)),
      sample: existsSync(sample),
    }).toEqual({ servers: [], sample: false });
  },
);

it('SRV-3: npm start -- <folder> serves that folder', async () => {
  const project = mkdtempSync(join(tmpdir(), 'plugboard-project-'));
  writeFileSync(join(project, 'hello.txt'), 'hello\n');
  const demo = await startDemonstration(home, project);
  const client = await refereeOnHttp(demo.url, 'auto', demo.headers);
  const read = await client.callTool({ name: 'workspace__read', arguments: { path: 'hello.txt' } });
  await client.close();
  await demo.end('SIGTERM');
  expect([read.content, demo.output().includes(project), readdirSync(project)]).toEqual([
    [{ type: 'text', text: 'hello\n' }],
    true,
    ['hello.txt'],
  ]);
  rmSync(project, { recursive: true });
});

it('SRV-3: npm start refuses a folder that does not exist', async () => {
  await expect(startDemonstration(home, join(home, 'nowhere'))).rejects.toThrow('ended early');
});

it('npm start takes the next free port when others are in use, and reports each', async () => {
  const holder = await holdLowestPort();
  const demo = await startDemonstration(home);
  const port = Number(new URL(demo.url).port);
  // Other programs of this machine may use some of these ports, and release them at any time.
  const tried = Array.from({ length: port - DEFAULT_PORT }, (_, index) => DEFAULT_PORT + index);
  expect(port).not.toBe((holder.address() as AddressInfo).port);
  expect(demo.output().match(/^Port \d+ is taken, trying the next one\.$/gm) ?? []).toEqual(
    tried.map((each) => `Port ${each} is taken, trying the next one.`),
  );
  expect(await demo.end('SIGTERM')).toEqual([0, null]);
  holder.close();
});

async function holdLowestPort(): Promise<Server> {
  for (let port = DEFAULT_PORT; ; port += 1) {
    const server = createServer().listen(port, '127.0.0.1');
    const isHeld = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (isHeld) return server;
  }
}
