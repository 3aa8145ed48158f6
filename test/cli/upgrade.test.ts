/** SRV-11: a home, its rules and exports, and the configurations of agents as 0.1.0 wrote them keep working. */

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Release, tryHold } from '../../src/lib/locked-file.ts';
import { Agent } from '../daemon/agent.ts';
import { until } from '../world/until.ts';

const exec = promisify(execFile);
const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));

interface Fixture {
  readonly root: string;
  readonly files: Readonly<Record<string, string>>;
  /** The files of agents before 0.1.0 was exported to them. */
  readonly before: Readonly<Record<string, string>>;
}

const { root, files, before } = JSON.parse(
  readFileSync(new URL('../fixtures/home-0.1.0.json', import.meta.url), 'utf8'),
) as Fixture;
const project = join(root, 'project');
/** Where the agents' configurations find the program: an upgrade replaces it in place. */
const program = join(root, 'plugboard', 'dist', 'bin', 'plugboard.cjs');
const { PLUGBOARD_DAEMON: _asked, ...inherited } = process.env;
const env = {
  ...inherited,
  HOME: join(root, 'user'),
  XDG_CONFIG_HOME: join(root, 'user', '.config'),
  PLUGBOARD_HOME: join(root, 'home'),
  PLUGBOARD_CREDENTIALS: 'file',
};
const agents: Agent[] = [];

// The files of 0.1.0 have its folder in them, and hashes of it, so all runs on a machine share the folder: one at a time.
let release: Release | undefined;
beforeAll(() =>
  until('the folder of 0.1.0 is free', async () => {
    release = await tryHold(`${root}.lock`);
    return release !== undefined;
  }),
);
afterAll(() => release?.());

beforeEach(() => {
  rmSync(root, { recursive: true, force: true });
  for (const [path, text] of Object.entries(files)) {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: 0o600 });
  }
  mkdirSync(join(project, '.git'));
  symlinkSync(REPOSITORY, join(root, 'plugboard'));
});
afterEach(async () => {
  for (const { child } of agents) child.kill('SIGKILL');
  await Promise.all(agents.splice(0).map(({ exited }) => exited));
  await run('daemon', 'stop');
  rmSync(root, { recursive: true, force: true });
});

async function run(...words: string[]): Promise<string> {
  const { stdout } = await exec(process.execPath, [program, ...words], { cwd: project, env });
  return stdout;
}

async function agent(): Promise<Agent> {
  const { mcpServers } = JSON.parse((files['user/.claude.json'] ?? '').replace(/^\s*\/\/.*$/m, '')) as {
    mcpServers: Record<string, { command: string; args: string[]; env: NodeJS.ProcessEnv }>;
  };
  const entry = mcpServers['plugboard'];
  if (entry === undefined) throw new Error('0.1.0 is not in this agent');
  const { command, args } = entry;
  const started = new Agent({ project }, [command, ...args], { ...env, ...entry.env });
  agents.push(started);
  return started.open();
}

it('SRV-11: an agent configured by 0.1.0 has its tools after an upgrade, with the names that 0.1.0 gave too', async () => {
  const one = await agent();
  const { tools } = (await one.request('tools/list')) as { tools: { name: string }[] };
  const [old, now] = await Promise.all(
    ['mcp__s__echo', 's__echo'].map((name) => one.request('tools/call', { name, arguments: { text: 'hi' } })),
  );
  const denied = await one.request('tools/call', { name: 's__wipe', arguments: {} });
  expect({
    known: ['p', 's', 't'].every((server) => tools.some(({ name }) => name.endsWith(`${server}__echo`))),
    texts: [old, now].map((result) => (result?.['content'] as { text: string }[] | undefined)?.[0]?.text),
    denied: denied['isError'],
  }).toEqual({ known: true, texts: ['hi', 'hi'], denied: true });
});

it('SRV-11: consent, pins, rules and known tools of 0.1.0 hold: nothing is asked again', async () => {
  const { servers } = JSON.parse(await run('list', '--json')) as {
    servers: { name: string; status: string; tools: number }[];
  };
  const held = JSON.parse(await run('pins', '--json')) as Record<string, unknown>;
  expect(servers.map(({ name, status, tools }) => [name, status, tools]).toSorted()).toEqual([
    ['p', 'connected', 3],
    ['s', 'connected', 3],
    ['t', 'connected', 3],
  ]);
  expect(JSON.stringify(held)).not.toMatch(/"changed":\s*\[\s*\{/);
});

/** Starts `serve --http`, and gives what it printed on both streams when it served. */
async function served(...flags: string[]): Promise<{ url: string; stderr: string; end(): Promise<void> }> {
  const child = spawn(process.execPath, [program, 'serve', '--http', '0', '--json', ...flags], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  while (!stdout.trimEnd().endsWith('}')) await once(child.stdout, 'data');
  const { url } = JSON.parse(stdout) as { url: string };
  const end = async (): Promise<void> => {
    const gone = once(child, 'close');
    child.kill('SIGTERM');
    await gone;
  };
  return { url, stderr, end };
}

it('A31: the token of 0.1.0 still calls and no longer manages; only the first start reports it', async () => {
  const token = (files['home/gateway-token'] ?? '').trim();
  const first = await served();
  const ask = async (path: string, secret: string, body?: object): Promise<number> => {
    const answer = await fetch(new URL(path, first.url), {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await answer.text();
    return answer.status;
  };
  const manage = readFileSync(join(root, 'home', 'manage-token'), 'utf8').trim();
  const statuses = [
    await ask('/mcp', token, { jsonrpc: '2.0', id: 1, method: 'ping' }),
    await ask('/api/servers', token),
    await ask('/api/servers', manage),
  ];
  const second = await served();
  await Promise.all([first.end(), second.end()]);
  const { tokens } = JSON.parse(await run('token', 'list', '--json')) as { tokens: { name: string }[] };
  expect({
    statuses,
    notes: [first, second].map(({ stderr }) => stderr.includes('no longer manages')),
    names: tokens.map(({ name }) => name),
    isNewForPage: manage !== token,
  }).toEqual({ statuses: [200, 401, 200], notes: [true, false], names: ['default'], isNewForPage: true });
});

it('SRV-11: reverses what 0.1.0 wrote into agents, to the byte', async () => {
  for (const to of ['claude-code', 'codex', 'opencode']) await run('export', '--to', to, '--undo');
  const after = Object.keys(before).map((path) => [path, readFileSync(join(root, path), 'utf8')]);
  expect(Object.fromEntries(after)).toEqual(before);
});

it('SRV-11: a daemon of 0.1.0 that runs is not spoken to as one of today, and does not keep one from starting', async () => {
  const folder = join(root, 'home', 'run');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const socket = join(folder, 'daemon-52b36c6e1565.sock');
  const received: string[] = [];
  const old = createServer((connection) => {
    connection.setEncoding('utf8').once('data', (text: string) => {
      received.push(text);
      connection.end('{"ok":false,"result":{"sessions":1,"relieved":false,"stays":false}}\n');
    });
  });
  await new Promise<void>((resolve) => old.listen(socket, resolve));
  writeFileSync(
    join(folder, 'daemon-52b36c6e1565.json'),
    JSON.stringify({
      pid: process.pid,
      version: '0.1.0',
      build: 'a7c662d90b4d',
      socket,
      token: 't',
      since: 1,
    }),
    { mode: 0o600 },
  );
  try {
    const pid = await (await agent()).call('pid');
    const hellos = received.map((text) => JSON.parse(text) as { plugboard: number; hello: object });
    expect({ isServed: /^\d+$/.test(pid), hellos }).toEqual({
      isServed: true,
      hellos: [{ plugboard: 1, token: 't', hello: { kind: 'stop', when: 'idle' } }],
    });
  } finally {
    rmSync(join(folder, 'daemon-52b36c6e1565.json'));
    old.close();
  }
});
