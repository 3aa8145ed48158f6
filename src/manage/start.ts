/** `npm start`: the workspace server, connected and served, with a word on what to type next. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findHome } from '../config/home.ts';
import { asPlugboardError } from '../errors.ts';
import { createHost, type Host } from '../host.ts';
import { describeConnecting } from '../serve/connect-lines.ts';
import { gatewayToken } from '../serve/token.ts';
import { workspaceEntries } from '../workspace/entry.ts';
import { onFreePort } from './free-port.ts';
import { pageWithToken, type ServedManaged, serveHttp } from './http.ts';

const FALLBACK_EXIT_STATUS = 1;

async function start(): Promise<void> {
  // A home of its own: the demonstration shows the same on every machine, and nobody's configuration is touched.
  const home = await mkdtemp(join(tmpdir(), 'plugboard-demo-'));
  const host = await createHost({
    home,
    // Servers are told once that they may ask; who answers is the client behind each session.
    sessions: { elicit: () => ({ action: 'decline' }), sample: () => undefined, roots: [] },
    builtIn: workspaceEntries,
  });
  const stopping = new AbortController();
  let gateway: ServedManaged | undefined;
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
    gateway = await onFreePort((port) => serveHttp(host, { port, token }), {
      taken: (port) => process.stdout.write(`Port ${port} is taken, trying the next one.\n`),
    });
    if (stopping.signal.aborted) await gateway.close();
    else process.stdout.write(welcome(host, gateway, token));
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

function welcome(host: Host, { url, page }: ServedManaged, token: string): string {
  const servers = host
    .servers()
    .map((server) => `  ${server.name}  ${server.status}, ${server.tools} tools, ${server.transport}`);
  const width = Math.max(...host.tools().map(({ name }) => name.length));
  const tools = host.tools().map((tool) => {
    const [sentence = ''] = tool.description.split(/(?<=[.:;]) /);
    return `    ${tool.name.padEnd(width)}  ${sentence.replace(/[:;]$/, '.')}`;
  });
  return `${[
    'Connected:',
    ...servers,
    ...tools,
    '',
    `Served to MCP clients at ${url} (this machine only, with a token).`,
    `Look at it in a browser: ${pageWithToken(page ?? url, token)}`,
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
