import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { skippedLine } from '../../src/cli/with-lists.ts';
import { FIXTURES, Place } from './command.ts';

/** So long that a command which waits for it does not end within a test. */
const FOR_EVER_MS = 600_000;

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

const fixture = (file: string, ...args: string[]): { command: string; args: string[] } => ({
  command: process.execPath,
  args: [join(FIXTURES, file), ...args],
});

/** A server that writes down each of its starts. */
const witnessed = (name: string, wishes: object = {}): object => ({
  ...fixture('connection-server.mjs', JSON.stringify({ ...wishes, witness: join(place.dir, name) })),
  startupTimeoutMs: FOR_EVER_MS,
});

function starts(name: string): number {
  try {
    return readFileSync(join(place.dir, name), 'utf8').split('\n').filter(startLine).length;
  } catch {
    return 0;
  }
}

const startLine = (line: string): boolean => line.startsWith('start ');

const configure = (mcpServers: object, settings: object = {}): void =>
  place.write(place.userFile, { mcpServers, ...settings });

const toolNames = (value: unknown): unknown =>
  (value as { tools: { tool: string }[] }).tools.map(({ tool }) => tool).slice(0, 1);

const late = (server: string): object => ({
  server,
  code: 'TIMEOUT',
  message: `${server} did not answer within 1 s`,
});

it('CON-16: where no tool is known yet, tools and search wait for a server that starts slowly', async () => {
  configure({ slow: witnessed('slow') }, { firstListWaitMs: 1 });
  const found = await place.run(['search', 'echo', '-n', '1']);
  expect([found.status, found.stderr, found.stdout.split(' ')[0]]).toEqual([0, '', 'slow']);
  configure({ other: witnessed('other') }, { firstListWaitMs: 1 });
  const listed = await place.json(['tools']);
  expect([toolNames(listed.value), starts('other')]).toEqual([['crash'], 1]);
});

describe('lists next to a server that hangs', () => {
  beforeEach(async () => {
    configure({ good: witnessed('good') });
    await place.run(['tools', 'good']);
    configure(
      { good: witnessed('good'), hangs: witnessed('hangs', { silent: true }) },
      { firstListWaitMs: 1000 },
    );
  });

  it('CON-16: tools and search wait for it once, and name it on stderr and in JSON', async () => {
    const first = await place.json(['tools']);
    const second = await place.json(['tools']);
    const search = await place.json(['search', 'echo']);
    const { stderr } = await place.run(['tools']);
    expect({
      first: [toolNames(first.value), first.value],
      second: [toolNames(second.value), second.value],
      search: search.value,
      stderr,
      started: [starts('good'), starts('hangs')],
    }).toEqual({
      first: [['crash'], expect.objectContaining({ unreached: [late('hangs')] })],
      second: [['crash'], expect.objectContaining({ unreached: [late('hangs')] })],
      search: expect.objectContaining({ unreached: [late('hangs')] }),
      stderr:
        'warning: skipped hangs, which failed last time; run plugboard list to see why, or use --refresh to query again.\n',
      // What is known is not started again, and what hung is not tried again.
      started: [1, 1],
    });
  });

  it('CON-16: a changed entry is tried again; --refresh asks every server', async () => {
    await place.run(['tools']);
    const other = { ...witnessed('hangs'), args: [join(FIXTURES, 'echo.mjs')] };
    configure({ good: witnessed('good'), hangs: other }, { firstListWaitMs: 30_000 });
    const { value } = await place.json(['tools']);
    const before = starts('good');
    const refreshed = await place.json(['tools', '--refresh']);
    expect({ same: refreshed.value, before, after: starts('good') }).toEqual({
      same: value,
      before: 1,
      after: 2,
    });
    expect(value).not.toHaveProperty('unreached');
  });
});

describe('lists of servers that were here before', () => {
  it('a server that exits before the host is loaded is reported, not waited for', async () => {
    configure({ gone: { command: 'sh', args: ['-c', 'exit 3'] } });
    expect(await place.json(['prompts', '--refresh'])).toEqual({
      status: 0,
      value: {
        prompts: [],
        unreached: [{ server: 'gone', code: 'START_FAILED', message: expect.stringContaining('code 3') }],
      },
    });
  });

  it('CON-16: resources and prompts come from the cache, without a start', async () => {
    const docs = fixture('content-server.mjs');
    configure({ docs });
    const known = {
      resources: await place.json(['resources', 'docs']),
      prompts: await place.json(['prompts', 'docs']),
    };
    // The same entry with a program that is gone would not start.
    const moved = { ...docs, args: [join(place.dir, 'docs.mjs')] };
    place.write(
      join(place.dir, 'docs.mjs'),
      `import ${JSON.stringify(join(FIXTURES, 'content-server.mjs'))};`,
    );
    configure({ docs: moved });
    await place.run(['resources', 'docs']);
    await place.run(['prompts', 'docs']);
    place.write(join(place.dir, 'docs.mjs'), 'process.exit(3);');
    expect({
      resources: await place.json(['resources']),
      prompts: await place.json(['prompts']),
      tools: (await place.json(['tools'])).status,
      refreshed: await place.json(['prompts', '--refresh']),
    }).toEqual({
      ...known,
      tools: 0,
      refreshed: {
        status: 0,
        value: {
          prompts: [],
          unreached: [{ server: 'docs', code: 'START_FAILED', message: expect.stringContaining('code 3') }],
        },
      },
    });
  });

  it('CON-9: a required server that is unknown is waited for, and its failure is the command’s', async () => {
    const dies = { command: process.execPath, args: ['-e', 'process.exit(3)'], required: true };
    configure({ dies }, { firstListWaitMs: 0 });
    const failed = { status: 3, value: { error: { code: 'REQUIRED_FAILED', server: 'dies' } } };
    expect(await place.json(['tools'])).toMatchObject(failed);
    expect(await place.json(['tools'])).toMatchObject(failed);
    expect(await place.json(['serve', '--http', '0'])).toMatchObject(failed);
    await place.run(['daemon', 'stop']);
    configure({ slow: { ...witnessed('slow', { delayMs: 100 }), required: true } }, { firstListWaitMs: 0 });
    expect(toolNames((await place.json(['tools'])).value)).toEqual(['crash']);
  });
});

it('names servers that failed in an earlier command in one line', () => {
  expect([skippedLine(['hang', 'dead', 'listens']), skippedLine(Array(12).fill('x'))]).toEqual([
    'skipped 3 servers that failed last time (hang, dead, listens); run plugboard list to see why, or use --refresh to query again.',
    `skipped 12 servers that failed last time (${'x, '.repeat(10)}…); run plugboard list to see why, or use --refresh to query again.`,
  ]);
});
