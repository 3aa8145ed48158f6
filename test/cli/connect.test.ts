import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FIXTURES, Place } from './command.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

const fixture = (file: string): { command: string; args: string[] } => ({
  command: process.execPath,
  args: [join(FIXTURES, file)],
});
const DIES = {
  command: process.execPath,
  args: ['-e', 'console.error("no luck\\u001b[31m"); process.exit(3)'],
};

const echoLine = [process.execPath, join(FIXTURES, 'echo.mjs')].join(' ');

/** Servers have as long as they need on a busy machine. */
const configure = (mcpServers: object): void =>
  place.write(place.userFile, { mcpServers, firstListWaitMs: 20_000 });

/** Times differ from run to run; everything else is compared. */
const timeless = (text: string): string => text.replace(/ +\d+ ms/g, ' N ms');

/** Without the commands at the ends of rows. */
const rows = (text: string): string =>
  text.replaceAll(new RegExp(`  +(?:${process.execPath} .*|x)$`, 'gm'), '');

describe('list', () => {
  it('CON-6, F13: prints servers in the order of the configuration, whichever settles first', async () => {
    configure({
      hangs: { ...fixture('cli-silent.mjs'), startupTimeoutMs: 5000 },
      legacy: fixture('echo.mjs'),
      off: { command: 'x', enabled: false },
    });
    const { status, stdout, stderr } = await place.run(['list']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const lines = timeless(rows(stdout)).trimEnd().split('\n');
    expect(lines).toEqual([
      '✖ hangs   stdio  user     failed',
      expect.stringMatching(/^ {4}\S.*5 s/),
      expect.stringMatching(/^ {4}hint: /),
      '✔ legacy  stdio  user       5 tools  2025-11-25 legacy N ms',
      '· off     stdio  user     disabled',
      '1 connected, 1 failed, 1 disabled',
    ]);
  });

  it('CAT-4: --no-connect knows how many tools a server had, until its entry is another', async () => {
    const before = await place.run(['list', '--no-connect', '--server', `echo=${echoLine}`]);
    configure({ echo: fixture('echo.mjs'), off: { ...fixture('echo.mjs'), enabled: false } });
    await place.run(['list']);
    const known = await place.run(['list', '--no-connect']);
    expect({ before: rows(before.stdout), known: rows(known.stdout) }).toEqual({
      before: '· echo  stdio  code     idle\n',
      known: '· echo  stdio  user     idle, 5 tools known\n· off   stdio  user     disabled\n',
    });
    expect((await place.json(['list', '--no-connect'])).value).toMatchObject({
      servers: [{ name: 'echo', status: 'idle', tools: 5 }, { tools: 0 }],
    });
    configure({ echo: fixture('modern.mjs') });
    expect(rows((await place.run(['list', '--no-connect'])).stdout)).toBe('· echo  stdio  user     idle\n');
  });

  it('F19: shows reason, hint and the cleaned tail of stderr under a failed server', async () => {
    configure({ dies: DIES });
    const { status, stdout } = await place.run(['list']);
    expect(status).toBe(0);
    expect(rows(stdout)).toContain('✖ dies  stdio  user     failed\n    The server exited with code 3');
    expect(stdout).toContain('    hint: ');
    expect(stdout).toContain('    │ no luck\n');
    expect(stdout).not.toContain('\u001b');
  });

  it('is one document with --json, servers in the order of the configuration', async () => {
    configure({ dies: DIES, modern: fixture('modern.mjs'), legacy: fixture('echo.mjs') });
    const { status, value } = await place.json(['list']);
    const base = { scope: 'user', transport: 'stdio', command: expect.stringContaining(process.execPath) };
    const alive = {
      ...base,
      status: 'connected',
      tools: 5,
      connectMs: expect.any(Number),
      pid: expect.any(Number),
    };
    expect({ status, value }).toEqual({
      status: 0,
      value: {
        servers: [
          {
            ...base,
            name: 'dies',
            status: 'failed',
            error: {
              code: 'START_FAILED',
              message: expect.stringContaining('code 3'),
              hint: expect.any(String),
              stderr: 'no luck',
            },
            tools: 0,
          },
          { ...alive, name: 'modern', protocolVersion: '2026-07-28', era: 'modern' },
          { ...alive, name: 'legacy', protocolVersion: '2025-11-25', era: 'legacy' },
        ],
        problems: [],
      },
    });
  });

  it('CON-9: ends with 3 when a required server failed', async () => {
    configure({ dies: { ...DIES, required: true }, legacy: fixture('echo.mjs') });
    const { status, stderr } = await place.run(['list']);
    expect({ status, stderr }).toEqual({ status: 3, stderr: 'error: required but not connected: dies\n' });
    expect(await place.json(['list'])).toMatchObject({
      status: 3,
      value: {
        servers: [
          { name: 'dies', status: 'failed' },
          { name: 'legacy', status: 'connected' },
        ],
      },
    });
  });

  it('A10: nothing of a project is started before consent', async () => {
    const witness = join(place.project, 'ran');
    place.write(place.projectFile, {
      mcpServers: {
        theirs: {
          command: process.execPath,
          args: ['-e', `require('fs').writeFileSync(${JSON.stringify(witness)}, '')`],
        },
      },
    });
    const { status, value } = await place.json(['list']);
    expect({ status, value }).toMatchObject({
      status: 0,
      value: { servers: [{ name: 'theirs', status: 'untrusted', error: { code: 'UNTRUSTED' } }] },
    });
    for (const args of [
      ['test', 'theirs'],
      ['tools', 'theirs'],
      ['call', 'theirs', 'x'],
    ]) {
      expect(await place.json(args)).toMatchObject({
        status: 5,
        value: {
          error: {
            code: 'UNTRUSTED',
            server: 'theirs',
            hint: expect.stringContaining('plugboard trust theirs'),
          },
        },
      });
    }
    expect(place.read(witness)).toBeUndefined();
  });
});

describe('test', () => {
  it('shows each phase with its time, and what was negotiated', async () => {
    configure({ legacy: fixture('echo.mjs') });
    const { status, stdout, stderr } = await place.run(['test', 'legacy']);
    expect({ status, stderr, stdout: timeless(stdout) }).toEqual({
      status: 0,
      stderr: '',
      stdout: [
        'legacy (stdio, user scope)',
        '  ✔  config N ms',
        '  ✔  start N ms',
        '  ✔  negotiate N ms',
        '  ✔  list N ms',
        'Connected in N ms: protocol 2025-11-25 (legacy), 5 tools.',
        '',
      ].join('\n'),
    });
    const { value } = await place.json(['test', 'legacy']);
    const ok = (name: string): object => ({ name, ms: expect.any(Number), ok: true });
    expect(value).toEqual({
      server: expect.objectContaining({ name: 'legacy', status: 'connected', era: 'legacy', tools: 5 }),
      phases: [ok('config'), ok('start'), ok('negotiate'), ok('list')],
    });
  });

  it('F19: reports which phase failed, with the end of stderr, and exits with 3', async () => {
    configure({ dies: DIES });
    const { status, value } = await place.json(['test', 'dies']);
    expect({ status, value }).toEqual({
      status: 3,
      value: {
        server: expect.objectContaining({ name: 'dies', status: 'failed' }),
        phases: expect.arrayContaining([
          { name: 'config', ms: expect.any(Number), ok: true },
          expect.objectContaining({ ok: false, detail: expect.stringContaining('code 3') }),
        ]),
        stderr: 'no luck',
        error: expect.objectContaining({ code: 'START_FAILED', server: 'dies' }),
      },
    });
    const human = await place.run(['test', 'dies']);
    expect(human.status).toBe(3);
    expect(human.stdout).toContain('✖');
    expect(human.stdout).toMatch(
      /start .*\n.*negotiate .*\n.*start .*second attempt, for a server of an older version\n/,
    );
    expect(human.stderr).toMatch(
      /^error: .*code 3.*\nhint: {2}.*\nlast lines of its stderr:\n {2}no luck\n$/,
    );
  });

  it('CFG-4: a variable that is not set is a failed config phase', async () => {
    configure({ unset: { ...fixture('echo.mjs'), env: { A: `\${NOT_SET_HERE}` } } });
    expect(await place.json(['test', 'unset'])).toMatchObject({
      status: 2,
      value: {
        phases: [{ name: 'config', ok: false, detail: expect.stringContaining('NOT_SET_HERE') }],
        error: { code: 'CONFIG_INVALID', server: 'unset' },
      },
    });
  });
});

describe('tools and search', () => {
  it('list tools by server, with what they take', async () => {
    configure({ cli: fixture('cli-server.mjs') });
    expect(await place.run(['tools', 'cli'])).toEqual({
      status: 0,
      stdout: [
        'cli (4)',
        '  args [count] [ratio] [on] [text] [list] [either] [level]',
        '    Gives its arguments back as JSON.',
        '  evil',
        '    Red alert gnp',
        '  media',
        '    An image, a sound and a link.',
        '  structured',
        '    Structured content only.',
        '',
      ].join('\n'),
      stderr: '',
    });
  });

  it('name the servers that are missing from all tools on stderr', async () => {
    configure({ dies: DIES, legacy: fixture('echo.mjs') });
    const { status, value } = await place.json(['tools']);
    expect(status).toBe(0);
    expect((value as { tools: { name: string }[] }).tools.map(({ name }) => name)).toEqual([
      'mcp__legacy__add',
      'mcp__legacy__crash',
      'mcp__legacy__echo',
      'mcp__legacy__fail',
      'mcp__legacy__wait',
    ]);
    expect((await place.run(['tools'])).stderr).toMatch(/^warning: skipped dies, which failed last time/);
  });

  it('find a tool by what it does', async () => {
    configure({ legacy: fixture('echo.mjs') });
    expect(await place.json(['search', 'sum', 'of', 'two', 'numbers', '-n', '1'])).toEqual({
      status: 0,
      value: {
        results: [
          {
            name: 'mcp__legacy__add',
            server: 'legacy',
            tool: 'add',
            description: 'Adds two numbers.',
            score: expect.any(Number),
            relevance: 1,
            inputSchema: expect.objectContaining({ required: ['a', 'b'] }),
            call: 'plugboard call legacy add a=1 b=1',
            why: [{ field: 'description', words: ['two', 'numbers'] }],
          },
        ],
      },
    });
    const { stdout } = await place.run(['search', 'two', 'numbers', '-n', '1', '--verbose']);
    expect(stdout).toBe(
      'legacy add a b\n  Adds two numbers.\n  why: description: two, numbers\n  plugboard call legacy add a=1 b=1\n',
    );
  });
});
