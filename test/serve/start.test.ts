import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { refereeOnHttp } from '../testing/referee.ts';
import { startDemonstration } from './demonstration.ts';

const DEMO_SERVER = fileURLToPath(new URL('../../dist/serve/demo-server.js', import.meta.url));

const home = mkdtempSync(join(tmpdir(), 'plugboard-start-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Process ids of demonstration servers that run under this parent. */
function demoServersOf(parent: number | undefined): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
      return (
        command.includes(DEMO_SERVER) &&
        status.slice(status.lastIndexOf(')')).split(' ')[2] === String(parent)
      );
    } catch {
      return false; // ended while we looked
    }
  });
}

it.each(['SIGINT', 'SIGTERM'] as const)(
  'npm start connects, serves, says what to type, and ends on %s',
  async (signal) => {
    const demo = await startDemonstration(home);
    const servers = demoServersOf(demo.child.pid);
    const client = await refereeOnHttp(demo.url, 'auto', demo.headers);
    const { tools } = await client.listTools();
    const progress: unknown[] = [];
    const slow = await client.callTool(
      { name: 'mcp__demo__slow', arguments: { steps: 2 } },
      { onprogress: (step) => progress.push(step) },
    );
    const add = await client.callTool({ name: 'mcp__demo__add', arguments: { a: 2, b: 3 } });
    await client.close();
    expect({
      servers: servers.length,
      tools: tools.map((tool) => tool.name),
      slow: slow.content,
      progress,
      add: add.structuredContent,
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
      tools: ['mcp__demo__add', 'mcp__demo__echo', 'mcp__demo__now', 'mcp__demo__slow'],
      slow: [{ type: 'text', text: 'Done in 2 steps.' }],
      progress: [
        { progress: 1, total: 2, message: 'step 1 of 2' },
        { progress: 2, total: 2, message: 'step 2 of 2' },
      ],
      add: { sum: 5 },
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
