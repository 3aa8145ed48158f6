import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
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
  'SRV-3: npm start serves the workspace it is started in, says what to type, and ends on %s',
  async (signal) => {
    const demo = await startDemonstration(home);
    const servers = workspacesOf(demo.child.pid);
    const client = await refereeOnHttp(demo.url, 'auto', demo.headers);
    const { tools } = await client.listTools();
    writeFileSync(join(home, 'hello.txt'), 'hello\n');
    const read = await client.callTool({ name: 'mcp__workspace__read', arguments: { path: 'hello.txt' } });
    const glob = await client.callTool({ name: 'mcp__workspace__glob', arguments: { pattern: 'hello*' } });
    await client.close();
    expect({
      servers: servers.length,
      tools: tools.map((tool) => tool.name),
      read: read.content,
      glob: glob.structuredContent,
      said: ['Claude Code', 'Codex', 'OpenCode', 'Cursor', 'VS Code'].filter((agent) =>
        demo.output().includes(`  ${agent}`),
      ),
      claude: demo
        .output()
        .includes(
          `claude mcp add --transport http plugboard ${demo.url} --header "Authorization: ${demo.headers.authorization}"`,
        ),
      tokenMode: statSync(join(home, 'gateway-token')).mode & 0o777,
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
      ].map((name) => `mcp__workspace__${name}`),
      read: [{ type: 'text', text: 'hello\n' }],
      glob: { files: ['hello.txt'], truncated: false },
      said: ['Claude Code', 'Codex', 'OpenCode', 'Cursor', 'VS Code'],
      claude: true,
      tokenMode: 0o600,
    });
    expect(await demo.end(signal)).toEqual([0, null]);
    expect(servers.filter((pid) => readdirSync('/proc').includes(pid))).toEqual([]);
  },
);

it('npm start takes the next free port when its own is taken, and says so', async () => {
  const first = await startDemonstration(home);
  const second = await startDemonstration(home);
  const taken = new URL(first.url).port;
  expect(second.url).not.toBe(first.url);
  expect(second.output()).toContain(`Port ${taken} is taken, trying the next one.\n`);
  expect(await Promise.all([first.end('SIGTERM'), second.end('SIGTERM')])).toEqual([
    [0, null],
    [0, null],
  ]);
});
