/**
 * Everything that people do with the package, once, in the folder that it was installed into: bundled into one program, so that any
 * Node can run it there. Prints a line for each thing that worked; the first that did not ends it.
 */

import { deepEqual, equal, ok } from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { createHost } from 'plugboard';
import { toAnthropic } from 'plugboard/adapters';
import { serveHttp } from 'plugboard/serve';
import { scriptedServer } from 'plugboard/testing';
import { ScriptedModel } from '../chat/scripted-model.ts';

const ECHO = `import { defineServer, stdio, tool } from 'plugboard/kit';
import { z } from 'zod';
const input = z.object({ message: z.string() });
const echo = tool({ name: 'echo', input, run: ({ message }) => message });
await defineServer({ name: 'echo', tools: [echo] }).serve(stdio());
`;

const command = resolve('node_modules', 'plugboard', 'dist', 'bin', 'plugboard.cjs');
const home = mkdtempSync(join(tmpdir(), 'plugboard-whole-'));
const env = { ...process.env, PLUGBOARD_HOME: home, PLUGBOARD_CREDENTIALS: 'file', NO_COLOR: '1' };
const workspace = { command: process.execPath, args: [command, 'workspace', '${PROJECT_DIR}'] };

async function plugboard(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [command, ...args], { env });
  return stdout.trim();
}

async function done(what: string, work: () => Promise<void>): Promise<void> {
  await work();
  process.stdout.write(`${what}\n`);
}

/** Asks the gateway behind an entry for a file, as an agent would. */
async function agentFinds(entry: Parameters<typeof createHost>[0], name: string): Promise<void> {
  await using agent = await createHost({ cwd: '/', home: join(home, 'agent'), ...entry });
  await agent.ready();
  const { structuredContent } = await agent.call(name, { pattern: 'package.json' });
  deepEqual(structuredContent, { files: ['package.json'], truncated: false });
}

try {
  await done('command', async () => {
    await plugboard(
      'add',
      'files',
      '-s',
      'user',
      '--',
      process.execPath,
      command,
      'workspace',
      '${PROJECT_DIR}',
    );
    const { servers } = JSON.parse(await plugboard('list', '--json'));
    deepEqual([servers.length, servers[0].status, servers[0].tools], [1, 'connected', 10]);
    const { results } = JSON.parse(await plugboard('search', 'find files by name', '--json'));
    equal(results[0].tool, 'glob');
    equal(JSON.parse(await plugboard('doctor', '--json')).checks[0].ok, true);
  });
  await done('library', async () => {
    const scripted = scriptedServer({ tools: { greet: ({ who }) => `Hello ${who}` } });
    const entry = { inProcess: scripted, approval: 'approve' } as const;
    await using host = await createHost({
      home: join(home, 'library'),
      servers: { scripted: entry },
    });
    await host.ready();
    const { content } = await host.call('mcp__scripted__greet', { who: 'Ada' });
    deepEqual(content, [{ type: 'text', text: 'Hello Ada' }]);
    equal(toAnthropic(host).tools.length, 1);
  });
  await done('workspace', async () => {
    const { structuredContent } = JSON.parse(
      await plugboard('call', 'files', 'glob', 'pattern=package.json', '--json'),
    );
    deepEqual(structuredContent, { files: ['package.json'], truncated: false });
  });
  await done('kit', async () => {
    writeFileSync('echo.mjs', ECHO);
    equal(
      await plugboard('--server', `own=${process.execPath} echo.mjs`, 'call', 'own', 'echo', 'message=hi'),
      'hi',
    );
  });
  await done('serve over HTTP', async () => {
    await using host = await createHost({
      home: join(home, 'served'),
      servers: { files: { ...workspace, trusted: true } },
    });
    const gateway = await serveHttp(host, { port: 0, token: 'a-long-secret' });
    const all = {
      url: gateway.url,
      headers: { Authorization: 'Bearer a-long-secret' },
      approval: 'approve',
    } as const;
    await agentFinds({ servers: { all } }, 'mcp__all__files__glob');
    await gateway.close();
  });
  await done('daemon', async () => {
    // Two agents, each with a gateway of its own on stdio: the servers are those of one daemon.
    const all = {
      command: process.execPath,
      args: [command, 'serve', '--cwd', process.cwd()],
      env: { PLUGBOARD_HOME: home, PLUGBOARD_CREDENTIALS: 'file' },
      approval: 'approve',
    } as const;
    const first = spawn(process.execPath, [command, 'serve'], { env, stdio: ['pipe', 'ignore', 'inherit'] });
    await agentFinds({ servers: { all } }, 'mcp__all__files__glob');
    const { daemons } = JSON.parse(await plugboard('daemon', 'status', '--json'));
    equal(daemons.length, 1);
    ok(daemons[0].hosts[0].servers.length > 0);
    first.stdin.end();
    await new Promise((resolve) => first.once('exit', resolve));
    await plugboard('daemon', 'stop');
  });
  await done('chat', async () => {
    const call = { name: 'mcp__files__glob', arguments: { pattern: 'package.json' } };
    const model = await ScriptedModel.start({ calls: [call] }, { text: 'It is there.' });
    const turn = JSON.parse(
      await plugboard('chat', '-p', 'Is there a package?', '--yes', '--model', model.name, '--json'),
    );
    deepEqual([turn.text, turn.calls[0].isError], ['It is there.', false], JSON.stringify(turn));
    await model.close();
  });
} finally {
  await plugboard('daemon', 'stop');
  rmSync(home, { recursive: true, force: true });
}
