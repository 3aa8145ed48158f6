/** State that moves between replicas with homes of their own: session memory, pins, consent, eras and lists. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { legacySession, post } from '../serve/bare-client.ts';
import { openStream } from '../serve/stream-client.ts';
import { BEARER, end, type Replica, until, type World, worlds } from './replicas.ts';

const world = worlds();
const SLOW_MS = 120_000;
const COMMAND = fileURLToPath(new URL('../../dist/bin/plugboard.cjs', import.meta.url));
const LISTS = fileURLToPath(new URL('../fixtures/cluster-lists.mjs', import.meta.url));
const SERVER = fileURLToPath(new URL('../fixtures/cluster-server.mjs', import.meta.url));

type Headers = Record<string, string>;
interface Result {
  readonly tools?: readonly { readonly name: string }[];
  readonly content?: readonly { readonly text?: string }[];
}

async function request({ url }: Replica, session: Headers, method: string, params: object): Promise<Result> {
  const { messages } = await post(url, { jsonrpc: '2.0', id: 1, method, params }, session);
  return ((messages.at(-1) ?? {}) as { result?: Result }).result ?? {};
}

async function toolNames(replica: Replica, session: Headers): Promise<readonly string[]> {
  return ((await request(replica, session, 'tools/list', {})).tools ?? []).map(({ name }) => name);
}

/** Runs a command in a home. */
function run(made: World, home: string, ...args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], {
    cwd: made.folder,
    env: { ...process.env, PLUGBOARD_HOME: home, PLUGBOARD_CREDENTIALS: 'file', PLUGBOARD_NO_DAEMON: '1' },
    encoding: 'utf8',
  });
  return stdout + stderr;
}

const jsonOf = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');

describe('the state of a session', { timeout: SLOW_MS }, () => {
  it('SRV-7: loaded tools and approvals of a session continue on another replica', async () => {
    const made = await world();
    const options = {
      config: { toolSearch: true, permissions: { ask: ['mcp__work__write'] } },
      args: ['--server', made.server, '--approvals', 'enforce'],
    };
    const [one, two] = [await made.start(options), await made.start(options)];
    const session = await legacySession(one.url, '2025-11-25', { elicitation: { form: {} } }, BEARER);
    await request(one, session, 'tools/call', { name: 'tool_search', arguments: { query: 'steps' } });
    const before = await toolNames(one, session);
    const params = { name: 'work__write', arguments: { id: 'a' } };
    const asked = await openStream(one.url, session, { jsonrpc: '2.0', id: 2, method: 'tools/call', params });
    const [question] = await asked.events(1);
    const answer = { action: 'accept', content: { answer: 'Allow for this session' } };
    await post(one.url, { jsonrpc: '2.0', id: question?.['id'], result: answer }, session);
    await asked.events(2);
    // Records are written in the background: a request of the same session waits for none of them.
    await end(one.process, 'SIGTERM');
    const after = await toolNames(two, session);
    const written = await request(two, session, 'tools/call', {
      name: 'work__write',
      arguments: { id: 'b' },
    });
    expect(before).toContain('work__steps');
    expect({ after: after.toSorted(), text: written.content?.[0]?.text }).toEqual({
      after: before.toSorted(),
      text: 'written b',
    });
  });
});

describe('the homes of replicas', { timeout: SLOW_MS }, () => {
  it('SRV-7: pins, eras and lists of one replica are those of the next, and tampered ones are ignored', async () => {
    const made = await world();
    const one = await made.start();
    const lists = (home: string): readonly string[] => {
      const folder = join(home, 'cache', 'tools');
      return existsSync(folder) ? readdirSync(folder) : [];
    };
    await until(() => jsonOf(join(one.home, 'pins.json')).includes('"work"'), 'the pins');
    await until(
      () => lists(one.home).length > 0 && jsonOf(join(one.home, 'cache', 'eras.json')) !== '',
      'the lists',
    );
    const port = new URL(made.redisUrl).port;
    const redis = (...args: readonly string[]): string =>
      spawnSync('redis-cli', ['-p', port, ...args], { encoding: 'utf8' }).stdout.trim();
    await until(
      () => ['pins', 'eras', 'tools'].every((book) => redis('HLEN', `{plugboard}:book:${book}`) !== '0'),
      'the books',
    );
    redis('HSET', '{plugboard}:book:pins', 'abc', 'not sealed');
    expect(redis('HGETALL', '{plugboard}:book:pins')).not.toContain('work');
    await end(one.process);
    // A replica whose server cannot start: everything that it has is from the others.
    const home = join(made.folder, 'fresh');
    mkdirSync(home);
    const two = await made.start({ home, args: ['--server', 'other=false'] });
    expect({
      pins: JSON.parse(jsonOf(join(two.home, 'pins.json'))).servers,
      lists: lists(two.home),
    }).toEqual({ pins: JSON.parse(jsonOf(join(one.home, 'pins.json'))).servers, lists: lists(one.home) });
    expect(jsonOf(join(two.home, 'cache', 'eras.json'))).toContain('modern');
  });

  it('SRV-7: an approval of a project is valid on all replicas, and so is its withdrawal', async () => {
    const made = await world();
    const entry = { mcpServers: { shared: { command: process.execPath, args: [SERVER, made.calls] } } };
    writeFileSync(join(made.folder, '.mcp.json'), JSON.stringify(entry));
    const options = { args: [] };
    const [one, two] = [await made.start(options), await made.start(options)];
    const session = await legacySession(two.url, '2025-11-25', {}, BEARER);
    const hasTool = async (): Promise<boolean> => (await toolNames(two, session)).includes('shared__write');
    const before = await hasTool();
    run(made, one.home, 'trust', 'shared', '--yes');
    await until(hasTool, 'the approval on the other replica');
    run(made, one.home, 'trust', 'shared', '--revoke');
    await until(() => !jsonOf(join(two.home, 'trust.json')).includes('hash'), 'the withdrawal');
    await until(async () => !(await hasTool()), 'the end of the server');
    expect(before).toBe(false);
  });

  it('SRV-7: a replica with another configuration is reported', async () => {
    const made = await world();
    const one = await made.start();
    const ready = async (): Promise<string> => (await fetch(one.url.replace('/mcp', '/readyz'))).text();
    const before = await ready();
    const two = await made.start({ config: { toolSearch: false } });
    await until(async () => (await ready()).includes('configuration: 1 of 1 other replicas'), 'the report');
    writeFileSync(join(two.home, 'config.json'), readFileSync(join(one.home, 'config.json'), 'utf8'));
    await until(async () => (await ready()) === before, 'the end of the report');
    expect(before).toBe('ok\n');
  });

  it('SRV-7: a list that changes on one replica is read again on the others', async () => {
    const made = await world();
    const args = ['--server', `lists=${process.execPath} ${LISTS} ${join(made.folder, 'names')}`];
    const [one, two] = [await made.start({ args }), await made.start({ args })];
    const [a, b] = [
      await legacySession(one.url, '2025-11-25', {}, BEARER),
      await legacySession(two.url, '2025-11-25', {}, BEARER),
    ];
    const has = async (replica: Replica, session: Headers): Promise<boolean> =>
      (await toolNames(replica, session)).includes('lists__extra');
    const before = [await has(one, a), await has(two, b)];
    await request(one, a, 'tools/call', { name: 'lists__grow', arguments: { name: 'extra' } });
    await until(() => has(one, a), 'the change');
    await until(() => has(two, b), 'the change on the other replica');
    expect(before).toEqual([false, false]);
  });
});
