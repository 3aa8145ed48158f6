import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Check, checkedServerOf, type DoctorContext } from '../../src/doctor/check.ts';
import { checkNode, isFull } from '../../src/doctor/machine-checks.ts';
import { checkVersion } from '../../src/doctor/program-checks.ts';
import { COMMAND, FIXTURES, Place } from '../cli/command.ts';

const run = promisify(execFile);

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

const fixture = (file: string, ...args: string[]): { command: string; args: string[] } => ({
  command: process.execPath,
  args: [join(FIXTURES, file), ...args],
});

/** Hides the other agents of the person who runs the tests. */
const elsewhere = (): { env: Record<string, string> } => ({ env: { HOME: place.dir } });

async function checks(server?: string): Promise<Check[]> {
  const { status, value } = await place.json(['doctor'], elsewhere());
  const all = (value as { checks: Check[] }).checks;
  expect(status).toBe(all.some(({ level }) => level === 'error') ? 1 : 0);
  expect(all.every(({ ok, level }) => ok === (level === undefined))).toBe(true);
  return all.filter((check) => check.server === server).map(({ level: _, ...check }) => check);
}

it('a disk without room for a small file is full; a file system without blocks reports nothing', () => {
  const disk = { bsize: 4_096, blocks: 1_000 };
  expect([
    isFull({ ...disk, bavail: 3 }),
    isFull({ ...disk, bavail: 900 }),
    isFull({ bsize: 4_096, blocks: 0, bavail: 0 }),
  ]).toEqual([true, false, false]);
});

describe('UI-4: doctor', () => {
  it('of an empty place finds no problems, and shows the next step', async () => {
    const { status, stdout, stderr } = await place.run(['doctor'], elsewhere());
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    // Other programs on the machine may have left processes; another test is about those.
    const lines = stdout.split('\n').filter((line) => !/orphaned|without a host|them with ps/.test(line));
    expect(lines).toEqual([
      `✔ Node ${process.versions.node}`,
      '✔ There is no configuration file yet',
      '  hint: Add a server with plugboard add, or import those of other agents with plugboard import.',
      expect.stringMatching(/^✔ <home> /),
      '✔ PLUGBOARD_CREDENTIALS is set: logins are stored in <home>/credentials.json (mode 0600)',
      '✔ The daemon is not running; it is started when needed',
      '',
      expect.stringMatching(/^No problems found(?:, 1 suggestion)?\.$/),
      '',
    ]);
  });

  it('F18: examines one server, marks advice apart from errors, and ends with 1 for errors only', async () => {
    place.write(place.userFile, {
      mcpServers: {
        twin: fixture('echo.mjs'),
        echo: fixture('echo.mjs'),
        dies: fixture('stdio-exit.mjs', '3'),
      },
    });
    const [advice, error, all, unknown] = await Promise.all([
      place.run(['doctor', 'echo'], elsewhere()),
      place.json(['doctor', 'dies'], elsewhere()),
      place.run(['doctor'], elsewhere()),
      place.run(['doctor', 'nope'], elsewhere()),
    ]);
    expect({ ...advice, stdout: advice.stdout.split('\n') }).toEqual({
      status: 0,
      stderr: '',
      stdout: [
        'echo',
        expect.stringMatching(/^✔ Command found/),
        expect.stringMatching(/^✔ Connected in/),
        '! Same as "twin"',
        '  hint: Remove one of them: plugboard remove echo',
        '',
        'No problems found, 1 suggestion.',
        '',
      ],
    });
    expect(error).toMatchObject({
      status: 1,
      value: { checks: [{ id: 'command' }, { id: 'connect', server: 'dies', ok: false, level: 'error' }] },
    });
    expect(all).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/\n1 problem found, \d suggestions?\.\n$/),
    });
    expect(unknown.status).toBe(2);
  });

  it('CFG-3: problems of the configuration have their file and line', async () => {
    place.write(place.userFile, '{ "mcpServers": {\n  "files": { "comand": "x" } } }');
    expect(await checks('files')).toEqual([
      {
        id: 'config',
        server: 'files',
        ok: false,
        message: '<home>/config.json:2:3: It has neither a "command" nor a "url"',
        hint: 'Did you mean "command"?',
      },
      {
        id: 'config',
        server: 'files',
        ok: false,
        message: '<home>/config.json:2:14: "comand" is not a known key and has no effect',
        hint: 'Did you mean "command"?',
      },
    ]);
  });

  it('a command that is not there: where it looked, and how to install it; a path that is wrong', async () => {
    place.write(place.userFile, {
      mcpServers: {
        missing: { command: 'uvx', args: ['some-server@1.0.0'], env: { PATH: '/nowhere' } },
        wrong: { command: './build/server' },
      },
    });
    expect(await checks('missing')).toEqual([
      {
        id: 'command',
        server: 'missing',
        ok: false,
        message: '"uvx" was not found; looked in /nowhere',
        hint: 'It comes with uv: see https://docs.astral.sh/uv for how to install it.',
      },
      { id: 'version', server: 'missing', ok: true, message: 'It runs some-server@1.0.0' },
    ]);
    expect(await checks('wrong')).toEqual([
      {
        id: 'config',
        server: 'wrong',
        ok: false,
        message:
          '<home>/config.json: "./build/server" is a relative path, and wrong starts in a private folder, not in the project',
        hint: expect.stringContaining('"${PROJECT_DIR}/build/server"'),
      },
      {
        id: 'command',
        server: 'wrong',
        ok: false,
        message: 'There is no program at <home>/folders/wrong/build/server',
        hint: 'Correct the path in "command": write an absolute one, or ${PROJECT_DIR}/… for a program of the project.',
      },
    ]);
  });

  it('a server that is well, one that is switched off, and the same one twice', async () => {
    const echo = fixture('echo.mjs');
    place.write(place.userFile, { mcpServers: { echo, off: { command: 'x', enabled: false }, twin: echo } });
    const program = { id: 'command', ok: true, message: `Command found: ${process.execPath}` };
    const connect = {
      id: 'connect',
      ok: true,
      message: expect.stringMatching(/^Connected in \d+ ms: protocol 2025-11-25 \(legacy\), 5 tools$/),
    };
    expect(await checks('echo')).toEqual([
      { ...program, server: 'echo' },
      { ...connect, server: 'echo' },
    ]);
    expect(await checks('off')).toEqual([{ id: 'admission', server: 'off', ok: true, message: 'Disabled' }]);
    expect((await checks('twin')).at(-1)).toEqual({
      id: 'duplicate',
      server: 'twin',
      ok: false,
      message: 'Same as "echo"',
      hint: 'Remove one of them: plugboard remove twin',
    });
  });

  it('a program that may not be executed is distinguished from a missing one', async () => {
    place.write(join(place.dir, 'plain.sh'), '#!/bin/sh');
    place.write(place.userFile, { mcpServers: { plain: { command: join(place.dir, 'plain.sh') } } });
    expect((await checks('plain'))[0]).toMatchObject({
      id: 'command',
      ok: false,
      message: expect.stringMatching(/plain\.sh is not executable$/),
      hint: 'Make it executable (chmod +x), or name its interpreter as "command".',
    });
  });

  it('reports what was tried and what came back: a port in use, without the secrets of the entry', async () => {
    const taken = fixture('stdio-exit.mjs', '1', 'Error: listen EADDRINUSE: address already in use :::7777');
    place.write(place.userFile, {
      mcpServers: { taken: { ...taken, args: [...taken.args, '--token=hunter22hunter22'] } },
    });
    const [, connect] = await checks('taken');
    expect(connect).toMatchObject({ id: 'connect', ok: false, hint: expect.stringContaining('Port 7777') });
    expect(connect?.message).toMatch(
      /^Starting .*: The server exited with code 1 before it answered: Error: listen/,
    );
    expect(JSON.stringify(connect)).not.toContain('hunter22');
  });

  it('left out, poisoned and shortened tools', async () => {
    place.write(place.userFile, { mcpServers: { odd: fixture('doctor-odd.mjs') } });
    const found = (await checks('odd')).filter(({ ok }) => !ok);
    expect(found.map(({ id, hint }) => ({ id, hint: hint !== undefined }))).toEqual([
      { id: 'tools', hint: true },
      { id: 'names', hint: true },
      { id: 'scan', hint: true },
    ]);
    expect(found.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^1 tool left out: hopeless \(/),
      expect.stringContaining('a_name_that_goes_on_and_on'),
      expect.stringContaining('poisoned: '),
    ]);
  });

  it('A13: a server of the project that was not approved is not started', async () => {
    const proof = join(place.dir, 'started');
    place.write(place.projectFile, {
      mcpServers: {
        theirs: { command: process.execPath, args: ['-e', `require("fs").writeFileSync("${proof}","")`] },
      },
    });
    expect(await checks('theirs')).toEqual([
      {
        id: 'admission',
        server: 'theirs',
        ok: false,
        message:
          'Not started: theirs is defined in <project>/.mcp.json and has not been approved on this machine',
        hint: 'Review and approve it: plugboard trust theirs',
      },
      { id: 'command', server: 'theirs', ok: true, message: `Command found: ${process.execPath}` },
    ]);
    expect(existsSync(proof)).toBe(false);
  });

  it('3 when a required server is not there', async () => {
    place.write(place.userFile, { mcpServers: { needed: { command: './nothing', required: true } } });
    expect((await place.json(['doctor'], elsewhere())).status).toBe(3);
  });

  it('CFG-6: a server that another agent has in addition to Plugboard itself', async () => {
    const echo = fixture('echo.mjs');
    place.write(place.userFile, { mcpServers: { echo } });
    place.write(join(place.dir, '.cursor', 'mcp.json'), {
      mcpServers: { plugboard: { command: 'plugboard', args: ['serve'] }, mine: echo },
    });
    expect((await checks('echo')).at(-1)).toMatchObject({
      id: 'duplicate',
      ok: false,
      message: expect.stringMatching(
        /^Cursor also has it, as "mine" in .*mcp\.json, in addition to Plugboard$/,
      ),
    });
  });

  // In a process table of its own: what outlived its host here is seen by no other test's doctor.
  it('F2: processes that outlived their host', async () => {
    const script = `(PLUGBOARD_OWNER=${randomUUID()}.1 sleep 300 >/dev/null & echo $!); exec "$@"`;
    const apart = '--dev-bind / / --proc /proc --unshare-pid --die-with-parent -- sh -c'.split(' ');
    const doctor = [process.execPath, COMMAND, '--json', 'doctor'];
    const { stdout } = await run('bwrap', [...apart, script, 'sh', ...doctor], {
      cwd: place.project,
      env: { ...process.env, ...elsewhere().env, PLUGBOARD_HOME: place.home, PLUGBOARD_CREDENTIALS: 'file' },
    });
    const [pid = '', ...report] = stdout.split('\n');
    const { checks } = JSON.parse(report.join('\n')) as { checks: Check[] };
    expect(checks.find(({ id }) => id === 'leftovers')).toMatchObject({
      ok: false,
      message: `1 process of servers without a host: ${pid}`,
      hint: expect.stringMatching(new RegExp(`\\b${pid}\\b`)),
    });
  });
});

describe('UI-4: doctor asks remote servers', () => {
  let server: Server;
  let respond: { readonly status: number; readonly type: string; readonly body: string };
  let url: string;
  beforeEach(async () => {
    server = createServer((_request, response) => {
      response.writeHead(respond.status, { 'content-type': respond.type });
      response.end(respond.body);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  it('a web page where MCP should be', async () => {
    respond = { status: 200, type: 'text/html', body: '<html><title>Sign in</title></html>' };
    place.write(place.userFile, { mcpServers: { docs: { url } } });
    const [connect] = await checks('docs');
    expect(connect).toMatchObject({ id: 'connect', ok: false, hint: expect.any(String) });
    expect(connect?.message).toContain(`Connecting to ${url}: `);
  });

  it('401: the one thing to do is to log in', async () => {
    respond = { status: 401, type: 'application/json', body: '{}' };
    place.write(place.userFile, { mcpServers: { docs: { url } } });
    const [connect] = await checks('docs');
    expect(connect).toMatchObject({ id: 'connect', ok: false, hint: expect.stringMatching(/log ?in/i) });
  });
});

describe('UI-4: single checks', () => {
  it.each([
    ['20.18.0', false],
    ['18.20.1', false],
    ['20.19.0', true],
    ['22.1.0', true],
  ])('Node %s: %s', (version, ok) => {
    expect(checkNode(version).ok).toBe(ok);
  });

  const isPinned = (command: string, args: readonly string[]): boolean | undefined => {
    const spec = { name: 's', scope: 'user', entry: { command, args }, raw: {}, baseDir: '/' } as const;
    const report = { name: 's', scope: 'user', transport: 'stdio', status: 'idle', tools: 0 } as const;
    const reports = new Map([['s', report]]);
    const patient = { reports, env: {}, tools: [], findings: new Map() } as unknown as DoctorContext;
    const its = checkedServerOf(spec, patient);
    return its === undefined ? undefined : checkVersion(its)?.ok;
  };

  it.each([
    ['npx', ['-y', '@scope/server'], false],
    ['npx', ['-y', '@scope/server@latest'], false],
    ['npx', ['-y', '@scope/server@1.2.3'], true],
    ['npx', ['--package=thing@1.2.3', 'run'], true],
    ['/usr/bin/npx', ['-p', 'thing', 'run'], false],
    ['npx', ['./local'], undefined],
    ['pnpm', ['dlx', 'thing'], false],
    ['pnpm', ['start'], undefined],
    ['uvx', ['mcp-server-git'], false],
    ['uvx', ['mcp-server-git@2025.1.1'], true],
    ['uvx', ['--from', 'git+https://example.com/x', 'x'], undefined],
    ['uv', ['tool', 'run', 'thing==1.0'], true],
    ['node', ['server.js'], undefined],
  ])('%s %j shows which version it runs: %s', (command, args, expected) => {
    expect(isPinned(command, args)).toBe(expected);
  });
});
