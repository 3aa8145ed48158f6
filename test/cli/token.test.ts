/** `plugboard token`, and the secrets of `serve` and `add`: from the environment, a file or a prompt. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { send } from '../world/managed-gateway.ts';
import { COMMAND, Place } from './command.ts';

const ACCEPT = 'application/json, text/event-stream';
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
let place: Place;
const running: ChildProcess[] = [];
beforeEach(() => {
  place = new Place();
});
afterEach(async () => {
  for (const child of running.splice(0)) {
    const gone = once(child, 'close');
    child.kill('SIGTERM');
    if (child.exitCode === null) await gone;
  }
  place.remove();
});

interface Serving {
  readonly url: string;
  /** Everything it printed, on both streams. */
  readonly printed: string;
}

/** Starts `serve --http`, and reads until it prints how it is ended. */
async function serve(
  flags: readonly string[],
  { shared = false, env = {} }: { shared?: boolean; env?: NodeJS.ProcessEnv } = {},
): Promise<Serving> {
  const own = shared ? [] : ['--own'];
  const child = spawn(process.execPath, [COMMAND, 'serve', '--http', '0', ...own, ...flags], {
    cwd: place.project,
    env: { ...process.env, PLUGBOARD_HOME: place.home, PLUGBOARD_CREDENTIALS: 'file', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.push(child);
  let [printed, url] = ['', ''];
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  while (!printed.includes('Press Ctrl-C to stop.')) await once(child.stdout ?? child, 'data');
  url = /Serving at (\S+)/.exec(printed)?.[1] ?? '';
  return { url, printed };
}

async function statusAt({ url }: Serving, token: string): Promise<[mcp: number, api: number]> {
  const authorization = `Bearer ${token}`;
  const mcp = await send(url, 'POST', PING, { accept: ACCEPT, authorization });
  const api = await send(new URL('/api/servers', url).href, 'GET', undefined, { authorization });
  return [mcp.status, api.status];
}

it('A31: add shows a token once, list shows names and times, revoke ends it', async () => {
  const added = await place.json(['token', 'add', 'laptop']);
  const short = await place.json(['token', 'add', 'ci', '--expires', '30d']);
  const { token } = added.value as { token: string };
  const listed = await place.run(['token', 'list', '--json']);
  const revoked = await place.json(['token', 'revoke', 'laptop']);
  const left = await place.json(['token', 'list']);
  const date = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect([added.value, short.value, JSON.parse(listed.stdout), revoked.value, left.value]).toEqual([
    { name: 'laptop', token: expect.stringMatching(/^plug_[\w-]{43}$/) },
    { name: 'ci', token: expect.any(String), expires: date },
    {
      tokens: [
        { name: 'laptop', created: date, expired: false },
        { name: 'ci', created: date, expires: date, expired: false },
      ],
    },
    { name: 'laptop', revoked: true },
    { tokens: [expect.objectContaining({ name: 'ci' })] },
  ]);
  expect(listed.stdout).not.toContain(token);
  const files = readdirSync(place.home, { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  );
  const texts = files.map((each) => readFileSync(join(each.parentPath, each.name), 'utf8'));
  expect(texts.filter((text) => text.includes(token))).toEqual([]);
});

it.each([
  [['add']],
  [['add', 'a b']],
  [['add', 'x', '--expires', 'soon']],
  [['add', 'x', '--expires', '999999999w']],
  [['list', 'x']],
  [['revoke', 'nothing']],
])('token %j is wrong usage', async (words) => {
  expect((await place.run(['token', ...words])).status).toBe(2);
});

it('A31: add prints the address of the gateway that runs, and never guesses a port', async () => {
  const before = await place.run(['token', 'add', 'one']);
  const served = await serve([], { shared: true });
  const [after, document] = [
    await place.run(['token', 'add', 'two']),
    await place.json(['token', 'add', 'three']),
  ];
  await place.run(['daemon', 'stop']);
  expect(before.stdout).toContain('replacing <address> with the url that plugboard serve --http prints:');
  expect(before.stdout).toContain('claude mcp add --transport http plugboard <address> --header');
  expect(before.stdout + after.stdout).not.toContain(':7420/');
  expect(after.stdout).toContain(`claude mcp add --transport http plugboard ${served.url} --header`);
  expect(document.value).toEqual({ name: 'three', token: expect.any(String), url: served.url });
});

it('A31: serve prints a token for agents, and never the token of the page', async () => {
  const first = await serve([]);
  const manage = readFileSync(join(place.home, 'manage-token'), 'utf8').trim();
  const token = /Bearer (plug_[\w-]+)/.exec(first.printed)?.[1] ?? '';
  const second = await serve([]);
  expect({
    token: await statusAt(first, token),
    manage: await statusAt(first, manage),
    again: await statusAt(second, token),
    isShownAgain: second.printed.includes(token),
    isExplained: [first, second].map(({ printed }) =>
      printed.includes('Use the token of the agent, or add one'),
    ),
    isSecretShown: [first, second].some(({ printed }) => printed.includes(manage)),
    names: [first, second].every(({ printed }) => printed.includes('plugboard token add <name>')),
    mode: statSync(join(place.home, 'manage-token')).mode & 0o777,
  }).toEqual({
    token: [200, 401],
    manage: [401, 200],
    again: [200, 401],
    isShownAgain: false,
    isExplained: [false, true],
    isSecretShown: false,
    names: true,
    mode: 0o600,
  });
});

it('A31: serve names the file of the token of 0.1.0', async () => {
  place.write(join(place.home, 'gateway-token'), `${'t'.repeat(43)}\n`);
  const { printed } = await serve([]);
  expect(printed).toContain(`The token of 0.1.0 is in ${join(place.home, 'gateway-token')}.\n`);
});

it('A45: serve reads its token from PLUGBOARD_TOKEN or a file, and warns about one on the command line', async () => {
  const file = join(place.dir, 'token-of-agents');
  writeFileSync(file, 'from-a-file\n');
  const named = (await place.json(['token', 'add', 'named'])).value as { token: string };
  const ways = [
    { serving: await serve([], { env: { PLUGBOARD_TOKEN: 'from-env' } }), token: 'from-env', warns: false },
    { serving: await serve(['--token-file', file]), token: 'from-a-file', warns: false },
    { serving: await serve(['--token', 'typed']), token: 'typed', warns: true },
  ];
  for (const { serving, token, warns } of ways)
    expect([
      await statusAt(serving, token),
      await statusAt(serving, named.token),
      serving.printed.includes('warning: other users of this machine can see the value of --token'),
    ]).toEqual([[200, 401], [200, 401], warns]);
});

it('A31: serve does not take the token of the page for agents, nor two tokens, nor an empty one', async () => {
  await place.run(['token', 'list']);
  const { printed } = await serve([]);
  expect(printed).toContain('manage-token');
  const file = join(place.home, 'manage-token');
  const empty = join(place.dir, 'empty');
  writeFileSync(empty, '\n');
  const wrong = [
    ['--token-file', file],
    ['--token-file', empty],
    ['--token', 'a', '--token-file', file],
  ];
  for (const flags of wrong)
    expect([flags, (await place.run(['serve', '--http', '0', '--own', ...flags])).status]).toEqual([
      flags,
      2,
    ]);
  expect((await place.run(['serve', '--http', '0.0.0.0:0', '--no-auth'])).status).toBe(2);
});

it('A45: add reads a client secret from the environment, a file or stdin, and warns about one on the command line', async () => {
  const file = join(place.dir, 'secret');
  writeFileSync(file, 'hush-from-file\n');
  const add = (name: string, ...flags: string[]): string[] => [
    'add',
    name,
    `https://${name}.example/mcp`,
    '--client-id',
    'me',
    ...flags,
  ];
  const runs = [
    await place.run(add('env'), { env: { PLUGBOARD_CLIENT_SECRET: 'hush-from-env' } }),
    await place.run(add('file', '--client-secret-file', file)),
    await place.run(add('stdin', '--client-secret-file', '-'), { input: 'hush-from-stdin\n' }),
    await place.run(add('piped', '--client-secret'), { input: 'hush-piped\n' }),
    await place.run(add('typed', '--client-secret', 'hush-typed')),
    await place.run(add('reference', '--client-secret', '${DOCS_SECRET}')),
    await place.run(add('twice', '--client-secret', 'a', '--client-secret-file', file)),
  ];
  const kept = readFileSync(join(place.home, 'credentials.json'), 'utf8');
  expect({
    statuses: runs.map(({ status }) => status),
    warns: runs.map(({ stderr }) => stderr.includes('other users of this machine')),
    kept: ['env', 'from-file', 'from-stdin', 'piped', 'typed'].filter((word) => kept.includes(word)),
    written: readFileSync(place.userFile, 'utf8').includes('hush'),
  }).toEqual({
    statuses: [0, 0, 0, 0, 0, 0, 2],
    warns: [false, false, false, false, true, false, false],
    kept: ['env', 'from-file', 'from-stdin', 'piped', 'typed'],
    written: false,
  });
});
