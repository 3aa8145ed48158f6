/** SRV-11: `serve --http` and `dashboard` are served by the daemon, which every other session is in too. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DaemonWorld } from '../world/daemon-world.ts';
import { isRunning } from '../world/processes.ts';
import { until } from '../world/until.ts';

const COMMAND = fileURLToPath(new URL('../../dist/bin/plugboard.cjs', import.meta.url));

interface Serving {
  readonly child: ChildProcess;
  readonly url: string;
  readonly page: string;
  /** Of MCP clients. */
  readonly token: string;
  /** Of the page. */
  readonly manageToken: string;
}

let world: DaemonWorld;
const children: ChildProcess[] = [];
beforeEach(() => {
  world = new DaemonWorld();
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await world.close();
});

/** A port that was free a moment ago, far from those that other tests try in order. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A command that serves, once it has printed its addresses. */
async function serving(...words: string[]): Promise<Serving> {
  const child = spawn(process.execPath, [COMMAND, '--json', ...words], {
    cwd: world.project,
    env: world.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let text = '';
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk);
    if (/\n}\s*$/.test(text)) break;
  }
  const { url, page, token = '' } = JSON.parse(text) as { url: string; page: string; token?: string };
  const manageToken = readFileSync(join(world.home, 'manage-token'), 'utf8').trim();
  return { child, url, page, token, manageToken };
}

async function api<T>({ page, manageToken }: Serving, path: string, body?: object): Promise<T> {
  const response = await fetch(new URL(path, page), {
    headers: { authorization: `Bearer ${manageToken}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  return (await response.json()) as T;
}

async function callOverHttp({ url, token }: Serving, name: string): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name,
        arguments: {},
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  });
  const text = await response.text();
  return /"text":"([^"]*)"/.exec(text)?.[1] ?? text;
}

it('SRV-11: the page shows the calls of every agent, and HTTP clients share their processes', async () => {
  world.configure({ s: world.server() });
  const page = await serving('dashboard', '--port', '0', '--no-open');
  const http = await serving('serve', '--http', '0', '--no-workspace');
  const agent = await world.agent({ words: ['--stdio', '--no-workspace'] }).open();
  const pids = [await agent.call('pid'), await callOverHttp(http, 's__pid')];
  const { calls } = await api<{ calls: { tool: string; session: string; outcome: string }[] }>(
    page,
    '/api/calls',
  );
  expect({
    shared: new Set(pids).size,
    processes: world.servers().length,
    daemons: world.daemonProcesses().length,
    calls: calls.map(({ tool, outcome }) => [tool, outcome]),
    sessions: new Set(calls.map(({ session }) => session)).size,
  }).toEqual({
    shared: 1,
    processes: 1,
    daemons: 1,
    calls: [
      ['pid', 'ok'],
      ['pid', 'ok'],
    ],
    sessions: 2,
  });
});

interface Waiting {
  readonly approvals: readonly {
    readonly id: string;
    readonly kind: string;
    readonly server: string;
    readonly message?: string;
  }[];
}

/** The questions on the page, as soon as there are any. */
async function waiting(page: Serving): Promise<Waiting['approvals']> {
  let found: Waiting = { approvals: [] };
  await until('a question is on the page', async () => {
    found = await api<Waiting>(page, '/api/approvals');
    return found.approvals.length > 0;
  });
  return found.approvals;
}

it('SRV-11: a question of a stdio agent that cannot ask is answered on the page and reaches that agent', async () => {
  world.configure({ s: world.server() }, { permissions: { ask: ['s__pid'] } });
  const page = await serving('dashboard', '--port', '0', '--no-open');
  const agent = await world.agent().open();
  await api(page, '/api/approvals');
  const call = agent.call('pid');
  const [question] = await waiting(page);
  await api(page, `/api/approvals/${question?.id}`, { answer: 'allow' });
  expect([question?.kind, question?.server, [Number(await call)]]).toEqual([
    'approval',
    's',
    world.servers(),
  ]);
});

it('SRV-11: a headless agent that refuses every question at once is asked on the page instead', async () => {
  world.configure({ s: world.server() }, { permissions: { ask: ['s__pid'] } });
  const page = await serving('dashboard', '--port', '0', '--no-open');
  const agent = await world.agent().open({ elicitation: {} });
  await api(page, '/api/approvals');
  const approved = agent.call('pid');
  (await agent.question()).answer({ action: 'cancel' });
  const [approval] = await waiting(page);
  await api(page, `/api/approvals/${approval?.id}`, { answer: 'allow' });
  const pid = await approved;
  const asked = agent.call('ask', { text: 'Who are you?' });
  (await agent.question()).answer({ action: 'decline' });
  const [form] = await waiting(page);
  await api(page, `/api/approvals/${form?.id}`, { answer: 'accept', content: { name: 'Ada' } });
  expect({ pids: [Number(pid)], message: form?.message, answer: JSON.parse(await asked) }).toEqual({
    pids: world.servers(),
    message: 'Who are you?',
    answer: { action: 'accept', content: { name: 'Ada' } },
  });
});

it("SRV-11: an answer of the agent's own user takes the question from the page", async () => {
  world.configure({ s: world.server() });
  const page = await serving('dashboard', '--port', '0', '--no-open');
  const agent = await world.agent().open({ elicitation: {} });
  await api(page, '/api/approvals');
  const asked = agent.call('ask', { text: 'Who are you?' });
  const question = await agent.question();
  await waiting(page);
  question.answer({ action: 'accept', content: { name: 'Ada' } });
  const answer = JSON.parse(await asked);
  const left = await api<Waiting>(page, '/api/approvals');
  expect({ answer, left }).toEqual({
    answer: { action: 'accept', content: { name: 'Ada' } },
    left: { approvals: [] },
  });
});

it('SRV-11: serve --http keeps its address when the daemon is killed or stopped for a new one', async () => {
  world.configure({ s: world.server() });
  const http = await serving('serve', '--http', '0', '--token', 'a-token-of-twenty-characters');
  const held = { ...http, token: 'a-token-of-twenty-characters' };
  const before = await callOverHttp(held, 's__pid');
  const killed = await world.daemon();
  process.kill(killed, 'SIGKILL');
  await until('the daemon has ended', () => !isRunning(killed));
  let after = '';
  await until('it is served again', async () => {
    after = await callOverHttp(held, 's__pid').catch(() => '');
    return /^\d+$/.test(after);
  });
  expect({ isNew: after !== before, running: http.child.exitCode }).toEqual({ isNew: true, running: null });
});

it('SRV-11: daemon restart moves agents and addresses to the new daemon', async () => {
  world.configure({ s: world.server() });
  const http = await serving('serve', '--http', '0', '--token', 'a-token-of-twenty-characters');
  const held = { ...http, token: 'a-token-of-twenty-characters' };
  const agent = await world.agent().open();
  await Promise.all([agent.call('pid'), callOverHttp(held, 'mcp__s__pid')]);
  const old = await world.daemon();
  await world.run(['daemon', 'restart']);
  await until('the old daemon has ended', () => !isRunning(old));
  let pid = '';
  await until('it is served again', async () => {
    pid = await callOverHttp(held, 'mcp__s__pid').catch(() => '');
    return /^\d+$/.test(pid);
  });
  expect({ shared: (await agent.call('pid')) === pid, daemons: world.daemonProcesses().length }).toEqual({
    shared: true,
    daemons: 1,
  });
});

it('UI-6: a call of a stdio agent is on the page with its values, also after a restart of the daemon', async () => {
  world.configure({ s: world.server() });
  const page = await serving('dashboard', '--port', '0', '--no-open');
  const agent = await world.agent({ words: ['--stdio', '--no-workspace'] }).open();
  await agent.call('pid');
  interface Listed {
    readonly calls: readonly { readonly key: string; readonly folder: string; readonly agent: object }[];
  }
  const before = await api<Listed>(page, '/api/calls?tool=pid');
  expect(before.calls).toMatchObject([
    { agent: { name: expect.any(String), version: expect.any(String) }, folder: expect.any(String) },
  ]);
  await world.run(['daemon', 'restart']);
  const again = await serving('dashboard', '--port', '0', '--no-open');
  const after = await api<Listed>(again, '/api/calls?tool=pid');
  expect(after).toEqual(before);
  const details = await api<object>(again, `/api/calls/${after.calls[0]?.key}`);
  expect(details).toMatchObject({ arguments: {}, result: { isError: false } });
});

it('SRV-11: a question of a server leaves the page with the call that it belongs to', async () => {
  world.configure({ s: world.server() });
  const page = await serving('dashboard', '--port', '0', '--no-open');
  const agent = await world.agent().open();
  await api(page, '/api/approvals');
  void agent.call('ask', { text: 'Who are you?' }).catch(() => {});
  const [question] = await waiting(page);
  await agent.leave();
  await until('the question has left the page', async () => {
    const { approvals } = await api<Waiting>(page, '/api/approvals');
    return approvals.length === 0;
  });
  expect(question?.kind).toBe('elicitation');
});

it('SRV-11: the address of the page is the same after a restart, and ends with its command', async () => {
  world.configure({ s: world.server() });
  mkdirSync(join(world.home, 'run'), { mode: 0o700 });
  writeFileSync(join(world.home, 'run', 'http-port'), String(await freePort()));
  const first = await serving('dashboard', '--no-open');
  first.child.kill('SIGTERM');
  await once(first.child, 'exit');
  await world.command('daemon', 'stop');
  const second = await serving('dashboard', '--no-open');
  expect(second.page).toBe(first.page);
  second.child.kill('SIGTERM');
  const [status] = await once(second.child, 'exit');
  await until('nothing listens any more', () =>
    fetch(second.page).then(
      () => false,
      () => true,
    ),
  );
  expect(status).toBe(0);
});

it('SRV-11: a port in use is reported with its hint, and --own lists what it does not share', async () => {
  world.configure({ s: world.server() });
  const http = await serving('serve', '--http', '0');
  const { port } = new URL(http.url);
  const failed = await world.run(['serve', '--http', port]).catch((error) => error);
  expect([failed.code, failed.stderr]).toEqual([
    expect.any(Number),
    `error: Port ${port} is taken.\nhint:  Choose another port.\n`,
  ]);
  const own = spawn(process.execPath, [COMMAND, 'serve', '--http', '0', '--own'], {
    cwd: world.project,
    env: world.env,
  });
  children.push(own);
  let note = '';
  for await (const chunk of own.stderr) {
    note += String(chunk);
    if (note.includes('\n')) break;
  }
  expect(note).toBe(
    'note: this process has its own servers. Its calls and questions are not on the page of other agents.\n',
  );
});
