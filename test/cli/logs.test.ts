import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { homeAt } from '../../src/config/home.ts';
import { readLogLine, ServerLog, serverLogFile } from '../../src/transport/server-log.ts';
import { until } from '../world/until.ts';
import { FIXTURES, Place } from './command.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(async () => {
  await place.run(['daemon', 'stop']);
  place.remove();
});

const tool = (name: string, _test: object): object => ({ name, inputSchema: { type: 'object' }, _test });

function configure(): void {
  const file = join(place.dir, 'see.json');
  place.write(file, {
    serverInfo: { name: 'seen', version: '1.2.3', title: 'Seen' },
    instructions: 'Look first.',
    stderr: ['ready with hunter22hunter22'],
    tools: [tool('shout', { errs: 'on stderr', logs: ['a log message'] })],
  });
  const entry = { command: process.execPath, args: [join(FIXTURES, 'see-server.mjs'), file] };
  place.write(place.userFile, {
    mcpServers: {
      seen: { ...entry, env: { TOKEN: 'hunter22hunter22' } },
      gone: { command: process.execPath, args: ['-e', 'process.exit(3)'] },
      off: { command: 'x', enabled: false },
      page: { url: 'https://user:secretpassword@example.invalid/mcp', enabled: false },
    },
  });
}

const messages = (value: unknown): readonly (readonly [string, string])[] =>
  (value as { lines: { kind: string; message: string }[] }).lines.map(({ kind, message }) => [kind, message]);

describe('log lines of a server', () => {
  it('F16: logs has stderr, log messages and life of a server, without secrets, of commands and of the daemon', async () => {
    configure();
    const never = await place.run(['logs', 'seen']);
    await place.run(['call', 'seen', 'shout']);
    const own = await place.json(['logs', 'seen']);
    expect(never).toEqual({
      status: 0,
      stdout: '',
      stderr: 'seen has no log yet, because it has not run. Run plugboard test seen to start it.\n',
    });
    const life = [
      ['stderr', 'ready with [secret]'],
      ['stderr', 'on stderr'],
      ['warning', 'a log message'],
      ['plugboard', 'ended'],
      ['plugboard', 'started'],
    ];
    // A pipe and a socket: which of them is read first is not decided.
    expect(messages(own.value).toSorted()).toEqual(life.toSorted());
    const [log = ''] = readdirSync(join(place.home, 'logs'));
    expect(statSync(join(place.home, 'logs', log)).mode & 0o777).toBe(0o600);
    await place.run(['daemon', 'start']);
    const { child, ended } = place.start(['logs', 'seen', '-f', '-n', '0', '--json']);
    let followed = '';
    child.stdout?.on('data', (chunk: string) => {
      followed += chunk;
    });
    // It shows lines from its own start on, which nothing announces: the server starts and is called until it has them.
    await until('the log is followed', async () => {
      expect((await place.run(['reconnect', 'seen'])).status).toBe(0);
      expect((await place.run(['call', 'seen', 'shout'])).status).toBe(0);
      return ['ready with', 'a log message', 'on stderr'].every((text) => followed.includes(text));
    });
    const lines = followed.trimEnd().split('\n');
    child.kill('SIGINT');
    expect((await ended).status).toBe(130);
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toContain(
      'ready with [secret]',
    );
  });

  it('F20: info shows name, version, instructions, capabilities, era, command and log', async () => {
    configure();
    const [shown, json, failed, unknown] = await Promise.all([
      place.run(['info', 'seen']),
      place.json(['info', 'seen']),
      place.json(['info', 'gone']),
      place.run(['info', 'nope']),
    ]);
    for (const text of [
      'seen 1.2.3',
      'title         Seen',
      'connected',
      '2025-11-25 (legacy)',
      'Look first.',
    ])
      expect(shown.stdout).toContain(text);
    expect(json).toMatchObject({
      status: 0,
      value: {
        name: 'seen',
        status: 'connected',
        scope: 'user',
        file: '<home>/config.json',
        command: expect.stringMatching(/see-server\.mjs .*see\.json$/),
        pid: expect.any(Number),
        serverInfo: { name: 'seen', version: '1.2.3', title: 'Seen' },
        instructions: 'Look first.',
        capabilities: { tools: {}, logging: {} },
        protocolVersion: '2025-11-25',
        era: 'legacy',
        log: expect.stringMatching(/^<home>\/logs\/seen-/),
      },
    });
    expect(failed).toMatchObject({ status: 3, value: { status: 'failed', error: { code: 'START_FAILED' } } });
    expect(unknown.status).toBe(2);
  });

  it('F13: list has the command or url of each server, in the order of the configuration, and --exit-code', async () => {
    configure();
    const [text, json, judged, configured] = await Promise.all([
      place.run(['list']),
      place.json(['list']),
      place.run(['list', '--exit-code']),
      place.json(['list', '--no-connect']),
    ]);
    const rows = text.stdout.split('\n').filter((line) => /^\S/.test(line));
    expect(rows.map((line) => line.split(/\s+/)[1])).toEqual([
      'seen',
      'gone',
      'off',
      'page',
      expect.any(String),
    ]);
    const expected = [
      { name: 'seen', command: expect.stringContaining('see-server.mjs') },
      { name: 'gone', command: `${process.execPath} -e 'process.exit(3)'` },
      { name: 'off', command: 'x' },
      { name: 'page', url: expect.stringContaining('example.invalid/mcp') },
    ];
    expect([json.value, configured.value]).toMatchObject([{ servers: expected }, { servers: expected }]);
    expect(JSON.stringify([json.value, text])).not.toContain('secretpassword');
    expect([text.status, judged.status]).toEqual([0, 3]);
  });
});

it('F16: a log is bounded in size and rate, and its lines are read back as they were written', () => {
  const file = serverLogFile(homeAt(place.home), {
    name: '../odd name',
    scope: 'user',
    baseDir: '',
    entry: { command: 'x' },
    raw: {},
  });
  expect(file.startsWith(join(place.home, 'logs', '.._odd_name-'))).toBe(true);
  const log = new ServerLog(file, () => 0);
  for (let batch = 0; batch < 30; batch++) {
    for (let line = 0; line < 300; line++) log.add('stderr', 7, `${'x'.repeat(200)}\n${line}`);
    log.flush();
  }
  const sizes = readdirSync(join(place.home, 'logs')).map(
    (name) => statSync(join(place.home, 'logs', name)).size,
  );
  expect(sizes).toHaveLength(2);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(512 * 1024);
  expect([
    readLogLine('1970-01-01T00:00:00.000Z 7 stderr a b  c'),
    readLogLine('1970-01-01T00:00:00.000Z - warning '),
    readLogLine('nothing'),
  ]).toEqual([
    { time: '1970-01-01T00:00:00.000Z', pid: 7, kind: 'stderr', message: 'a b  c' },
    { time: '1970-01-01T00:00:00.000Z', kind: 'warning', message: '' },
    undefined,
  ]);
});
