import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StdioEntry } from '../../src/config/entry.ts';
import type { Host } from '../../src/host/host.ts';
import { remoteOnly } from '../remote-only/entry.ts';
import { textOf } from '../world/content.ts';
import { HostWorld, report } from '../world/host-world.ts';
import { until } from '../world/until.ts';

/** Filled by scripts/install-real-servers.mjs, with pinned versions. */
const PACKAGES = fileURLToPath(new URL('../../.cache/real-servers/node_modules', import.meta.url));
/** Some of them load for seconds on a busy machine. */
const START_MS = 60_000;

let world: HostWorld;
beforeEach(() => {
  world = new HostWorld();
});
afterEach(() => world.end());

function program(script: string, ...args: readonly string[]): StdioEntry {
  return { command: process.execPath, args: [join(PACKAGES, script), ...args], startupTimeoutMs: START_MS };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** A real server on a port of its own, until the end of the test. */
async function listening(entry: StdioEntry, env: (port: number) => Record<string, string>): Promise<number> {
  const port = await freePort();
  const child: ChildProcess = spawn(entry.command, entry.args ?? [], {
    env: { ...process.env, ...env(port) },
    stdio: 'ignore',
    cwd: world.project,
  });
  world.onEnd(async () => {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null && child.kill('SIGKILL')) await gone;
  });
  await until('the port', () => accepts(port));
  return port;
}

async function connected(entry: Parameters<Host['add']>[1]): Promise<Host> {
  const host = await world.host({ toolSearch: false });
  await host.add('s', { ...entry, startupTimeoutMs: START_MS });
  const { error } = report(host, 's');
  expect(error).toBeUndefined();
  return host;
}

/** The same server from plugboard/remote-only, which asks the author's model for it. */
async function usesRemoteOnly(url: string): Promise<void> {
  const asked: unknown[] = [];
  const host = await (await remoteOnly()).createHost({
    servers: { s: { url, startupTimeoutMs: START_MS } },
    approve: () => 'allow',
    sample: ({ params }) => {
      asked.push(params['maxTokens']);
      return { role: 'assistant', model: 'scripted', content: { type: 'text', text: 'an answer' } };
    },
  });
  world.onEnd(() => host.close());
  expect(await host.ready()).toEqual({ connected: ['s'], failed: [] });
  expect(host.servers()).toMatchObject([{ era: 'legacy', transport: 'sse' }]);
  const said = await textOf(host.call('mcp__s__trigger-sampling-request', { prompt: 'hi', maxTokens: 7 }));
  expect(said).toContain('an answer');
  expect(asked).toEqual([7]);
}

const EVERYTHING = '@modelcontextprotocol/server-everything/dist/index.js';

describe('real servers', () => {
  // Protocol: 25-transports-2
  it('server-everything over stdio', async () => {
    const host = await connected(program(EVERYTHING, 'stdio'));
    expect(report(host, 's')).toMatchObject({ status: 'connected', era: 'legacy', transport: 'stdio' });
    expect(await textOf(host.call('mcp__s__echo', { message: 'hi' }))).toBe('Echo: hi');
    const progress: number[] = [];
    const onProgress = (one: { progress: number }): void => void progress.push(one.progress);
    await host.call('mcp__s__trigger-long-running-operation', { duration: 0.4, steps: 2 }, { onProgress });
    expect(progress).toEqual([1, 2]);
  });

  it('server-everything over Streamable HTTP', async () => {
    const port = await listening(program(EVERYTHING, 'streamableHttp'), (free) => ({ PORT: String(free) }));
    const host = await connected({ url: `http://127.0.0.1:${port}/mcp` });
    expect(report(host, 's')).toMatchObject({ status: 'connected', era: 'legacy', transport: 'http' });
    expect(await textOf(host.call('mcp__s__echo', { message: 'hi' }))).toBe('Echo: hi');
  });

  it('server-everything over the older HTTP+SSE, found by falling back and by name', async () => {
    const port = await listening(program(EVERYTHING, 'sse'), (free) => ({ PORT: String(free) }));
    const url = `http://127.0.0.1:${port}/sse`;
    const host = await connected({ url });
    expect(report(host, 's')).toMatchObject({ status: 'connected', era: 'legacy', transport: 'sse' });
    expect(await textOf(host.call('mcp__s__echo', { message: 'hi' }))).toBe('Echo: hi');
    await host.add('named', { type: 'sse', url });
    expect(await textOf(host.call('mcp__named__echo', { message: 'ho' }))).toBe('Echo: ho');
    await usesRemoteOnly(url);
  });

  it('server-filesystem', async () => {
    writeFileSync(join(world.project, 'note.txt'), 'written by a test');
    const host = await connected(
      program('@modelcontextprotocol/server-filesystem/dist/index.js', world.project),
    );
    const call = host.call('mcp__s__read_text_file', { path: join(world.project, 'note.txt') });
    expect(await textOf(call)).toBe('written by a test');
  });

  it('server-memory', async () => {
    const host = await connected({
      ...program('@modelcontextprotocol/server-memory/dist/index.js'),
      env: { MEMORY_FILE_PATH: world.file('memory.json') },
    });
    await host.call('mcp__s__create_entities', {
      entities: [{ name: 'plug', entityType: 'thing', observations: ['has two pins'] }],
    });
    expect(await textOf(host.call('mcp__s__search_nodes', { query: 'plug' }))).toContain('has two pins');
  });

  it('context7: a server of the modern era', async () => {
    const host = await connected(program('@upstash/context7-mcp/dist/index.js'));
    // It speaks both eras. On a machine so busy that it needs longer to load than the probe waits, it is spoken to in
    // the older one for that time and probed again at the next start.
    await until('the modern era', async () => {
      if (report(host, 's')['era'] === 'modern') return true;
      await host.disconnect('s');
      await host.connect('s');
      return false;
    });
    expect(report(host, 's')).toMatchObject({ status: 'connected', protocolVersion: '2026-07-28', tools: 2 });
  });

  it('git-mcp-server over HTTP: a 5xx on the probe', async () => {
    mkdirSync(join(world.project, 'logs'));
    const port = await listening(program('@cyanheads/git-mcp-server/dist/index.js'), (free) => ({
      MCP_TRANSPORT_TYPE: 'http',
      MCP_HTTP_PORT: String(free),
      MCP_HTTP_HOST: '127.0.0.1',
      LOGS_DIR: join(world.project, 'logs'),
    }));
    const host = await connected({ url: `http://127.0.0.1:${port}/mcp` });
    expect(report(host, 's')).toMatchObject({
      status: 'connected',
      era: 'legacy',
      transport: 'http',
      tools: 28,
    });
  });

  it('server-github: 2024-11-05', async () => {
    const host = await connected(program('@modelcontextprotocol/server-github/dist/index.js'));
    expect(report(host, 's')).toMatchObject({
      status: 'connected',
      era: 'legacy',
      protocolVersion: '2024-11-05',
      tools: 26,
    });
  });

  it('codex mcp-server: another agent as a server', async () => {
    const host = await connected({
      ...program('@openai/codex/bin/codex.js', 'mcp-server'),
      env: { CODEX_HOME: world.home, HOME: world.dir },
    });
    expect(host.tools().map(({ tool }) => tool)).toEqual(['codex', 'codex-reply']);
  });

  it('claude mcp serve: another agent as a server', async () => {
    writeFileSync(join(world.project, 'note.txt'), 'written by a test');
    const host = await connected({
      ...program('@anthropic-ai/claude-code/cli.js', 'mcp', 'serve'),
      env: { HOME: world.dir, CLAUDE_CONFIG_DIR: world.home, DISABLE_AUTOUPDATER: '1' },
    });
    expect(host.tools().map(({ tool }) => tool)).toContain('Read');
    const call = host.call('mcp__s__Read', { file_path: join(world.project, 'note.txt') });
    expect(JSON.stringify(await call)).toContain('written by a test');
  });
});
