/** SRV-1: real clients go on calling after the gateway's process was ended, killed and started again. */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { mcpRemote } from '../../scripts/install-real-clients.mjs';
import { removeHome } from '../remove-home.ts';
import { isolated, sdkClients } from './agents.ts';
import { legacySession, post, send } from './bare-client.ts';
import { openStream } from './stream-client.ts';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const COMMAND = at('../../dist/cli/main.js');
const FIXTURE = `fixture=${process.execPath} ${at('../fixtures/gateway-conformance.mjs')}`;
const STAYS = at('../fixtures/client-stays.mjs');
const TOKEN = 'a-token-for-clients-that-stay';
const HEADERS = { authorization: `Bearer ${TOKEN}` };
const SIMPLE = 'This is a simple text response for testing.';
const LOST = /The connection of this request ended before its answer/;

const run = promisify(execFile);
let home = '';
let url = '';
let gateway: ChildProcess;
const children: ChildProcess[] = [];

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'plugboard-restart-'));
  await startGateway('0', '--own');
});
afterEach(async () => {
  for (const child of [...children.splice(0), gateway]) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  removeHome(home);
});

const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  PLUGBOARD_HOME: join(home, 'plugboard'),
  PLUGBOARD_CREDENTIALS: 'file',
});

async function startGateway(port: string, ...flags: string[]): Promise<void> {
  const args = [COMMAND, 'serve', '--http', port, '--token', TOKEN, '--server', FIXTURE, ...flags];
  gateway = spawn(process.execPath, args, {
    cwd: home,
    env: environment(),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let printed = '';
  gateway.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  while (!printed.endsWith('Ctrl-C to stop.\n')) await once(gateway.stdout ?? gateway, 'data');
  url = /at (http:\S+)/.exec(printed)?.[1] ?? '';
}

/** The same command at the same address, after the process before it has gone. */
async function restart(signal: NodeJS.Signals): Promise<void> {
  gateway.kill(signal);
  await once(gateway, 'exit');
  await startGateway(new URL(url).port, '--own');
}

interface Talk {
  say(line: string): void;
  next(): Promise<unknown>;
}

function talkTo(child: ChildProcess): Talk {
  children.push(child);
  if (child.stdin === null || child.stdout === null) throw new Error('the client has no pipes');
  const { stdin } = child;
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    say: (line) => void stdin.write(`${line}\n`),
    next: async () => {
      const { value, done } = await lines.next();
      if (done === true) throw new Error('the client ended');
      return JSON.parse(value);
    },
  };
}

const clients = [
  ['v1', sdkClients.v1],
  ['v2 in the legacy era', sdkClients.legacy],
] as const;

it.each(clients)(
  'SRV-1: the SDK’s client %s goes on after a restart and after kill -9, and a call that waited for an answer fails',
  async (_, parts) => {
    const wanted = JSON.stringify({ ...parts, url, headers: HEADERS });
    const client = talkTo(spawn(process.execPath, [STAYS, wanted], { stdio: ['pipe', 'pipe', 'inherit'] }));
    const echo = (): Promise<unknown> => {
      client.say('echo');
      return client.next();
    };
    const heard = [await client.next(), await echo()];
    await restart('SIGTERM');
    heard.push(await echo());
    client.say('elicit');
    heard.push(await client.next());
    await restart('SIGKILL');
    heard.push(await client.next(), await echo());
    expect(heard).toEqual([
      'connected',
      SIMPLE,
      SIMPLE,
      'asked',
      { error: expect.stringMatching(LOST) },
      SIMPLE,
    ]);
  },
);

it('SRV-1: mcp-remote and the client behind it go on after kill -9', async () => {
  const flags = ['--allow-http', '--transport', 'http-only', '--header', `Authorization:Bearer ${TOKEN}`];
  const remote = talkTo(
    spawn(process.execPath, [mcpRemote, url, ...flags], {
      ...isolated(home, 'mcp-remote'),
      stdio: ['pipe', 'pipe', 'ignore'],
    }),
  );
  const ask = async (id: number, method: string, params: object): Promise<unknown> => {
    remote.say(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    for (;;) {
      const message = (await remote.next()) as { id?: number; result?: unknown; error?: unknown };
      if (message.id === id) return message.result ?? message.error;
    }
  };
  const clientInfo = { name: 'behind', version: '1' };
  await ask(0, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  remote.say('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  const call = { name: 'fixture__test_simple_text' };
  const before = await ask(1, 'tools/call', call);
  await restart('SIGKILL');
  expect([before, await ask(2, 'tools/call', call)]).toMatchObject([
    { content: [{ text: SIMPLE }] },
    { content: [{ text: SIMPLE }] },
  ]);
});

it('SRV-1: after kill -9, an answer to a question of the process before changes nothing, and its call has ended', async () => {
  const session = await legacySession(url, '2025-11-25', { elicitation: {} }, HEADERS);
  const params = { name: 'fixture__test_elicitation', arguments: { message: 'Really?' } };
  const call = await openStream(url, session, { jsonrpc: '2.0', id: 'c', method: 'tools/call', params });
  const [asked] = await call.events(1);
  const [last = ''] = call.ids();
  await restart('SIGKILL');
  const answer = await post(
    url,
    { jsonrpc: '2.0', id: asked?.['id'], result: { action: 'decline' } },
    session,
  );
  const resumed = await send(url, 'GET', undefined, { ...session, 'last-event-id': last });
  expect({
    method: asked?.['method'],
    answer: answer.status,
    resumed: resumed.messages.map(({ id, error }) => [id, error]),
  }).toEqual({
    method: 'elicitation/create',
    answer: 202,
    resumed: [['c', expect.objectContaining({ message: expect.stringMatching(LOST) })]],
  });
});

it('SRV-1: a session that was ended stays ended after kill -9', async () => {
  const [stays, ends] = [
    await legacySession(url, undefined, {}, HEADERS),
    await legacySession(url, undefined, {}, HEADERS),
  ];
  await send(url, 'DELETE', undefined, ends);
  await restart('SIGKILL');
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const statuses = [(await post(url, ping, stays)).status, (await post(url, ping, ends)).status];
  expect(statuses).toEqual([200, 404]);
});

it('SRV-1: a session goes on after kill -9 of the daemon that serves it, at the same address', async () => {
  gateway.kill('SIGTERM');
  await once(gateway, 'exit');
  await startGateway('0');
  const session = await legacySession(url, undefined, {}, HEADERS);
  const plugboard = async (...args: string[]): Promise<string> =>
    (await run(process.execPath, [COMMAND, ...args, '--json'], { cwd: home, env: environment() })).stdout;
  const { daemons } = JSON.parse(await plugboard('daemon', 'status'));
  process.kill(daemons[0].pid, 'SIGKILL');
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'fixture__test_simple_text' },
  };
  const answer = (): Promise<unknown> =>
    post(url, call, session).then(
      ({ messages }) => messages.at(-1)?.['result'],
      () => 'not served yet',
    );
  await expect.poll(answer).toMatchObject({ content: [{ text: SIMPLE }] });
  gateway.kill('SIGTERM');
  await once(gateway, 'exit');
  await plugboard('daemon', 'stop');
});
