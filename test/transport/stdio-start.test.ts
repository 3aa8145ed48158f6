import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { PlugboardError } from '../../src/errors.ts';
import { createReaper } from '../../src/transport/reaper.ts';
import { createStdioTransport } from '../../src/transport/stdio-transport.ts';
import { onFixture, Recorder } from './stdio-recorder.ts';

const reaper = createReaper({ env: process.env });
const dir = mkdtempSync(join(tmpdir(), 'plugboard-start-'));
afterAll(async () => {
  rmSync(dir, { recursive: true });
  await reaper.close();
});

const env = { PATH: '/usr/bin:/bin' };

/** What a person sees of a start that fails, and that the receiver heard nothing. */
async function failure(options: { command: string; args?: string[]; cwd?: string }): Promise<unknown> {
  const recorder = new Recorder();
  const transport = createStdioTransport({ env, reaper, ...options });
  const error: PlugboardError = await transport.open(recorder).then(
    () => Promise.reject(new Error('it started')),
    (thrown: PlugboardError) => thrown,
  );
  await transport.close();
  expect(recorder.all).toEqual([]);
  return [error.code, error.message, error.hint, error.detail];
}

function file(name: string, text: string, mode: number): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

it('F19: a process that was started ahead and exited before it is used is reported with its exit code', async () => {
  const args = ['-e', 'console.error("no key set"); process.exit(3)'];
  const transport = createStdioTransport({ env, reaper, command: process.execPath, args });
  await transport.start?.();
  const { pid = 0 } = transport;
  await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false);
  const recorder = new Recorder();
  await transport.open(recorder);
  await transport.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} });
  const { error } = await recorder.next('closed');
  expect([error?.code, error?.message]).toEqual(['START_FAILED', expect.stringContaining('code 3')]);
  expect(error?.message).toContain('no key set');
  await transport.close();
});

/** False as soon as the process was reaped, which is when its exit is reported. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('F18: a program that cannot be started is a precise error, and final', () => {
  const final = { permanent: true };

  it('no such command: lists where it looked', async () => {
    expect(await failure({ command: 'no-such-command' })).toEqual([
      'START_FAILED',
      'The command "no-such-command" was not found',
      'Install no-such-command, or give its full path. Looked in /usr/bin, /bin.',
      { ...final, missing: { kind: 'program', name: 'no-such-command' } },
    ]);
  });

  it('no such path', async () => {
    expect(await failure({ command: join(dir, 'nothing') })).toEqual([
      'START_FAILED',
      `There is no program at ${join(dir, 'nothing')}`,
      'Check the path in "command" of the server\'s entry.',
      final,
    ]);
  });

  it('a whole command line, or an address, as the name of the program', async () => {
    expect(await failure({ command: 'npx -y some-server' })).toContain(
      'Give the program and its arguments apart: "command": "npx", "args": ["-y", "some-server"].',
    );
    expect(await failure({ command: 'mcp.example.com/mcp' })).toContain(
      'If it is an address, give it as "url": "https://mcp.example.com/mcp".',
    );
  });

  it('not executable', async () => {
    const path = file('plain.sh', '#!/bin/sh\n', 0o644);
    expect(await failure({ command: path })).toEqual([
      'START_FAILED',
      `${path} may not be executed`,
      'Make it executable (chmod +x), or name its interpreter as the command.',
      final,
    ]);
  });

  it('a folder instead of a program', async () => {
    expect(await failure({ command: dir })).toEqual([
      'START_FAILED',
      `${dir} is a folder, not a program`,
      'Name the program inside it as "command".',
      final,
    ]);
  });

  it('a script whose interpreter is missing', async () => {
    const path = file('odd.sh', '#!/no/such/interpreter\n', 0o755);
    expect(await failure({ command: path })).toEqual([
      'START_FAILED',
      `${path} exists, but the program that its first line names does not`,
      'Install the interpreter of its "#!" line, or name the interpreter as the command.',
      final,
    ]);
  });

  it('no such working folder', async () => {
    expect(await failure({ command: 'sh', cwd: join(dir, 'gone') })).toEqual([
      'START_FAILED',
      `The working folder ${join(dir, 'gone')} does not exist`,
      'Create it, or correct "cwd" in the server\'s entry.',
      final,
    ]);
  });

  it('a working folder that is a file', async () => {
    const path = file('file.txt', '', 0o644);
    expect(await failure({ command: 'sh', cwd: path })).toEqual([
      'START_FAILED',
      `The working folder ${path} is a file`,
      'Give a folder as "cwd" in the server\'s entry.',
      final,
    ]);
  });

  it('a zero byte in an argument', async () => {
    expect(await failure({ command: 'sh', args: ['a\0b'] })).toEqual([
      'START_FAILED',
      'The command, an argument or a variable holds a zero byte',
      'Correct the entry.',
      final,
    ]);
  });
});

describe('a server that exits before it answered', () => {
  async function exit(code: number, stderr: string): Promise<PlugboardError> {
    const { transport, recorder } = onFixture(reaper, ['stdio-exit.mjs', String(code), stderr]);
    await transport.open(recorder);
    const { error } = await recorder.next('closed');
    await transport.close();
    if (!error) throw new Error('it closed without an error');
    return error;
  }

  it('F19: its exit code and stderr tail are in the error, which may be tried again', async () => {
    const error = await exit(3, 'starting\nError: API_KEY is not set\n    at main.js:1\nNode.js v20');
    expect([error.code, error.message, error.detail]).toEqual([
      'START_FAILED',
      'The server exited with code 3 before it answered: Error: API_KEY is not set',
      { exitCode: 3, stderr: 'starting\nError: API_KEY is not set\nat main.js:1\nNode.js v20' },
    ]);
  });

  it('F19: silent and content, it may be no server at all', async () => {
    const error = await exit(0, '');
    expect([error.code, error.message, error.hint, error.detail]).toEqual([
      'START_FAILED',
      'The server exited with code 0 before it answered',
      'This may not be a stdio MCP server, or it may need different arguments.',
      { exitCode: 0 },
    ]);
  });

  it.each([
    [
      'F60: a port that is taken',
      'Error: listen EADDRINUSE: address already in use :::3000',
      'Port 3000 that the server needs is already in use. End the program that uses it (perhaps an earlier copy of this server), or give the server another port.',
    ],
    [
      'F60: a port of one address that is taken',
      'Error: listen EADDRINUSE: address already in use 127.0.0.1:18201',
      'Port 18201 that the server needs is already in use. End the program that uses it (perhaps an earlier copy of this server), or give the server another port.',
    ],
    [
      'a version that a package does not have',
      'npm error code ETARGET\nnpm error notarget No matching version found for some-server@9.9.9.',
      'npm has no such version (some-server@9.9.9). Check the version in "args".',
    ],
    [
      'F60: a port that is taken, as Python says it',
      'OSError: [Errno 98] Address already in use',
      'The port that the server needs is already in use. End the program that uses it (perhaps an earlier copy of this server), or give the server another port.',
    ],
    [
      'an npm package that does not exist',
      "npm error code E404\nnpm error 404 Not Found - GET /no-such-package\nnpm error 404  'no-such-package@*' is not in this registry.",
      'npm does not know the package no-such-package@*. Check its name and version in "args".',
    ],
    [
      'a file that is not there',
      "Error: Cannot find module '/srv/dist/index.js'",
      'There is no file /srv/dist/index.js. Check the path in "args", and "cwd" if it is relative; build the server if that file is built.',
    ],
    [
      'a module that is not installed',
      "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'zod' imported from /srv/index.js",
      'The module zod is not installed. Run "npm install" in the server\'s folder.',
    ],
    [
      'a Python module that is not installed',
      "ModuleNotFoundError: No module named 'mcp'",
      'The Python module mcp is not installed for the interpreter that "command" names.',
    ],
    [
      'Node too old',
      'Error [ERR_UNKNOWN_BUILTIN_MODULE]: No such built-in module: node:sqlite',
      `The server needs another version of Node.js; this is ${process.version}, unless "command" names one.`,
    ],
    [
      'a program missing inside a shell command',
      'sh: 1: uvx: not found',
      'The program uvx is not installed, or not in the PATH that the server gets.',
    ],
  ])('%s leads to its hint', async (_what, stderr, hint) => {
    expect((await exit(1, stderr)).hint).toBe(hint);
  });

  it.each([
    [
      "/srv/a.mjs:3\nthrow new Error('boom');\n      ^\n\nError: boom at start\n    at Object.<anonymous> (/srv/a.mjs:3:7)\n\nNode.js v20.20.2",
      'Error: boom at start',
    ],
    [
      "node:events:495\n      throw er; // Unhandled 'error' event\n      ^\n\nError: connect ECONNREFUSED 127.0.0.1:5432\n    at TCPConnectWrap\n\nNode.js v20.20.2",
      'Error: connect ECONNREFUSED 127.0.0.1:5432',
    ],
    [
      "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.\nSee 'docker run --help'.",
      'docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.',
    ],
    ['Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: \'TOKEN\'', "KeyError: 'TOKEN'"],
    ['API_KEY is not set', 'API_KEY is not set'],
  ])('the message quotes the cause, not the source line of %j', async (stderr, cause) => {
    expect((await exit(1, stderr)).message).toBe(
      `The server exited with code 1 before it answered: ${cause}`,
    );
  });
});
