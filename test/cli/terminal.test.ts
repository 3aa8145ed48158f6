import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FIXTURES, Place } from './command.ts';
import { onTerminal, type TerminalOptions } from './on-terminal.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

const ECHO = { command: process.execPath, args: [join(FIXTURES, 'echo.mjs')] };
const HIDE_CURSOR = '\u001b[?25l';
const SHOW_CURSOR = '\u001b[?25h';
const GREEN = '\u001b[32m';
const FAINT = '\u001b[2m';
const PLAIN = '\u001b[39m';

describe('on a terminal', () => {
  it('list draws its rows in place, in colour, and gives the cursor back', async () => {
    place.write(place.userFile, { mcpServers: { echo: ECHO, off: { command: 'x', enabled: false } } });
    const { status, screen } = await onTerminal(place, ['list']);
    expect(status).toBe(0);
    expect(screen).toContain(HIDE_CURSOR);
    expect(screen.lastIndexOf(SHOW_CURSOR)).toBeGreaterThan(screen.lastIndexOf(HIDE_CURSOR));
    // The first frame has both rows in the order of the configuration, one of them waiting.
    expect(screen).toMatch(/connecting….*\r\n.*echo\.mjs.*\r\n.*off .* disabled/);
    expect(screen).toContain(`${GREEN}✔${PLAIN} echo  stdio  user       5 tools  2025-11-25 legacy`);
    expect(screen).toMatch(/1 connected, 1 disabled/);
  });

  it('UI-1: plugboard alone shows the state of servers, starts nothing, and shows the next step', async () => {
    const first = await onTerminal(place, []);
    expect(first.screen).toContain('No servers are configured here.');
    expect(first.screen).toContain('plugboard import --dry-run');
    place.write(place.userFile, { mcpServers: { echo: ECHO, off: { command: 'x', enabled: false } } });
    const plain = { env: { NO_COLOR: '1' } };
    expect(await onTerminal(place, [], plain)).toEqual({
      status: 0,
      screen: [
        '· echo  stdio  user     idle',
        '· off   stdio  user     disabled',
        '',
        '1 idle, 1 disabled; 0 tools known',
        '',
        'Next:  plugboard list    connect to all of them',
        '       plugboard --help  show all commands',
        '',
      ].join('\r\n'),
    });
    await place.run(['list']);
    const known = await onTerminal(place, [], plain);
    expect(known.screen).toContain('idle, 5 tools known');
    expect(known.screen).toContain('Next:  plugboard search <words>');
    place.write(place.projectFile, { mcpServers: { theirs: ECHO } });
    expect((await onTerminal(place, [], plain)).screen).toContain('Next:  plugboard trust ');
  });

  it('UI-1: shows what it waits for after half a second, and removes that line afterwards', async () => {
    const silent = {
      command: process.execPath,
      args: [join(FIXTURES, 'cli-silent.mjs')],
      startupTimeoutMs: 2000,
    };
    place.write(place.userFile, { mcpServers: { echo: ECHO, silent } });
    const { status, screen } = await onTerminal(place, ['tools']);
    expect(status).toBe(0);
    expect(screen).toMatch(/connecting [━╌]+ \d\/2 (?:echo, )?silent/);
    const [left = ''] = screen.split('\u001b[2K').slice(-1);
    expect(left).not.toContain('━');
    expect(left).toContain('echo');
  });

  it('CAL-4: call shows how far it is, and takes that away when the answer is there', async () => {
    const worker = { command: process.execPath, args: [join(FIXTURES, 'cli-slow.mjs')] };
    place.write(place.userFile, { mcpServers: { worker } });
    const { status, screen } = await onTerminal(place, ['call', 'worker', 'slow', 'steps:=2']);
    expect(status).toBe(0);
    expect(screen).toContain(`slow ${'━'.repeat(12)}${'╌'.repeat(12)} 1/2 step 1 of 2`);
    // The line is cleared last, so that only the answer stays.
    const [left = ''] = screen.split('\u001b[2K').slice(-1);
    expect(left).not.toContain('━');
    expect(left.trim()).not.toBe('');
    const piped = await place.run(['call', 'worker', 'slow', 'steps:=1']);
    expect(piped).toMatchObject({ status: 0, stderr: '' });
  });

  it.each([
    ['NO_COLOR', '1'],
    ['CI', 'true'],
    ['TERM', 'dumb'],
  ])('%s: no colour, no spinner, and questions in plain lines', async (name, value) => {
    place.write(place.userFile, { mcpServers: { echo: ECHO } });
    const env = { [name]: value };
    const listed = await onTerminal(place, ['list'], { env });
    expect(listed.screen).not.toContain('\u001b');
    place.write(place.projectFile, { mcpServers: { theirs: ECHO } });
    const after = 'Approve theirs and let it run on this machine? [y/N] ';
    const answer = (type: string): TerminalOptions => ({ env, answers: [{ after, type }] });
    for (const no of ['n\r', '\r', '\u0004']) {
      const refused = await onTerminal(place, ['call', 'theirs', 'echo', 'message=hi'], answer(no));
      expect(refused.screen).not.toContain('\u001b');
      expect(refused.status).not.toBe(0);
    }
    expect((await place.json(['trust'])).value).toMatchObject({ servers: [{ state: 'unknown' }] });
    const agreed = await onTerminal(place, ['trust', 'theirs'], answer('maybe\ry\r'));
    expect(agreed.screen).toContain('Enter y or n.');
    expect((await place.json(['trust'])).value).toMatchObject({ servers: [{ state: 'trusted' }] });
  });

  it('B32: FORCE_COLOR colours what goes into a pipe, and 0 takes the colours off a terminal', async () => {
    place.write(place.userFile, { mcpServers: { off: { command: 'x', enabled: false } } });
    const piped = await place.run(['list', '--no-connect'], { env: { FORCE_COLOR: '1' } });
    expect(piped.stdout).toContain(`${FAINT}·`);
    const document = await place.run(['--json', 'list', '--no-connect'], { env: { FORCE_COLOR: '1' } });
    expect(document.stdout).not.toContain('\u001b');
    const plain = await onTerminal(place, ['list', '--no-connect'], { env: { FORCE_COLOR: '0' } });
    expect(plain.screen).not.toContain('\u001b[');
  });

  it.each([
    ['LANG', 'C'],
    ['LC_ALL', 'POSIX'],
    ['LC_CTYPE', 'de_DE.ISO-8859-1'],
  ])('B32: %s=%s gets marks in ASCII, on a terminal and in a pipe', async (name, value) => {
    const broken = { command: process.execPath, args: ['-e', 'console.error("no"); process.exit(3)'] };
    place.write(place.userFile, { mcpServers: { echo: ECHO, broken } });
    const env = { LC_ALL: '', LC_CTYPE: '', LANG: '', [name]: value };
    const { screen } = await onTerminal(place, ['list'], { env });
    const piped = await place.run(['list'], { env });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escapes are ASCII too
    expect(screen + piped.stdout).toMatch(/^[\x00-\x7f]*$/);
    expect(piped.stdout).toMatch(/^\+ echo {4}stdio/m);
    expect(piped.stdout).toMatch(/^x broken {2}stdio/m);
    expect(piped.stdout).toContain('    | no');
  });

  it('B30: help and first steps fit a terminal of 40 columns, without broken words', async () => {
    const widths = (screen: string): number[] => screen.split('\r\n').map((line) => [...line].length);
    const narrow = { columns: 40, env: { NO_COLOR: '1' } };
    for (const args of [['--help'], ['add', '--help'], ['serve', '--help']]) {
      const { screen } = await onTerminal(place, args, narrow);
      expect(Math.max(...widths(screen))).toBeLessThanOrEqual(40);
    }
    const { screen } = await onTerminal(place, ['--help'], narrow);
    expect(screen).toContain('  --json\r\n      print one JSON document on stdout\r\n');
    expect(screen).toContain('  plugboard add docs \\\r\n      https://example.com/mcp -H \\\r\n');
    const first = await onTerminal(place, [], narrow);
    expect(first.screen).toContain(
      '  plugboard import --dry-run\r\n      show the servers of other agents\r\n      on this machine\r\n',
    );
    const wide = await onTerminal(place, ['input', '--help'], { columns: 80 });
    expect(Math.max(...widths(wide.screen))).toBeLessThanOrEqual(80);
  });

  it('a secret that is asked for in plain lines is not shown', async () => {
    const env = { NEEDS: '${input:key}' };
    place.write(place.userFile, {
      mcpServers: { echo: { ...ECHO, env } },
      inputs: [{ id: 'key', type: 'promptString', description: 'The key' }],
    });
    const { screen, status } = await onTerminal(place, ['input', 'set', 'key'], {
      env: { NO_COLOR: '1' },
      answers: [{ after: 'The key: ', type: 'hidden-word\r' }],
    });
    expect(status).toBe(0);
    expect(screen).not.toContain('hidden-word');
    expect(screen).toContain('Saved key');
  });

  it('changes nothing without a terminal and without --yes', async () => {
    place.write(place.projectFile, { mcpServers: { theirs: ECHO } });
    const trusted = await place.run(['trust', 'theirs']);
    expect(trusted).toMatchObject({ status: 5, stdout: '' });
    expect(trusted.stderr).toContain('plugboard trust theirs --yes');
    expect((await place.json(['trust'])).value).toMatchObject({ servers: [{ state: 'unknown' }] });
  });

  it('POL-2: a call of a server of the project shows it, asks for approval, and remembers it', async () => {
    place.write(place.projectFile, { mcpServers: { theirs: ECHO } });
    const question = { after: 'Approve theirs and let it run on this machine?', type: 'y' };
    const { status, screen } = await onTerminal(place, ['call', 'theirs', 'echo', 'message=hi'], {
      answers: [question],
    });
    expect(screen).toContain(`command  ${ECHO.command} ${ECHO.args[0]}`);
    expect(screen).toContain('hi\r\n');
    expect(status).toBe(0);
    expect(await place.run(['call', 'theirs', 'echo', 'message=again'])).toEqual({
      status: 0,
      stdout: 'again',
      stderr: '',
    });
  });

  it('POL-2: a no is a no', async () => {
    place.write(place.projectFile, { mcpServers: { theirs: ECHO } });
    const question = { after: 'Approve theirs and let it run on this machine?', type: 'n' };
    expect((await onTerminal(place, ['trust', 'theirs'], { answers: [question] })).status).toBe(0);
    expect((await place.run(['call', 'theirs', 'echo', 'message=hi'])).status).toBe(5);
  });

  it('CAL-2: a call in the mode "prompt" asks first', async () => {
    place.write(place.userFile, { mcpServers: { echo: { ...ECHO, approval: 'prompt' } } });
    const ask = { after: 'Call echo of echo?', type: 'n' };
    expect(await onTerminal(place, ['call', 'echo', 'echo', 'message=hi'], { answers: [ask] })).toMatchObject(
      {
        status: 5,
      },
    );
    const { status, screen } = await onTerminal(place, ['call', 'echo', 'echo', 'message=hi'], {
      answers: [{ ...ask, type: 'y' }],
    });
    expect(screen).toContain('{"message":"hi"}');
    expect(status).toBe(0);
  });

  it('CFG-9: asks once for what a server needs and no file has, and shows nothing of it while it is typed', async () => {
    const env = { COLOUR: `\${input:colour}` };
    const inputs = [{ id: 'colour', type: 'promptString', description: 'A colour', password: true }];
    place.write(place.userFile, { inputs, mcpServers: { one: { ...ECHO, env }, two: { ...ECHO, env } } });
    const credentials = { PLUGBOARD_CREDENTIALS: 'file' };
    const answers = [{ after: 'one needs: A colour (colour)', type: 'blue horse\r' }];
    const first = await onTerminal(place, ['list'], { answers, env: credentials });
    expect(first.status).toBe(0);
    expect(first.screen).toMatch(/2 connected/);
    expect(first.screen).not.toContain('blue horse');
    expect(first.screen).not.toContain('two needs');
    const second = await onTerminal(place, ['list'], { env: credentials });
    expect(second.screen).not.toContain('needs:');
  });
});
