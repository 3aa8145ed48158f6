/** CON-11: hosts in other processes, made with `daemon: true`, share processes with each other and with agents. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ServerEntry } from '../../src/config/entry.ts';
import { PlugboardError } from '../../src/errors.ts';
import { createHost, type Host } from '../../src/host/host.ts';
import type { HostEvents, HostOptions } from '../../src/host/host-options.ts';
import { DaemonWorld } from '../world/daemon-world.ts';
import { isRunning } from '../world/processes.ts';
import { until } from '../world/until.ts';

const ERAS = [
  { era: 'legacy', words: [] },
  { era: 'modern', words: ['modern'] },
];

let world: DaemonWorld;
let hosts: Host[];
beforeEach(() => {
  world = new DaemonWorld();
  hosts = [];
});
afterEach(async () => {
  await Promise.all(hosts.map((host) => host.close()));
  await world.close();
});

async function open(options: HostOptions = {}): Promise<Host> {
  const host = await createHost({
    cwd: world.project,
    env: world.env,
    home: world.home,
    daemon: true,
    approve: () => 'allow',
    ...options,
  });
  hosts.push(host);
  await host.ready();
  return host;
}

async function call(host: Host, tool: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content } = await host.call(`mcp__s__${tool}`, args);
  const [block] = content;
  return block?.type === 'text' ? block.text : '';
}

it('CON-11: two hosts and an agent have one process of a server; the last one out leaves nothing', async () => {
  world.configure({ s: world.server() });
  const [a, b] = await Promise.all([open(), open()]);
  const agent = await world.agent().open();
  const pids = new Set(await Promise.all([call(a, 'pid'), call(b, 'pid'), agent.call('pid')]));
  const reported = a.servers().map(({ name, status, pid }) => ({ name, status, pid }));
  const running = world.servers();
  await agent.leave();
  await a.close();
  const still = await call(b, 'echo', { text: 'still' });
  await b.close();
  expect({ pids, reported, daemons: world.daemonProcesses().length, still, left: world.servers() }).toEqual({
    pids: new Set(running.map(String)),
    reported: [{ name: 's', status: 'connected', pid: running[0] }],
    daemons: 1,
    still: 'still',
    left: [],
  });
});

describe.each(ERAS)('a server of the $era era in the daemon', ({ words }) => {
  it('CON-11: gives a host in another process what a process of its own would', async () => {
    world.configure({ s: world.server({}, ...words) });
    const [there, own] = await Promise.all([open(), open({ daemon: false })]);
    const [seen, expected] = await Promise.all([tour(there), tour(own)]);
    expect(seen).toEqual(expected);
    expect(seen.told).toEqual(['progress 1', 'progress 2', 'a word', 'grown', 'touched', 'cancelled']);
  });

  it('CON-11, A7: questions, words and turns reach the host whose call they are about', async () => {
    world.configure({ s: world.server({}, ...words) });
    const people = ['Ada', 'Bea'].map((name) => new Person(name));
    const [a, b] = await Promise.all(people.map((person) => open(person.options)));
    if (a === undefined || b === undefined) throw new Error('no hosts');
    const agent = await world.agent().open({ elicitation: { form: {} } });
    const asked = [call(a, 'ask', { text: 'for Ada' }), call(b, 'ask', { text: 'for Bea' })];
    const third = agent.call('ask', { text: 'for the agent' });
    (await agent.question()).answer({ action: 'accept', content: { name: 'agent' } });
    const answers = await Promise.all([...asked, third]);
    await call(a, 'log', { text: 'of Ada' });
    await call(b, 'log', { text: 'of Bea' });
    await Promise.all(people.map((person) => person.hears(`of ${person.name}`)));
    const sampled = await call(a, 'sample', { text: 'hi' });
    const roots = await Promise.all([call(a, 'roots'), call(b, 'roots')]);
    expect({
      answers: answers.map((answer) => JSON.parse(answer).content.name),
      asked: people.map((person) => person.asked),
      heard: people.map((person) => person.heard),
      sampled: JSON.parse(sampled).content.text,
      roots: roots.map((told) => JSON.parse(told).roots[0].uri),
    }).toEqual({
      answers: ['Ada', 'Bea', 'agent'],
      asked: [['for Ada'], ['for Bea']],
      heard: [['of Ada'], ['of Bea']],
      sampled: 'Ada says',
      roots: ['file:///Ada', 'file:///Bea'],
    });
  });
});

it('F58: hosts whose daemon is killed lose what was under way, find one new daemon, and leave nothing behind', async () => {
  world.configure({ s: world.server() });
  const [a, b] = await Promise.all([open(), open()]);
  const before = await call(a, 'pid');
  const lost = [a, b].map((host) =>
    host.call('mcp__s__wait').then(
      () => 'answered',
      (error: unknown) => (error instanceof PlugboardError ? error.code : String(error)),
    ),
  );
  await Promise.all([call(a, 'echo', { text: 'sent' }), call(b, 'echo', { text: 'sent' })]);
  const daemon = await world.daemon();
  process.kill(daemon, 'SIGKILL');
  const ends = await Promise.all(lost);
  const pids = await Promise.all([call(a, 'pid'), call(b, 'pid')]);
  await until('the old server is gone', () => !isRunning(Number(before)));
  const successor = await world.daemon();
  expect({ ends, pids: new Set(pids), isNew: successor !== daemon }).toEqual({
    ends: ['CONNECTION_LOST', 'CONNECTION_LOST'],
    pids: new Set(world.servers().map(String)),
    isNew: true,
  });
  await Promise.all([a.close(), b.close()]);
  expect(world.servers()).toEqual([]);
});

it('CON-11: a shared server that crashes fails and comes back as one of our own would', async () => {
  world.configure({ s: world.server() });
  const host = await open();
  const before = await call(host, 'pid');
  const error = await host.call('mcp__s__crash').catch((thrown: unknown) => thrown);
  const after = await call(host, 'pid');
  const own = await open({ daemon: false });
  const expected = await own.call('mcp__s__crash').catch((thrown: unknown) => thrown);
  expect({ error: facts(error), isNew: before !== after }).toEqual({ error: facts(expected), isNew: true });
});

it('CON-11: a daemon that a person stops is not started again before the host needs its server', async () => {
  world.configure({ s: world.server() });
  const host = await open();
  const before = await call(host, 'pid');
  await world.command('daemon', 'stop');
  await until('the server rests', () => host.servers()[0]?.status === 'idle');
  const rested = { daemons: world.daemonProcesses(), servers: world.servers() };
  expect({ rested, isNew: (await call(host, 'pid')) !== before }).toEqual({
    rested: { daemons: [], servers: [] },
    isNew: true,
  });
});

it('CON-11: a server given in code is shared with hosts that have the same one, and with no other', async () => {
  world.configure({ s: world.server() });
  const entry = world.server() as ServerEntry;
  const other = { ...entry, env: { SHOWN: 'other' } };
  const [configured, same, different] = await Promise.all([
    open(),
    open({ servers: { s: entry } }),
    open({ servers: { s: other } }),
  ]);
  const dedicated = await open({ servers: { s: other } });
  const pids = await Promise.all([configured, same, different, dedicated].map((host) => call(host, 'pid')));
  expect({
    shared: [pids[0] === pids[1], pids[2] === pids[3]],
    shown: await call(dedicated, 'env', { name: 'SHOWN' }),
    servers: world.servers().length,
    daemons: world.daemonProcesses().length,
  }).toEqual({ shared: [true, true], shown: 'other', servers: 2, daemons: 1 });
});

it('CON-11: only what is needed is started there, and the rest when an agent comes that is served all of it', async () => {
  world.configure({ s: world.server(), t: world.server({}, 'legacy', 'other') });
  const host = await open({ only: ['s'] });
  const alone = world.servers().length;
  const agent = await world.agent().open();
  const pids = await Promise.all([agent.call('pid'), agent.call('pid', {}, 't')]);
  expect({ alone, shared: pids[0] === (await call(host, 'pid')), servers: world.servers().length }).toEqual({
    alone: 1,
    shared: true,
    servers: 2,
  });
});

it('CON-11: a server that cannot or may not be shared is a process of the host, and an implicit choice is reported', async () => {
  const log: string[] = [];
  // Each has the file as it is when it opens, and looks at it no more.
  const options = { log: ({ message }: HostEvents['log']) => void log.push(message), watch: false };
  world.configure({ s: world.server({ shared: false }) });
  const unshared = await open(options);
  world.configure({ s: world.server() }, { daemon: false });
  const refused = await open(options);
  world.configure({ s: world.server() });
  const switchedOff = await open({ ...options, env: { ...world.env, PLUGBOARD_DAEMON: '0' } });
  const pids = await Promise.all([unshared, refused, switchedOff].map((host) => call(host, 'pid')));
  expect({ pids: new Set(pids).size, daemons: world.daemonProcesses(), log }).toEqual({
    pids: 3,
    daemons: [],
    log: [],
  });
});

it('CON-11: a server of a project starts in the daemon only after consent', async () => {
  writeFileSync(join(world.project, '.mcp.json'), JSON.stringify({ mcpServers: { s: world.server() } }));
  const host = await open();
  const before = { status: host.servers()[0]?.status, servers: world.servers() };
  await world.command('trust', 's', '--yes');
  await until('the agreement is noticed', () => host.servers()[0]?.status === 'connected');
  expect({ before, pid: [Number(await call(host, 'pid'))] }).toEqual({
    before: { status: 'untrusted', servers: [] },
    pid: world.servers(),
  });
});

/** What a host sees of a server with something of everything. */
async function tour(host: Host) {
  const told: string[] = [];
  const pid = Number(await call(host, 'pid'));
  const free = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll(String(pid), 'PID'));
  const onProgress = ({ progress }: { progress: number }): void => void told.push(`progress ${progress}`);
  const stepped = await host.call('mcp__s__steps', {}, { onProgress });
  const word = new Promise<void>((resolve) => {
    host.on('log', ({ message }) => {
      if (message !== 'a word') return;
      told.push(message);
      resolve();
    });
  });
  await call(host, 'log', { text: 'a word' });
  await word;
  const grown = new Promise<void>((resolve) => {
    host.on('tools', () => resolve());
  });
  await call(host, 'grow');
  await grown;
  told.push('grown');
  let stop = (): void => {};
  const touched = new Promise<string>((resolve) => {
    void host
      .subscribe('s', 'memo://now', ({ uri }) => resolve(uri))
      .then((leave) => {
        stop = leave;
        return call(host, 'touch');
      });
  });
  const uri = await touched;
  told.push('touched');
  stop();
  const cancel = new AbortController();
  const waiting = host.call('mcp__s__wait', {}, { signal: cancel.signal }).catch((error) => facts(error));
  cancel.abort();
  const cancelled = await waiting;
  told.push('cancelled');
  const [report] = host.servers();
  const { status, transport, era, protocolVersion, tools } = report ?? {};
  return free({
    told,
    stepped,
    uri,
    cancelled,
    report: { status, transport, era, protocolVersion, tools },
    instructions: host.instructions(),
    tools: host.tools().map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    failed: await host.call('mcp__s__fail').catch((error) => facts(error)),
    resources: await host.resources('s'),
    read: await host.read('s', 'memo://now'),
    prompts: await host.prompts('s'),
    prompt: await host.prompt('s', 'greet', { who: 'Ada' }),
    completion: await host.complete(
      { server: 's', type: 'ref/prompt', name: 'greet' },
      { name: 'who', value: 'A' },
    ),
  }) as { told: string[] };
}

function facts(error: unknown): unknown {
  if (!(error instanceof PlugboardError)) return error;
  const { code, message, server, hint, detail } = error;
  return { code, message, server, hint, detail };
}

/** Answers questions, and records what it received. */
class Person {
  readonly name: string;
  readonly asked: string[] = [];
  readonly heard: string[] = [];
  readonly options: HostOptions;

  constructor(name: string) {
    this.name = name;
    this.options = {
      elicit: ({ message }) => {
        this.asked.push(message);
        return { action: 'accept', content: { name } };
      },
      sample: () => ({ role: 'assistant', model: 'm', content: { type: 'text', text: `${name} says` } }),
      roots: [{ uri: `file:///${name}` }],
      log: ({ message }) => void this.heard.push(message),
    };
  }

  hears(message: string): Promise<void> {
    return until(`${this.name} hears it`, () => this.heard.includes(message));
  }
}
