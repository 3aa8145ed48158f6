/**
 * `npm start [-- <folder>]`: a demonstration with a sample project or the given folder, which prints the next steps.
 */

import { execFile } from 'node:child_process';
import { cp, mkdtemp, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findHome } from '../config/home.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { createHost, type Host } from '../host/host.ts';
import { shellWord } from '../lib/shell-word.ts';
import { describeConnecting, STOP_LINE } from '../serve/connect-lines.ts';
import { SERVED_SESSIONS } from '../serve/served-host.ts';
import { adoptOldToken, newTokenText, OLD_TOKEN_NOTE } from '../serve/token-file.ts';
import { workspaceEntries } from '../workspace/workspace-entry.ts';
import { manageToken } from './manage-token.ts';
import { onFreePort, pageWithToken, type ServedManaged, serveHttp } from './serve-http.ts';

const SAMPLE: string = fileURLToPath(new URL('../../assets/sample/', import.meta.url));
const AUTHOR = [
  '-c',
  'user.name=Plugboard',
  '-c',
  'user.email=sample@localhost',
  '-c',
  'commit.gpgsign=false',
];

/** Resolves to an absolute path. `from`: the base of a relative `given`. */
async function givenProject(given: string, from: string): Promise<string> {
  const folder = resolve(from, given);
  const isFolder = await stat(folder).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
  if (isFolder) return folder;
  throw new PlugboardError('USAGE', `${folder} is not a folder`, {
    hint: 'Name an existing folder, or run npm start without one to serve a sample project.',
  });
}

/** Copies the sample into a folder under `parent`, as a git repository if git is installed. */
async function copySample(parent: string): Promise<string> {
  const folder = join(parent, 'sample');
  await cp(SAMPLE, folder, { recursive: true });
  const git = (...args: string[]): Promise<unknown> => promisify(execFile)('git', args, { cwd: folder });
  try {
    await git('init', '--quiet');
    await git('add', '--all');
    await git(...AUTHOR, 'commit', '--quiet', '--message', 'A sample shop');
  } catch {
    // Without git the files are enough: only the git tools have nothing to show.
  }
  return folder;
}

const FALLBACK_EXIT_STATUS = 1;
const PACKAGE: string = fileURLToPath(new URL('../..', import.meta.url));

async function start(): Promise<void> {
  const [given] = process.argv.slice(2);
  // npm runs scripts in the package's folder; INIT_CWD is where it was called.
  const from = process.env['INIT_CWD'] ?? process.cwd();
  const project = given === undefined ? undefined : await givenProject(given, from);
  // A temporary home: the demonstration is the same on every machine, and does not change the user's configuration.
  const temporary = await realpath(await mkdtemp(join(tmpdir(), 'plugboard-demo-')));
  const folder = project ?? (await copySample(temporary));
  const host = await createHost({
    cwd: folder,
    home: join(temporary, 'home'),
    sessions: SERVED_SESSIONS,
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
    // Agents with a token of the user's own home stay connected; the printed token ends with this process.
    const own = findHome(process.env);
    if (await adoptOldToken(own, Date.now())) process.stdout.write(`Note: ${OLD_TOKEN_NOTE}\n`);
    const page = await manageToken(own);
    const token = newTokenText();
    const manage = { token: page.token };
    gateway = await onFreePort((port) => serveHttp(host, { port, token, tokensOf: own.dir, manage }), {
      taken: (port) => process.stdout.write(`Port ${port} is taken, trying the next one.\n`),
    });
    if (stopping.signal.aborted) await gateway.close();
    else
      process.stdout.write(
        welcome({ host, gateway, token, pageToken: page.token, folder, isSample: project === undefined }),
      );
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

interface Started {
  readonly host: Host;
  readonly gateway: ServedManaged;
  /** Token of agents. */
  readonly token: string;
  readonly pageToken: string;
  readonly folder: string;
  readonly isSample: boolean;
}

function welcome({ host, gateway: { url, page }, token, pageToken, folder, isSample }: Started): string {
  const servers = host.servers().map(({ name, status, tools }) => `  ${name}  ${status}, ${tools} tools`);
  return `${[
    isSample ? `A sample project, in ${folder} until you stop this process:` : `Your project, ${folder}:`,
    ...servers,
    '',
    'Open the page and try a tool. This address is for you, not for agents: it manages everything.',
    `  ${pageWithToken(page ?? url, pageToken)}`,
    '',
    `Or connect an agent; MCP is served at ${url} on this machine only, with this token until you stop this process.`,
    describeConnecting({ url, token }),
    '',
    'Next, with your own servers and agents:',
    `  npm install -g ${shellWord(PACKAGE.replace(/[/\\]$/, ''))}`,
    '  plugboard up           imports the servers of your agents, and connects the agents to Plugboard',
    '  plugboard dashboard    shows servers, calls and questions in the browser',
    '',
    STOP_LINE,
  ].join('\n')}\n`;
}

try {
  await start();
} catch (thrown) {
  const error = asPlugboardError(thrown);
  process.stderr.write(`${error.message}${error.hint ? `\n${error.hint}` : ''}\n`);
  process.exitCode = FALLBACK_EXIT_STATUS;
}
