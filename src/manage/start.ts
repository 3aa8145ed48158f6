/** `npm start [-- <folder>]`: a demonstration with a sample project, or with the folder given, and what to do next. */

import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findHome } from '../config/home.ts';
import { asPlugboardError } from '../errors.ts';
import { createHost, type Host } from '../host.ts';
import { shellWord } from '../lib/shell-word.ts';
import { describeConnecting } from '../serve/connect-lines.ts';
import { gatewayToken } from '../serve/token.ts';
import { workspaceEntries } from '../workspace/entry.ts';
import { onFreePort } from './free-port.ts';
import { pageWithToken, type ServedManaged, serveHttp } from './http.ts';
import { copySample, givenProject } from './sample-project.ts';

const FALLBACK_EXIT_STATUS = 1;
const PACKAGE: string = fileURLToPath(new URL('../..', import.meta.url));

async function start(): Promise<void> {
  const [given] = process.argv.slice(2);
  // npm runs scripts in the package's folder, and says where it was called.
  const from = process.env['INIT_CWD'] ?? process.cwd();
  const project = given === undefined ? undefined : await givenProject(given, from);
  // A home of its own: the demonstration shows the same on every machine, and nobody's configuration is touched.
  const temporary = await realpath(await mkdtemp(join(tmpdir(), 'plugboard-demo-')));
  const folder = project ?? (await copySample(temporary));
  const host = await createHost({
    cwd: folder,
    home: join(temporary, 'home'),
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
    await rm(temporary, { recursive: true, force: true });
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
    else process.stdout.write(welcome({ host, gateway, token, folder, isSample: project === undefined }));
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

interface Started {
  readonly host: Host;
  readonly gateway: ServedManaged;
  readonly token: string;
  readonly folder: string;
  readonly isSample: boolean;
}

function welcome({ host, gateway: { url, page }, token, folder, isSample }: Started): string {
  const servers = host.servers().map(({ name, status, tools }) => `  ${name}  ${status}, ${tools} tools`);
  return `${[
    isSample ? `A sample project, in ${folder} until you end this:` : `Your project, ${folder}:`,
    ...servers,
    '',
    'Open the page, and try a tool on it:',
    `  ${pageWithToken(page ?? url, token)}`,
    '',
    `Or connect an agent; MCP is served at ${url} on this machine only.`,
    describeConnecting({ url, token }),
    '',
    'Next, with your own servers and agents:',
    `  npm install -g ${shellWord(PACKAGE.replace(/[/\\]$/, ''))}`,
    '  plugboard up           takes the servers that your agents have, and connects the agents to Plugboard',
    '  plugboard dashboard    shows servers, calls and questions in the browser',
    '',
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
