/** Clients that others have written use a server of the kit: whether it speaks MCP is for them to say. */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { inspector, node as newNode } from '../../scripts/install-real-clients.mjs';
import { codexServers, isolated, sdkClients } from '../serve/agents.ts';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const TOUR = at('../fixtures/client-tour.mjs');
const SERVER = at('../fixtures/kit-conformance.mjs');
const ECHO = at('../fixtures/kit-echo.mjs');
/** Agents take a while to start, on a machine that does other things too. */
const AGENT_MS = 120_000;

const run = promisify(execFile);
const home = mkdtempSync(join(tmpdir(), 'plugboard-kit-clients-'));
let server: ChildProcess;
let url = '';

beforeAll(async () => {
  server = spawn(process.execPath, [SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [printed] = await once(server.stdout ?? server, 'data');
  url = String(printed).trim();
});
afterAll(async () => {
  server.kill('SIGTERM');
  await once(server, 'exit');
  rmSync(home, { recursive: true, force: true });
});

const stdio = { command: process.execPath, args: [SERVER, 'stdio'], env: { PATH: process.env['PATH'] } };

it.each([
  ['v1', 'http', sdkClients.v1],
  ['v1', 'stdio', sdkClients.v1],
  ['v2 in the legacy era', 'http', sdkClients.legacy],
  ['v2 in the modern era', 'http', sdkClients.modern],
  ['v2 in the modern era', 'stdio', sdkClients.modern],
] as const)(
  'KIT-1: the SDK’s client %s over %s uses all that a server of the kit has',
  async (_, over, client) => {
    const wanted = { ...client, ...(over === 'http' ? { url } : stdio), prefix: '' };
    const { stdout } = await run(process.execPath, [TOUR, JSON.stringify(wanted)], { cwd: home });
    expect(JSON.parse(stdout)).toEqual({
      server: 'conformance',
      tools: expect.any(Number),
      echo: 'This is a simple text response for testing.',
      slow: 'Tool with progress executed successfully',
      progress: [0, 50, 100],
      elicited: 'User response: action: accept, content: {"username":"ann","email":"a@b.example"}',
      sampled: 'LLM response: Four.',
      asked: ['Really?', 'Two and two?'],
      resources: ['test://static-text', 'test://static-binary', 'test://watched-resource'],
      read: 'This is the content of the static text resource.',
      prompts: 5,
      prompt: 'This is a simple prompt for testing.',
    });
  },
);

it('KIT-1: the Inspector lists and calls over stdio', async () => {
  const inspect = async (...more: string[]): Promise<Record<string, unknown>> => {
    const given = [inspector, '--cli', process.execPath, ECHO, ...more];
    const { stdout } = await run(newNode, given, isolated(home, 'inspector'));
    return JSON.parse(stdout);
  };
  expect(await inspect('--method', 'tools/list')).toMatchObject({ tools: [{ name: 'echo' }] });
  const call = ['--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', 'message=hi'];
  expect(await inspect(...call)).toMatchObject({ content: [{ type: 'text', text: 'hi' }] });
});

it(
  'KIT-1: claude mcp list finds it connected',
  async () => {
    const where = isolated(home, 'claude');
    await run('claude', ['mcp', 'add', 'echo', '--', process.execPath, ECHO], where);
    const { stdout } = await run('claude', ['mcp', 'list'], where);
    expect(stdout).toMatch(/^echo: .*Connected$/m);
  },
  AGENT_MS,
);

it(
  'KIT-1: codex mcp list shows it, and its app server sees the tool',
  async () => {
    const where = isolated(home, 'codex');
    await run('codex', ['mcp', 'add', 'echo', '--', process.execPath, ECHO], where);
    expect((await run('codex', ['mcp', 'list'], where)).stdout).toMatch(/^echo .* enabled /m);
    expect(await codexServers(where, [])).toMatchObject([
      { name: 'echo', serverInfo: { name: 'echo' }, tools: { echo: {} } },
    ]);
  },
  AGENT_MS,
);
