/** POL-7 from end to end: a server that prints its secrets everywhere, and all output and files of a host. */

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createHost, type Host, type HostOptions } from '../../src/index.ts';
import { FIXTURE } from '../attacks/naive.ts';

const SECRET = 'sekrit-4711-value';
let dir: string;
const said: unknown[] = [];
const hosts: Host[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'plugboard-redact-'));
  said.length = 0;
});
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
  rmSync(dir, { recursive: true, force: true });
});

async function open(servers: HostOptions['servers'], env: NodeJS.ProcessEnv = process.env): Promise<Host> {
  const host = await createHost({
    home: join(dir, 'home'),
    cwd: dir,
    env,
    watch: false,
    logLevel: 'debug',
    connect: 'none',
    servers,
    approve: () => 'allow',
  });
  hosts.push(host);
  for (const event of ['log', 'server', 'call.begin', 'call.end'] as const)
    host.on(event, (told) => said.push(told));
  return host;
}

const failureOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => {
      said.push(error, (error as { cause?: unknown }).cause);
      return error;
    },
  );

/** All output, and every file that was written. */
function everything(): string {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((file) => join(dir, file))
    .filter((file) => statSync(file).isFile())
    .map((file) => readFileSync(file, 'utf8'));
  return [inspect(said, { depth: 12, maxStringLength: null }), ...files].join('\n');
}

// Protocol: 25-logging-3d, 25-logging-4, 25-logging-5d, 25-sampling-17, 26-logging-7d, 26-logging-8, 26-logging-9d,
// 26-sampling-21
it('a process: stderr, noise, log messages, error answers and its last words', async () => {
  const command = { command: process.execPath, env: { API_KEY: SECRET } };
  const host = await open({
    talks: { ...command, args: [FIXTURE('attack-teller.mjs')] },
    dies: { ...command, args: [FIXTURE('attack-teller.mjs'), 'die'] },
  });
  await host.connect('talks');
  expect(await failureOf(host.call('mcp__talks__tell'))).toMatchObject({
    message: expect.stringContaining('refused: [secret]') as string,
  });
  expect(await failureOf(host.connect('dies'))).toMatchObject({
    message: expect.stringContaining('bad key [secret]') as string,
    detail: { exitCode: 3 },
  });
  said.push(host.servers());
  await host.close();
  expect(everything()).toContain('starting with [secret]');
  expect(everything()).toContain('noise [secret]');
  expect(everything()).not.toContain(SECRET);
});

it('a remote server that answers with the header it was given', async () => {
  const server = createServer((request, response) => {
    response.writeHead(500, { 'content-type': 'text/plain' });
    response.end(`not for ${request.headers.authorization} with ${request.headers['x-key']}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const host = await open(
    {
      far: {
        url: `http://127.0.0.1:${port}/mcp?token=${SECRET}-in-url`,
        bearerTokenEnvVar: 'FAR_TOKEN',
        headers: { 'X-Key': `${SECRET}-in-header` },
      },
    },
    { ...process.env, FAR_TOKEN: `${SECRET}-token` },
  );
  expect(await failureOf(host.connect('far'))).toMatchObject({ code: 'CONNECT_FAILED' });
  said.push(host.servers());
  await host.close();
  expect(everything()).not.toContain(SECRET);
  await new Promise((resolve) => server.close(resolve));
});
