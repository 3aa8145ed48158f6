/** `npm start`: one built-in server, connected and served, with a word on what to type next. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findHome } from '../config/home.ts';
import type { ServedHttp } from '../endpoint/http.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { createHost, type Host } from '../host.ts';
import { describeConnecting } from './connect-lines.ts';
import { DEFAULT_PORT, serveHttp } from './http.ts';
import { gatewayToken } from './token.ts';

const FIRST_PORT = DEFAULT_PORT;
const MAX_PORTS_TRIED = 20;
const FALLBACK_EXIT_STATUS = 1;

const demoServer = fileURLToPath(new URL('./demo-server.js', import.meta.url));

async function start(): Promise<void> {
  // A home and a folder of its own: the demonstration shows the same on every machine and touches nothing.
  const home = await mkdtemp(join(tmpdir(), 'plugboard-demo-'));
  const host = await createHost({
    home,
    cwd: home,
    // Servers are told once that they may ask; who answers is the client behind each session.
    sessions: { elicit: () => ({ action: 'decline' }), sample: () => undefined, roots: [] },
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
    // The token is the user's own, so that an agent that was connected once stays connected.
    const { token } = await gatewayToken(findHome(process.env));
    gateway = await serveOnFreePort(host, token);
    if (stopping.signal.aborted) await gateway.close();
    else process.stdout.write(welcome(host, gateway.url, token));
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

async function serveOnFreePort(host: Host, token: string): Promise<ServedHttp> {
  for (let port = FIRST_PORT; port < FIRST_PORT + MAX_PORTS_TRIED; port += 1) {
    try {
      return await serveHttp(host, { port, token });
    } catch (thrown) {
      if (asPlugboardError(thrown).code !== 'START_FAILED') throw thrown;
      process.stdout.write(`Port ${port} is taken, trying the next one.\n`);
    }
  }
  throw new PlugboardError('START_FAILED', `No free port from ${FIRST_PORT} on.`, {
    hint: 'End one of the programs that listen there.',
  });
}

function welcome(host: Host, url: string, token: string): string {
  const servers = host
    .servers()
    .map((server) => `  ${server.name}  ${server.status}, ${server.tools} tools, ${server.transport}`);
  const tools = host.tools().map((tool) => `    ${tool.name.padEnd(20)} ${tool.description}`);
  return `${[
    'Connected:',
    ...servers,
    ...tools,
    '',
    `Served to MCP clients at ${url} (this machine only, with a token).`,
    'Connect an agent:',
    describeConnecting({ url, token }),
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
