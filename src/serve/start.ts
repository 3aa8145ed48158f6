/** `npm start`: one built-in server, connected and served, with a word on what to type next. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { createHost, type Host } from '../host.ts';
import { type ServedHttp, serveHttp } from './http.ts';

const FIRST_PORT = 7420;
const MAX_PORTS_TRIED = 20;
const FALLBACK_EXIT_STATUS = 1;

const demoServer = fileURLToPath(new URL('./demo-server.js', import.meta.url));

async function start(): Promise<void> {
  // A home and a folder of its own: the demonstration shows the same on every machine and touches nothing.
  const home = await mkdtemp(join(tmpdir(), 'plugboard-demo-'));
  const host = await createHost({
    home,
    cwd: home,
    approvals: 'client',
    servers: { demo: { command: process.execPath, args: [demoServer] } },
  });
  const stopping = new AbortController();
  let gateway: ServedHttp | undefined;
  const stop = async (): Promise<void> => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    await gateway?.close();
    await host.close();
    await rm(home, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop());
  try {
    await host.ready();
    gateway = await serveOnFreePort(host);
    if (stopping.signal.aborted) await gateway.close();
    else process.stdout.write(welcome(host, gateway.url));
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

async function serveOnFreePort(host: Host): Promise<ServedHttp> {
  for (let port = FIRST_PORT; port < FIRST_PORT + MAX_PORTS_TRIED; port += 1) {
    try {
      return await serveHttp(host, { port });
    } catch (thrown) {
      if (asPlugboardError(thrown).code !== 'START_FAILED') throw thrown;
      process.stdout.write(`Port ${port} is taken, trying the next one.\n`);
    }
  }
  throw new PlugboardError('START_FAILED', `No free port from ${FIRST_PORT} on.`, {
    hint: 'End one of the programs that listen there.',
  });
}

function welcome(host: Host, url: string): string {
  const servers = host
    .servers()
    .map((server) => `  ${server.name}  ${server.status}, ${server.tools} tools, ${server.transport}`);
  const tools = host.tools().map((tool) => `    ${tool.name.padEnd(20)} ${tool.description}`);
  const typed = `npx plugboard --server gateway=${url}`;
  return `${[
    'Connected:',
    ...servers,
    ...tools,
    '',
    `Served to MCP clients at ${url} (this machine only). Type in another terminal, in this folder:`,
    `  ${typed} tools`,
    `  ${typed} call gateway mcp__demo__echo message=hi`,
    `  ${typed} call gateway mcp__demo__add a:=2 b:=3 --json`,
    'End with Ctrl-C.',
  ].join('\n')}\n`;
}

try {
  await start();
} catch (thrown) {
  const error = asPlugboardError(thrown);
  process.stderr.write(`${error.message}${error.hint ? `\n${error.hint}` : ''}\n`);
  process.exitCode = FALLBACK_EXIT_STATUS;
}
