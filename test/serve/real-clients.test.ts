import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  inspector,
  mcporter,
  mcpRemote,
  node as newNode,
  opencode,
} from '../../scripts/install-real-clients.mjs';
import { connectLines } from '../../src/serve/connect-lines.ts';
import { removeHome } from '../remove-home.ts';
import { codexServers, isolated, sdkClients } from './agents.ts';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const COMMAND = at('../../dist/cli/main.js');
const TOUR = at('../fixtures/client-tour.mjs');
const SEARCH = at('../fixtures/client-search.mjs');
const FIXTURE = `fixture=${process.execPath} ${at('../fixtures/gateway-conformance.mjs')}`;
const TOKEN = 'a-token-for-real-clients';
/** Agents take a while to start, on a machine that does other things too. */
const AGENT_MS = 120_000;
const SIMPLE = 'This is a simple text response for testing.';

const run = promisify(execFile);
const home = mkdtempSync(join(tmpdir(), 'plugboard-clients-'));
let gateway: ChildProcess;
let url = '';

/** The lines that `serve` prints for an agent. */
function linesFor(agent: string): string {
  const found = connectLines({ url, token: TOKEN }).find((lines) => lines.agent === agent);
  return found?.lines.join('\n') ?? '';
}

beforeAll(async () => {
  const args = [COMMAND, 'serve', '--http', '0', '--token', TOKEN, '--server', FIXTURE];
  gateway = spawn(process.execPath, args, {
    cwd: home,
    env: { ...process.env, PLUGBOARD_HOME: join(home, 'plugboard'), PLUGBOARD_CREDENTIALS: 'file' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  gateway.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  while (!printed.endsWith('Ctrl-C to stop.\n')) await once(gateway.stdout ?? gateway, 'data');
  url = /at (http:\S+)/.exec(printed)?.[1] ?? '';
  for (const { lines } of connectLines({ url, token: TOKEN }))
    for (const line of lines) expect(printed).toContain(`    ${line}\n`);
});
afterAll(async () => {
  gateway.kill('SIGTERM');
  await once(gateway, 'exit');
  removeHome(home);
});

const clients: readonly [string, object][] = [
  ['v1', sdkClients.v1],
  ['v2 in the legacy era', sdkClients.legacy],
  ['v2 in the modern era', sdkClients.modern],
];

const tours = clients.flatMap(([name, client]) => [
  [name, 'http', client] as const,
  [name, 'stdio', client] as const,
]);

// Protocol: 25-base-1, 26-base-1
it.each(tours)(
  'SRV-1: the SDK’s client %s over %s uses all that a server behind the gateway has',
  async (name, over, client) => {
    const stdio = { command: process.execPath, args: [COMMAND, 'serve', '--server', FIXTURE] };
    const wanted =
      over === 'http'
        ? { ...client, url, headers: { authorization: `Bearer ${TOKEN}` } }
        : {
            ...client,
            ...stdio,
            env: {
              PATH: process.env['PATH'],
              PLUGBOARD_HOME: join(home, `stdio-${name}`),
              PLUGBOARD_CREDENTIALS: 'file',
            },
          };
    const { stdout } = await run(process.execPath, [TOUR, JSON.stringify(wanted)], { cwd: home });
    expect(JSON.parse(stdout)).toEqual({
      server: 'plugboard',
      tools: expect.any(Number),
      echo: SIMPLE,
      slow: 'Tool with progress executed successfully',
      progress: [0, 50, 100],
      elicited: 'User response: action: accept, content: {"username":"ann","email":"a@b.example"}',
      sampled: 'LLM response: Four.',
      asked: ['fixture asks: Really?\nYour answer is read by fixture, not by Plugboard.', 'Two and two?'],
      resources: ['test://static-text', 'test://static-binary', 'test://watched-resource'],
      read: 'This is the content of the static text resource.',
      prompts: 5,
      prompt: 'This is a simple prompt for testing.',
    });
  },
);

it.each(clients)(
  'CAT-7: the SDK’s client %s lists once, and finds and calls one of 525 tools',
  async (name, client) => {
    const many = `many=${process.execPath} ${at('../fixtures/many-tools.mjs')}`;
    const wanted = {
      ...client,
      command: process.execPath,
      args: [COMMAND, 'serve', '--server', many],
      env: { PATH: process.env['PATH'], PLUGBOARD_HOME: join(home, `many-${name}`) },
      query: 'delete a calendar event',
    };
    const { stdout } = await run(process.execPath, [SEARCH, JSON.stringify(wanted)], { cwd: home });
    expect(JSON.parse(stdout)).toEqual({
      listed: ['tool_search', 'call_tool', 'call_tool_read'],
      found: 'many__delete_calendar_event',
      called: 'delete_calendar_event e7',
    });
  },
);

it('SRV-1: the Inspector lists and calls', async () => {
  const inspect = async (...more: string[]): Promise<Record<string, unknown>> => {
    const given = ['--cli', url, '--transport', 'http', '--header', `Authorization: Bearer ${TOKEN}`];
    const { stdout } = await run(newNode, [inspector, ...given, ...more], isolated(home, 'inspector'));
    return JSON.parse(stdout);
  };
  const { tools } = await inspect('--method', 'tools/list');
  expect(tools).toContainEqual(expect.objectContaining({ name: 'fixture__test_simple_text' }));
  const called = ['--method', 'tools/call', '--tool-name', 'fixture__test_simple_text'];
  expect(await inspect(...called)).toMatchObject({ content: [{ type: 'text', text: SIMPLE }] });
});

it('SRV-1: mcporter lists and calls', async () => {
  const where = isolated(home, 'mcporter');
  mkdirSync(join(where.cwd, 'config'));
  const entry = { url, headers: { Authorization: `Bearer ${TOKEN}` } };
  const config = JSON.stringify({ mcpServers: { plugboard: entry } });
  writeFileSync(join(where.cwd, 'config', 'mcporter.json'), config);
  const port = async (...args: string[]): Promise<string> =>
    (await run(newNode, [mcporter, ...args], where)).stdout;
  expect(JSON.parse(await port('list', '--json'))).toMatchObject({
    counts: { ok: 1 },
    servers: [{ name: 'plugboard', status: 'ok' }],
  });
  expect(await port('call', 'plugboard.fixture__test_simple_text')).toContain(SIMPLE);
});

it('SRV-1: mcp-remote carries a stdio client to the gateway', async () => {
  const flags = ['--allow-http', '--transport', 'http-only', '--header', `Authorization:Bearer ${TOKEN}`];
  const remote = spawn(process.execPath, [mcpRemote, url, ...flags], {
    ...isolated(home, 'mcp-remote'),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  try {
    const lines = createInterface({ input: remote.stdout })[Symbol.asyncIterator]();
    const ask = async (id: number, method: string, params: object): Promise<Record<string, unknown>> => {
      remote.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      for (;;) {
        const message = JSON.parse((await lines.next()).value ?? '{"id":"ended"}');
        if (message.id === 'ended') throw new Error('mcp-remote ended early');
        if (message.id === id) return message.result;
      }
    };
    const clientInfo = { name: 'behind', version: '1' };
    const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    expect(await ask(0, 'initialize', hello)).toMatchObject({ serverInfo: { name: 'plugboard' } });
    remote.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    expect(await ask(1, 'tools/call', { name: 'fixture__test_simple_text' })).toMatchObject({
      content: [{ type: 'text', text: SIMPLE }],
    });
  } finally {
    remote.kill();
  }
});

it(
  'SRV-1: Claude Code connects with the line that serve prints for it',
  async () => {
    const where = isolated(home, 'claude');
    await run('sh', ['-c', linesFor('Claude Code')], where);
    const { stdout } = await run('claude', ['mcp', 'list'], where);
    expect(stdout).toMatch(/^plugboard: .*Connected$/m);
  },
  AGENT_MS,
);

it(
  'SRV-1: OpenCode connects with the file that serve prints for it',
  async () => {
    const where = isolated(home, 'opencode');
    writeFileSync(join(where.cwd, 'opencode.json'), linesFor('OpenCode'));
    const { stdout } = await run(opencode, ['mcp', 'list'], where);
    expect(stripVTControlCharacters(stdout)).toMatch(/plugboard connected/);
  },
  AGENT_MS,
);

it(
  'SRV-1: Codex connects with the lines that serve prints for it, and sees the tools',
  async () => {
    const servers = await codexServers(isolated(home, 'codex'), [linesFor('Codex')]);
    expect(servers).toMatchObject([
      {
        name: 'plugboard',
        serverInfo: { name: 'plugboard' },
        tools: { fixture__test_simple_text: {} },
        authStatus: 'bearerToken',
      },
    ]);
  },
  AGENT_MS,
);
