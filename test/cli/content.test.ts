import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND, FIXTURES, Place } from './command.ts';

let place: Place;
beforeAll(() => {
  place = new Place();
  const fixture = (file: string, ...args: string[]): object => ({
    command: process.execPath,
    args: [join(FIXTURES, file), ...args],
  });
  place.write(place.userFile, {
    firstListWaitMs: 20_000,
    mcpServers: {
      docs: fixture('content-server.mjs'),
      new: fixture('content-server.mjs', 'modern'),
      echo: fixture('echo.mjs'),
      off: { ...fixture('content-server.mjs'), enabled: false },
    },
  });
  place.write(place.projectFile, { mcpServers: { foreign: fixture('content-server.mjs') } });
});
afterAll(() => place.remove());

const A = { uri: 'file:///a.md', mimeType: 'text/markdown', text: '# A\n' };
const SERVERS = ['docs', 'new'];

describe('resources', () => {
  it('CAT-9: shows what servers offer; one that was not approved is not started (A10)', async () => {
    const { status, stdout, stderr } = await place.run(['resources']);
    const offered = [
      '  file:///a.md',
      '    a.md · text/markdown · 4 bytes',
      '    The first.',
      '  file:///p.png',
      '    A picture',
      '  file:///{path}',
      '    template · any file',
    ];
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: `${['docs (3)', ...offered, '', 'new (3)', ...offered].join('\n')}\n`,
    });
    expect(stderr).toMatch(/^warning: skipped foreign: .*trust.*\n$/);
  });

  it.each(SERVERS)('CAT-9: --json has them whole (%s)', async (server) => {
    expect(await place.json(['resources', server])).toEqual({
      status: 0,
      value: {
        resources: [
          {
            server,
            uri: 'file:///a.md',
            name: 'a.md',
            mimeType: 'text/markdown',
            size: 4,
            description: 'The first.',
          },
          { server, uri: 'file:///p.png', name: 'file:///p.png', title: 'A picture' },
        ],
        templates: [{ server, uriTemplate: 'file:///{path}', name: 'any file' }],
      },
    });
  });

  it('a server without any, one that is off and one that is not there', async () => {
    expect(await place.run(['resources', 'echo'])).toEqual({
      status: 0,
      stdout: 'No resources.\n',
      stderr: '',
    });
    expect(await place.json(['resources', 'off'])).toMatchObject({
      status: 5,
      value: { error: { code: 'BLOCKED_BY_POLICY', server: 'off' } },
    });
    expect(await place.json(['resources', 'dosc'])).toMatchObject({
      status: 2,
      value: { error: { code: 'UNKNOWN_SERVER', hint: expect.stringContaining('"docs"') } },
    });
    expect(await place.json(['resources', 'foreign'])).toMatchObject({
      status: 5,
      value: { error: { code: 'UNTRUSTED', server: 'foreign' } },
    });
  });
});

describe('read', () => {
  it.each(SERVERS)('CAT-9: prints text, and contents with --json (%s)', async (server) => {
    expect(await place.run(['read', server, A.uri])).toEqual({ status: 0, stdout: '# A\n', stderr: '' });
    expect(await place.json(['read', server, A.uri])).toEqual({ status: 0, value: { contents: [A] } });
  });

  it('CAT-9: several parts follow each other', async () => {
    expect((await place.run(['read', 'docs', 'file:///dir'])).stdout).toBe('first\nsecond\n');
  });

  it('A15: printed text is cleaned; -o writes what the server sent', async () => {
    const evil = ['read', 'docs', 'file:///evil.txt'];
    expect((await place.run(evil)).stdout).toBe('onetwo\r\n');
    expect(await place.run([...evil, '-o', 'evil.txt'])).toEqual({
      status: 0,
      stdout: '',
      stderr: '16 bytes written to <project>/evil.txt\n',
    });
    expect(readFileSync(join(place.project, 'evil.txt'), 'utf8')).toBe('one\u001b[31m\u202etwo\r\n');
  });

  it('CAT-9: bytes go to a file or a pipe as they are', async () => {
    const bytes = Buffer.from([0, 255, 7, 10]);
    const { status } = await place.run(['read', 'docs', 'file:///p.png', '-o', 'p.png']);
    expect(status).toBe(0);
    expect(readFileSync(join(place.project, 'p.png'))).toEqual(bytes);
    const { child, ended } = place.start(['read', 'docs', 'file:///p.png']);
    const chunks: Buffer[] = [];
    child.stdout
      ?.setEncoding('latin1')
      .on('data', (data: string) => chunks.push(Buffer.from(data, 'latin1')));
    expect((await ended).status).toBe(0);
    expect(Buffer.concat(chunks)).toEqual(bytes);
  });

  it('CAT-9: bytes are refused on a terminal, with the way out', async () => {
    const line = `${process.execPath} ${COMMAND} read docs file:///p.png`;
    // `script` runs a command on a terminal of its own and gives its exit status on.
    const child = spawn('script', ['-qec', line, '/dev/null'], {
      cwd: place.project,
      env: { ...process.env, PLUGBOARD_HOME: place.home, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const shown = text(child.stdout);
    const status = await new Promise((resolve) => child.once('close', resolve));
    expect({ status, shown: await shown }).toEqual({
      status: 2,
      shown: [
        'error: file:///p.png is binary (image/png) and cannot be printed on a terminal',
        'hint:  Write it to a file: plugboard read docs file:///p.png -o FILE',
        '',
      ].join('\r\n'),
    });
  });

  it('reports content that cannot be joined or written', async () => {
    expect(await place.json(['read', 'docs', 'file:///mixed', '-o', 'x'])).toMatchObject({
      status: 2,
      value: { error: { code: 'USAGE', hint: 'Use --json, which prints each part with its address.' } },
    });
    expect(await place.json(['read', 'docs', A.uri, '-o', 'no/such/folder/x'])).toMatchObject({
      status: 2,
      value: { error: { code: 'USAGE', message: expect.stringContaining('(ENOENT)') } },
    });
  });

  it.each(SERVERS)(
    'a resource that is not there is an error with server and address (%s)',
    async (server) => {
      expect(await place.json(['read', server, 'file:///no'])).toEqual({
        status: 2,
        value: {
          error: {
            code: 'INVALID_ARGUMENTS',
            server,
            message: `${server} has no resource "file:///no": No file:///no`,
            hint: `Run plugboard resources ${server} to list them.`,
          },
        },
      });
    },
  );
});

describe('prompts', () => {
  it('CAT-10: shows the prompts of servers', async () => {
    const { status, stdout } = await place.run(['prompts', 'docs']);
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: 'docs (2)\n  greet who [how]\n    Says hello.\n  talk\n',
    });
    expect((await place.run(['prompts', 'echo'])).stdout).toBe('No prompts.\n');
  });

  it('CAT-10: --json has their commands', async () => {
    const { status, value } = await place.json(['prompts']);
    const of = (server: string): object[] => [
      {
        command: `/mcp__${server}__greet`,
        server,
        name: 'greet',
        description: 'Says hello.',
        arguments: [{ name: 'who', required: true }, { name: 'how' }],
      },
      { command: `/mcp__${server}__talk`, server, name: 'talk' },
    ];
    expect({ status, value }).toEqual({ status: 0, value: { prompts: [...of('docs'), ...of('new')] } });
  });
});

describe('prompt', () => {
  it.each(SERVERS)('CAT-10: prints its text, cleaned (%s)', async (server) => {
    expect(await place.run(['prompt', server, 'greet', 'who=you', 'how=Good day'])).toEqual({
      status: 0,
      stdout: 'Good day you\n',
      stderr: '',
    });
    expect((await place.run(['prompt', server, 'greet', '{"who":1}'])).stdout).toBe('Hello 1\n');
  });

  it('CAT-10: a conversation shows the role of each message; --json has everything', async () => {
    expect((await place.run(['prompt', 'docs', 'talk'])).stdout).toBe(
      'user:\nHi\n\nassistant:\nHo\n\nassistant:\n[image: image/png, 3 bytes]\n',
    );
    const { value } = await place.json(['prompt', 'docs', 'talk']);
    expect(value).toEqual({
      description: 'A talk.',
      messages: [
        { role: 'user', content: { type: 'text', text: 'Hi' } },
        { role: 'assistant', content: { type: 'text', text: 'Ho' } },
        { role: 'assistant', content: { type: 'image', mimeType: 'image/png', data: 'AAAA' } },
      ],
    });
  });

  it('CAT-10: reports missing, unknown and misspelt arguments', async () => {
    expect(await place.json(['prompt', 'docs', 'greet'])).toEqual({
      status: 2,
      value: {
        error: {
          code: 'INVALID_ARGUMENTS',
          server: 'docs',
          message: 'The prompt greet of docs needs who',
          hint: 'It takes <who> [how].',
        },
      },
    });
    expect(await place.json(['prompt', 'docs', 'gret'])).toMatchObject({
      status: 2,
      value: { error: { code: 'INVALID_ARGUMENTS', hint: 'Did you mean greet?' } },
    });
    expect(await place.json(['prompt', 'docs', 'greet', 'you'])).toMatchObject({
      status: 2,
      value: { error: { code: 'INVALID_ARGUMENTS', message: 'Cannot parse "you": expected key=value' } },
    });
    expect(await place.json(['prompt', 'echo', 'greet'])).toMatchObject({
      status: 2,
      value: { error: { code: 'INVALID_ARGUMENTS', message: 'echo offers no prompts' } },
    });
  });
});
