import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { McpServer } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, it } from 'vitest';
import { createHost, type Host, type HostOptions } from '../../src/index.ts';
import { defineServer, resource, tool } from '../../src/kit/index.ts';
import { scriptedServer } from '../../src/testing/index.ts';
import { failureJson } from '../world/failure.ts';

const hosts: Host[] = [];

afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});

function folder(): string {
  return mkdtempSync(join(tmpdir(), 'plugboard-in-process-'));
}

async function hostWith(servers: HostOptions['servers'], more: HostOptions = {}): Promise<Host> {
  const dir = more.cwd ?? folder();
  const host = await createHost({
    home: join(dir, 'home'),
    cwd: dir,
    env: {},
    watch: false,
    ...more,
    ...(servers === undefined ? {} : { servers }),
  });
  hosts.push(host);
  await host.ready();
  return host;
}

function weather(): ReturnType<typeof defineServer> {
  return defineServer({
    name: 'weather',
    instructions: 'Ask for today first.',
    tools: [tool({ name: 'today', description: 'The weather of today.', run: () => 'Sunny' })],
    resources: [resource({ uri: 'weather://map', name: 'map', read: () => 'a map' })],
  });
}

/** Files of a home with the texts in them that a server could have left there. */
function traces(home: string, words: readonly string[]): string[] {
  if (!existsSync(home)) return [];
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name))
    .filter((file) => words.some((word) => readFileSync(file, 'utf8').includes(word)));
}

describe('servers in this process', () => {
  it('calls a server of the kit, reads from it, and shows where it runs', async () => {
    const host = await hostWith({ weather: { inProcess: weather(), approval: 'approve' } });
    expect((await host.call('mcp__weather__today')).content).toEqual([{ type: 'text', text: 'Sunny' }]);
    expect((await host.read('weather', 'weather://map')).contents).toMatchObject([{ text: 'a map' }]);
    expect(host.instructions()).toBe('## weather\n\nAsk for today first.');
    expect(host.servers()).toMatchObject([
      { name: 'weather', scope: 'code', transport: 'in-process', status: 'connected', tools: 1 },
    ]);
    expect((await host.describe('weather')).entry).toEqual({
      approval: 'approve',
      inProcess: '(in this process)',
    });
  });

  it('keeps nothing of it in the home, neither lists nor eras nor pins', async () => {
    const dir = folder();
    const money = defineServer({
      name: 'money',
      tools: [tool({ name: 'balance', description: 'The balance.', run: () => '3' })],
    });
    const servers = {
      weather: { inProcess: weather(), approval: 'approve' as const },
      money: { inProcess: money, approval: 'approve' as const },
    };
    const first = await hostWith(servers, { cwd: dir });
    await first.resources();
    await first.close();
    expect(traces(join(dir, 'home'), ['today', 'balance', 'weather'])).toEqual([]);
    const warnings: string[] = [];
    const second = await hostWith(servers, { cwd: dir, log: ({ message }) => warnings.push(message) });
    expect(second.tools().map(({ name }) => name)).toEqual(['mcp__money__balance', 'mcp__weather__today']);
    expect(warnings).toEqual([]);
  });

  it('is joined again by reconnect and after its connection ended, and left alone by a reload', async () => {
    const server = weather();
    const host = await hostWith({ weather: { inProcess: server, approval: 'approve' } });
    await host.reconnect('weather');
    expect((await host.call('mcp__weather__today')).isError).toBe(false);
    const states: string[] = [];
    host.on('server', ({ status }) => states.push(status));
    await host.reload();
    expect(states).toEqual([]);
    await server.close();
    await host.connect('weather');
    expect((await host.call('mcp__weather__today')).isError).toBe(false);
    await host.disconnect('weather');
    expect(host.tools()).toEqual([]);
    await host.connect('weather');
    await host.close();
    await host.close();
  });

  it('makes a server for each connection with a function, and closes what it made', async () => {
    let made = 0;
    let closed = 0;
    const make = ({ name }: { readonly name: string }) => {
      let count = 0;
      made += 1;
      const server = defineServer({
        name,
        tools: [
          tool({
            name: 'count',
            run: () => {
              count += 1;
              return String(count);
            },
          }),
        ],
      });
      return {
        serve: server.serve.bind(server),
        close: async () => {
          closed += 1;
          await server.close();
        },
      };
    };
    const host = await hostWith(
      { counter: { inProcess: make, approval: 'approve', shared: false } },
      { manyAgents: true },
    );
    const [one, other] = [host.session(), host.session()];
    const count = async (session: typeof one): Promise<unknown> =>
      (await session.call('mcp__counter__count')).content;
    expect(await count(one)).toEqual([{ type: 'text', text: '1' }]);
    expect(await count(other)).toEqual([{ type: 'text', text: '1' }]);
    expect(await count(one)).toEqual([{ type: 'text', text: '2' }]);
    await host.close();
    expect({ made, closed }).toEqual({ made, closed: made });
    expect(made).toBeGreaterThan(1);
  });

  it('a program waits for its answers and for the end of the host, though nothing else keeps it running', async () => {
    const program = fileURLToPath(new URL('../fixtures/in-process-alone.mjs', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [program]);
    expect(stdout).toBe('TIMEOUT\nCANCELLED\nclosed\n');
  });

  it('takes servers of the official SDK, v1 and v2, one connection for each object', async () => {
    const v2 = new McpServer({ name: 'two', version: '1.0.0' });
    v2.registerTool('hello', { description: 'Greets.' }, () => ({
      content: [{ type: 'text', text: 'v2' }],
    }));
    // Version 1 comes with the servers that tests talk to.
    const sdk = '../../.cache/real-servers/node_modules/@modelcontextprotocol/sdk/dist/esm/server/mcp.js';
    const v1 = await import(new URL(sdk, import.meta.url).href);
    const one = new v1.McpServer({ name: 'one', version: '1.0.0' });
    one.registerTool('hello', { description: 'Greets.' }, () => ({
      content: [{ type: 'text', text: 'v1' }],
    }));
    const host = await hostWith({
      one: { inProcess: one, approval: 'approve' },
      two: { inProcess: v2, approval: 'approve' },
    });
    for (let round = 0; round < 2; round += 1) {
      expect((await host.call('mcp__one__hello')).content).toEqual([{ type: 'text', text: 'v1' }]);
      expect((await host.call('mcp__two__hello')).content).toEqual([{ type: 'text', text: 'v2' }]);
      await host.reconnect('one');
      await host.reconnect('two');
    }
    const second = await hostWith({ one: { inProcess: one } });
    expect(second.servers()[0]?.error).toMatchObject({
      code: 'START_FAILED',
      message: 'one serves another connection, and an SDK server serves one at a time',
      hint: 'Give a function that makes a server for each connection: inProcess: () => makeServer().',
    });
  });

  it('reports a function that throws, and one that returns something else', async () => {
    const host = await hostWith({
      broken: {
        inProcess: () => {
          throw new Error('no database');
        },
      },
      odd: { inProcess: () => ({}) as never },
    });
    expect(host.servers().map(({ error }) => [error?.code, error?.message])).toEqual([
      ['START_FAILED', 'broken did not start in this process: no database'],
      [
        'START_FAILED',
        'odd did not start in this process: its function returned something that is not a server',
      ],
    ]);
  });

  it('refuses what is not a server, what is two kinds at once, and the key in a file', async () => {
    const refused = (entry: unknown): Promise<unknown> =>
      failureJson(hostWith({ x: entry } as HostOptions['servers']));
    expect(await refused({ inProcess: {} })).toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'x: "inProcess" must be a server, or a function that makes one',
    });
    expect(await refused({ inProcess: weather(), command: 'node' })).toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'x: It has both "inProcess" and "command"',
    });
    const dir = folder();
    writeFileSync(join(dir, '.mcp.json'), '{ "mcpServers": { "x": { "inProcess": "weather" } } }');
    const host = await hostWith({}, { cwd: dir });
    expect(host.servers()).toEqual([]);
    expect(host.problems()).toMatchObject([
      {
        server: 'x',
        message: '"inProcess" can only be given in code, in "servers" of createHost',
        hint: 'Remove it, and give the program to start ("command") or an address ("url").',
      },
    ]);
    expect(await failureJson(host.save('y', { inProcess: weather() }))).toMatchObject({
      code: 'CONFIG_INVALID',
    });
  });

  it('is added and removed while the host runs, and stays out of the daemon', async () => {
    const host = await hostWith({}, { daemon: true });
    const report = await host.add('weather', { inProcess: weather(), approval: 'approve' });
    expect(report).toMatchObject({ status: 'connected', transport: 'in-process' });
    expect((await host.call('mcp__weather__today')).isError).toBe(false);
    await host.remove('weather');
    expect(host.servers()).toEqual([]);
  });
});

describe('openTransport', () => {
  it('replaces only servers given in code, and keeps nothing of them', async () => {
    const dir = folder();
    const home = join(dir, 'home');
    const scripted = scriptedServer({ tools: { today: () => 'Sunny' } });
    const opened: string[] = [];
    const real = { command: 'no-such-program-of-plugboard' };
    const host = await hostWith(
      { weather: { command: 'not started', approval: 'approve' } },
      {
        cwd: dir,
        home,
        openTransport: (name) => {
          opened.push(name);
          return scripted.transport();
        },
      },
    );
    await host.save('mine', real, { scope: 'user' });
    await host.close();
    const again = await hostWith(
      { weather: { command: 'not started', approval: 'approve' } },
      {
        cwd: dir,
        home,
        openTransport: (name) => {
          opened.push(name);
          return scripted.transport();
        },
      },
    );
    expect(again.servers().map(({ name, status }) => [name, status])).toEqual([
      ['weather', 'connected'],
      ['mine', 'failed'],
    ]);
    expect(again.tools().map(({ name }) => name)).toEqual(['mcp__weather__today']);
    await again.close();
    expect(new Set(opened)).toEqual(new Set(['weather']));
    expect(traces(home, ['today'])).toEqual([]);
  });

  it('a server that openTransport leaves to its entry is cached as any other', async () => {
    const dir = folder();
    const home = join(dir, 'home');
    const program = new URL('../fixtures/echo.mjs', import.meta.url);
    const entry = { command: process.execPath, args: [program.pathname], approval: 'approve' as const };
    const host = await hostWith({ real: entry }, { cwd: dir, home, openTransport: () => undefined });
    expect(host.servers()).toMatchObject([{ status: 'connected' }]);
    await host.close();
    expect(existsSync(join(home, 'cache', 'tools'))).toBe(true);
  });
});
