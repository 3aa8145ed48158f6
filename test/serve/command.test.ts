import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { homeAt } from '../../src/config/home.ts';
import { addToken } from '../../src/serve/token-file.ts';
import { removeHome } from '../remove-home.ts';
import { refereeOnHttp } from '../testing/referee.ts';
import { until } from '../world/until.ts';
import { post } from './bare-client.ts';

const COMMAND = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const ECHO = fileURLToPath(new URL('../fixtures/echo.mjs', import.meta.url));
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
let home: string;
const running: ChildProcess[] = [];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'plugboard-command-'));
});
afterEach(async () => {
  for (const child of running.splice(0)) if (child.exitCode === null) child.kill('SIGKILL');
  removeHome(home);
});

interface Run {
  readonly child: ChildProcess;
  readonly exited: Promise<unknown[]>;
  stdout(): string;
  stderr(): string;
}

function serve(...flags: string[]): Run {
  const args = [COMMAND, 'serve', '--server', `echo=${process.execPath} ${ECHO}`, ...flags];
  const child = spawn(process.execPath, args, { cwd: home, env: { ...process.env, PLUGBOARD_HOME: home } });
  running.push(child);
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return { child, exited: once(child, 'close'), stdout: () => stdout, stderr: () => stderr };
}

/** The one document that `--json` prints when it serves. */
async function document({
  stdout,
}: Run): Promise<{ url: string; token?: string; tokenFile?: string; manageTokenFile: string }> {
  await until('stdout has the document', () => stdout().trimEnd().endsWith('}'));
  return JSON.parse(stdout());
}

it('SRV-1: serve --http makes a token once, stores its hash, and serves with it only; SIGTERM ends it', async () => {
  const first = serve('--http', '0', '--json');
  const { url, token = '', tokenFile, manageTokenFile } = await document(first);
  const client = await refereeOnHttp(url, 'auto', { authorization: `Bearer ${token}` });
  const { content } = await client.callTool({ name: 'echo__echo', arguments: { message: 'hi' } });
  await client.close();
  const refused = await post(url, PING);
  first.child.kill('SIGTERM');
  const [status] = await first.exited;
  const second = serve('--http', '0', '--json');
  const again = await document(second);
  const served = await post(again.url, PING, { authorization: `Bearer ${token}` });
  second.child.kill('SIGTERM');
  await second.exited;
  expect({
    host: new URL(url).hostname,
    tokenFile,
    stored: readFileSync(join(home, 'tokens.json'), 'utf8').includes(token),
    modes: [join(home, 'tokens.json'), manageTokenFile].map((file) => statSync(file).mode & 0o777),
    content,
    refused: refused.status,
    status,
    shownAgain: again.token,
    served: served.status,
  }).toEqual({
    host: '127.0.0.1',
    tokenFile: undefined,
    stored: false,
    modes: [0o600, 0o600],
    content: [{ type: 'text', text: 'hi' }],
    refused: 401,
    status: 0,
    shownAgain: undefined,
    served: 200,
  });
});

// Protocol: 25-transports-10, 25-transports-11, 26-http-4, 26-http-5
it('A8: --no-auth works on this machine, and only there', async () => {
  const open = serve('--http', '0', '--no-auth', '--json');
  const { url } = await document(open);
  const { token } = await addToken(homeAt(home), 'known', { now: 0 });
  const statuses = [];
  for (const headers of [{}, { authorization: `Bearer ${token}` }, { authorization: 'Bearer unknown' }])
    statuses.push((await post(url, PING, headers)).status);
  expect(statuses).toEqual([200, 200, 401]);
  open.child.kill('SIGTERM');
  const far = serve('--http', '0.0.0.0:0', '--no-auth');
  const [status] = await far.exited;
  expect([status, far.stdout()]).toEqual([2, '']);
  expect(far.stderr()).toContain('a token is needed');
});

it.each([[[]], [['--own']], [['--verbose']]])(
  'SRV-8: serve --http prints once why a client is refused (%j)',
  async (flags: string[]) => {
    const { token } = await addToken(homeAt(home), 'rd', { now: 0, profile: 'gone' });
    const run = serve('--http', '0', '--json', ...flags);
    const { url } = await document(run);
    const statuses = [];
    for (let at = 0; at < 2; at += 1)
      statuses.push((await post(url, PING, { authorization: `Bearer ${token}` })).status);
    await until('stderr has the refusal', () => run.stderr().includes('Refused'));
    run.child.kill('SIGTERM');
    await run.exited;
    const printed = run
      .stderr()
      .split('\n')
      .filter((line) => line.includes('Refused'));
    expect([statuses, printed]).toEqual([
      [403, 403],
      ['warning: Refused the client "rd": There is no profile called "gone"'],
    ]);
  },
);

it.each([
  [['--http', '0', '--stdio']],
  [['--http', '0', '--issuer', 'https://a.example']],
  [['--http', '0', '--no-auth', '--token', 't']],
  [['--http', 'abc']],
  [['--token', 't']],
  [['--approvals', 'maybe']],
])('serve %s is wrong usage', async (flags) => {
  const wrong = serve(...flags);
  const [status] = await wrong.exited;
  expect([status, wrong.stdout()]).toEqual([2, '']);
});

it.each([[['--no-daemon']], [[]]])(
  'SRV-1: a script that pipes its requests in gets all answers and exit 0 (%j)',
  async (flags) => {
    const { child, exited, stdout } = serve('--stdio', '--no-workspace', ...flags);
    const hello = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'script', version: '1' },
    };
    const call = { name: 'echo__echo', arguments: { message: 'piped' } };
    const lines = [
      { jsonrpc: '2.0', id: 1, method: 'initialize', params: hello },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: call },
    ];
    child.stdin?.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    expect(await exited).toEqual([0, null]);
    const answers = stdout()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ id }) => id !== undefined);
    expect(answers).toEqual([
      expect.objectContaining({ id: 1 }),
      { jsonrpc: '2.0', id: 2, result: { content: [{ type: 'text', text: 'piped' }], isError: false } },
    ]);
  },
);

it('SRV-1: the first tools/list on stdio waits for servers that are on their way; the end of input ends all', async () => {
  const { child, exited, stdout, stderr } = serve();
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } };
  child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
  child.stdin?.write('{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n');
  while (!stdout().includes('"id":2')) await once(child.stdout ?? child, 'data');
  child.stdin?.end();
  const [status] = await exited;
  const answers = stdout()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ id }) => id !== undefined);
  expect({
    status,
    stderr: stderr(),
    version: answers[0].result.protocolVersion,
    tools: answers[1].result.tools.map(({ name }: { name: string }) => name).includes('echo__echo'),
  }).toEqual({ status: 0, stderr: '', version: '2025-06-18', tools: true });
});
