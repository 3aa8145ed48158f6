/** The section "Library" of the contract, through the public entry point alone. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHost, type Host, type HostOptions, PlugboardError, type StdioEntry } from '../../src/index.ts';

const fixture = (file: string): string => fileURLToPath(new URL(`../fixtures/${file}`, import.meta.url));
const server = (more: Partial<StdioEntry> = {}): StdioEntry => ({
  command: process.execPath,
  args: [fixture('echo.mjs')],
  ...more,
});
const nowhere: StdioEntry = { command: '/no/such/program' };

let dir: string;
let home: string;
let project: string;
const open: Host[] = [];

beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'plugboard-contract-')));
  home = join(dir, 'home');
  project = join(dir, 'project');
  mkdirSync(home);
  mkdirSync(join(project, '.git'), { recursive: true });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((host) => host.close()));
  rmSync(dir, { recursive: true, force: true });
});

async function make(options: HostOptions = {}): Promise<Host> {
  const host = await createHost({ cwd: project, home, ...options });
  open.push(host);
  return host;
}

function configure(config: unknown): void {
  const text = typeof config === 'string' ? config : JSON.stringify(config);
  writeFileSync(join(home, 'config.json'), text);
}

/** What a promise rejected with: the contract knows one class. */
async function refusal(work: () => Promise<unknown>): Promise<{ code: string; server: string | undefined }> {
  const thrown = await work().then(
    () => 'nothing',
    (error: unknown) => error,
  );
  if (!(thrown instanceof PlugboardError)) throw new Error('not a PlugboardError', { cause: thrown });
  return { code: thrown.code, server: thrown.server };
}

describe('the beginning', () => {
  it.each([
    ['without any server', {}, { connected: 0, failed: 0, cancelled: 0 }],
    ['with one of each kind', { good: server(), bad: nowhere }, { connected: 1, failed: 1, cancelled: 0 }],
  ])('CON-7: %s, a listener added after createHost receives `ready` once', async (_, servers, counts) => {
    const host = await make({ servers });
    const heard: unknown[] = [];
    host.on('ready', (event) => heard.push(event));
    await host.ready();
    expect(heard).toEqual([counts]);
  });

  it('CAT-4: a start from the cache has its tools at once, and its `ready` too', async () => {
    const first = await make({ servers: { echo: server() } });
    await first.ready();
    const names = first.tools().map(({ name }) => name);
    await first.close();
    const host = await make({ servers: { echo: server() } });
    const heard: unknown[] = [];
    host.on('ready', (event) => heard.push(event));
    expect(host.tools().map(({ name }) => name)).toEqual(names);
    expect(host.servers()).toEqual([
      { name: 'echo', scope: 'code', transport: 'stdio', status: 'idle', tools: names.length },
    ]);
    await host.ready();
    expect(heard).toEqual([{ connected: 0, failed: 0, cancelled: 0 }]);
  });

  it('CON-9: a required server that failed rejects `ready`; one that is switched off does not', async () => {
    const host = await make({ servers: { needed: { ...nowhere, required: true }, other: server() } });
    expect(await refusal(() => host.ready())).toEqual({ code: 'REQUIRED_FAILED', server: 'needed' });
    const relaxed = await make({ servers: { off: { ...nowhere, required: true, enabled: false } } });
    await relaxed.ready();
    expect(relaxed.servers().map(({ status }) => status)).toEqual(['disabled']);
  });

  it('A12: a relative home is reported as the folder that it is', async () => {
    configure('{');
    const host = await make({ home: relative(process.cwd(), home) });
    expect(host.problems().map(({ file }) => file)).toEqual([join(home, 'config.json')]);
  });
});

describe('calls', () => {
  it('reject with nothing but PlugboardError, whatever they are given', async () => {
    const host = await make({ servers: { echo: server({ approval: 'approve' }) } });
    await host.ready();
    const call = host.call.bind(host) as (...args: readonly unknown[]) => Promise<unknown>;
    const unknown = { code: 'UNKNOWN_TOOL', server: undefined };
    const invalid = { code: 'INVALID_ARGUMENTS', server: 'echo' };
    for (const name of [undefined, null, 5, {}, '', 'mcp__echo__ech'])
      expect(await refusal(() => call(name, {}))).toEqual(unknown);
    for (const args of [null, 'text', [1], 5])
      expect(await refusal(() => call('mcp__echo__echo', args))).toEqual(invalid);
    const notText = { code: 'INVALID_ARGUMENTS', server: undefined };
    for (const method of ['search', 'expand'] as const) {
      const ask = host[method].bind(host) as (text: unknown) => Promise<unknown>;
      for (const text of [undefined, null, 5, {}]) expect(await refusal(() => ask(text))).toEqual(notText);
    }
    expect(await refusal(() => call('mcp__echo__wait', {}, { timeoutMs: 50 }))).toEqual({
      code: 'TIMEOUT',
      server: 'echo',
    });
    const signal = AbortSignal.abort();
    expect(await refusal(() => call('mcp__echo__wait', {}, { signal }))).toEqual({
      code: 'CANCELLED',
      server: 'echo',
    });
  });

  it('CAL-6: every begin has exactly one end, and `on` gives its undoing', async () => {
    const host = await make({ servers: { echo: server({ approval: 'approve' }) } });
    await host.ready();
    const seen: string[] = [];
    const offs = [
      host.on('call.begin', ({ id, server: name, tool }) => seen.push(`${id} ${name} ${tool}`)),
      host.on('call.end', ({ id, outcome, code }) => seen.push(`${id} ${outcome} ${code ?? '-'}`)),
    ];
    await host.call('mcp__echo__echo', { message: 'hi' });
    await host.call('mcp__echo__fail');
    await refusal(() => host.call('mcp__echo__crash'));
    for (const off of [...offs, ...offs]) off();
    await host.call('mcp__echo__echo', { message: 'unheard' });
    expect(seen).toEqual([
      'c1 echo echo',
      'c1 ok -',
      'c2 echo fail',
      'c2 tool-error -',
      'c3 echo crash',
      'c3 error CONNECTION_LOST',
    ]);
  });

  it.each([
    ['allow', 'ok'],
    ['allow-session', 'ok'],
    ['allow-always', 'ok'],
    ['deny', 'DENIED'],
    ['cancel', 'CANCELLED'],
  ] as const)('CAL-2: approve answers %s: %s', async (answer, expected) => {
    const asked: unknown[] = [];
    const host = await make({
      servers: { echo: server() },
      approve: (request) => {
        asked.push(request);
        return answer;
      },
    });
    await host.ready();
    const result = await host.call('mcp__echo__echo', { message: 'hi' }).then(
      () => 'ok',
      (error: PlugboardError) => error.code,
    );
    expect(result).toBe(expected);
    expect(asked).toEqual([
      {
        server: 'echo',
        tool: 'echo',
        name: 'mcp__echo__echo',
        arguments: { message: 'hi' },
        annotations: { readOnlyHint: true },
        reason: expect.any(String),
        session: expect.any(String),
      },
    ]);
  });
});

describe('the log', () => {
  it('goes to `log` from the first message on, and to listeners', async () => {
    const told: string[] = [];
    const heard: string[] = [];
    const noisy = server({
      args: ['-e', `console.log('not JSON'); import(${JSON.stringify(fixture('echo.mjs'))})`],
    });
    const host = await make({ servers: { noisy }, log: ({ message }) => told.push(message) });
    host.on('log', ({ message }) => heard.push(message));
    await host.ready();
    expect(told).toEqual([expect.stringContaining('not JSON')]);
    expect(heard).toEqual(told);
  });

  it('a listener that throws at every event affects nothing else', async () => {
    const host = await make({
      servers: { echo: server({ approval: 'approve' }) },
      log: () => {
        throw new Error('of the log');
      },
    });
    for (const event of ['server', 'ready', 'call.begin', 'call.end', 'log'] as const)
      host.on(event, () => {
        throw new Error(`of ${event}`);
      });
    await host.ready();
    expect(await host.call('mcp__echo__echo', { message: 'hi' })).toEqual({
      content: [{ type: 'text', text: 'hi' }],
      isError: false,
    });
  });
});

describe('a configuration that breaks under a running host (CFG-5, CFG-8)', () => {
  it('keeps the servers and the rules of the file until it can be read again', async () => {
    const permissions = { deny: ['mcp__echo__fail'] };
    const echo = server({ approval: 'approve' });
    configure({ mcpServers: { echo, goes: nowhere }, permissions });
    const host = await make({ watch: false });
    await host.ready();
    const [before] = host.servers();
    configure('{ "mcpServers": { "echo"');
    await host.reload();
    expect(host.servers().map(({ name }) => name)).toEqual(['echo', 'goes']);
    expect(host.servers()[0]).toEqual(before);
    expect(host.problems().map(({ file, line }) => ({ file, line }))).toEqual([
      { file: join(home, 'config.json'), line: 1 },
    ]);
    expect(await refusal(() => host.call('mcp__echo__fail'))).toEqual({ code: 'DENIED', server: 'echo' });
    configure({ mcpServers: { echo } });
    await host.reload();
    expect(host.servers()).toEqual([before]);
    expect(await host.call('mcp__echo__fail')).toMatchObject({ isError: true });
  });

  it('a file that can be read and no longer has servers removes them, typos or not', async () => {
    configure({ mcpServers: { echo: server() } });
    const host = await make({ watch: false });
    await host.ready();
    configure({ mcpServers: {}, permision: {} });
    await host.reload();
    expect(host.servers()).toEqual([]);
    expect(host.problems()).toHaveLength(1);
  });
});

describe('the end', () => {
  it('close may be called twice, disposes, and ends running calls', async () => {
    const host = await make({ servers: { echo: server({ approval: 'approve' }) } });
    await host.ready();
    const begun = new Promise<void>((resolve) => host.on('call.begin', () => resolve()));
    const call = refusal(() => host.call('mcp__echo__wait'));
    await begun;
    await Promise.all([host.close(), host.close(), host[Symbol.asyncDispose]()]);
    expect((await call).server).toBe('echo');
    expect(await refusal(() => host.add('late', server()))).toEqual({ code: 'CANCELLED', server: 'late' });
  });
});
