import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { elicitDuring } from '../../src/cli/call-questions.ts';
import type { Context } from '../../src/cli/cli-command.ts';
import { Output } from '../../src/cli/output.ts';
import { joinArgv } from '../../src/lib/argv.ts';
import { questionPlace } from '../../src/lib/question-place.ts';
import type { TextSink } from '../../src/lib/sink.ts';
import { TerminalScreen } from '../chat/terminal-screen.ts';
import { COMMAND, FIXTURES, Place } from './command.ts';
import { onTerminal } from './on-terminal.ts';

const place = new Place();
beforeAll(() => {
  const notes = { command: process.execPath, args: [join(FIXTURES, 'chat-server.mjs')] };
  const asker = {
    command: process.execPath,
    args: [join(FIXTURES, 'asking-server.mjs'), 'legacy', 'roots'],
  };
  place.write(place.userFile, { mcpServers: { notes, asker } });
});
afterAll(async () => {
  await place.run(['daemon', 'stop']);
  place.remove();
});

const CALL = ['call', 'notes', 'sign_up'];

type Env = Readonly<Record<string, string>>;

function openCall(env: Env, after = ''): Promise<TerminalScreen> {
  const command = `${joinArgv([process.execPath, COMMAND, ...CALL])}${after}`;
  return TerminalScreen.open(place.project, `${command}; echo "left with $?"; read -r _`, {
    env: { PLUGBOARD_HOME: place.home, PLUGBOARD_CREDENTIALS: 'file', TERM: 'xterm-256color', ...env },
  });
}

async function answeredAtTerminal(env: Env, after?: string): Promise<string> {
  const screen = await openCall(env, after);
  try {
    await screen.shows('notes asks: Who are you?');
    await screen.shows('Your name');
    await screen.type('Ann');
    await screen.press('Enter');
    await screen.shows('E-mail');
    await screen.press('Enter');
    await screen.shows('Send this to notes?');
    await screen.press('Enter');
    await screen.shows('left with 0');
    return await screen.text();
  } finally {
    await screen.close();
  }
}

/** What is on the screen after a key at the first question. */
async function pressedAtQuestion(env: Env, key: string): Promise<string> {
  const screen = await openCall(env);
  try {
    await screen.shows('Your name');
    await screen.press(key);
    await screen.shows('left with');
    return await screen.text();
  } finally {
    await screen.close();
  }
}

describe('B4: a question of a server during `call`', () => {
  const accepted = '{"action":"accept","content":{"name":"Ann"}}';

  it('is asked at the terminal', async () => {
    expect(await answeredAtTerminal({ PLUGBOARD_DAEMON: '0' })).toContain(accepted);
  });

  it('is asked on stderr where stdout is a pipe, and the pipe gets the result alone', async () => {
    await answeredAtTerminal({ PLUGBOARD_DAEMON: '0' }, ' > got.json');
    expect(readFileSync(join(place.project, 'got.json'), 'utf8')).toBe(accepted);
  });

  it('is cancelled by Escape, and Ctrl-C cancels the call', async () => {
    expect(await pressedAtQuestion({ PLUGBOARD_DAEMON: '0' }, 'Escape')).toMatch(
      /"action":"cancel"[\s\S]*left with 0/,
    );
    const interrupted = await pressedAtQuestion({ PLUGBOARD_DAEMON: '0' }, 'C-c');
    expect(interrupted).toContain('left with 130');
    expect(interrupted).not.toContain('"action"');
  });

  it('is asked at the terminal also if the daemon runs the command', async () => {
    await place.run(['daemon', 'start']);
    await answeredAtTerminal({}, ' --json > got.json');
    expect(JSON.parse(readFileSync(join(place.project, 'got.json'), 'utf8'))).toMatchObject({
      content: [{ text: accepted }],
    });
    expect(await pressedAtQuestion({}, 'C-c')).toContain('left with 130');
  });

  it.each([
    [{}, { on: 'stdout' }],
    [{ stdout: false }, { on: 'stderr' }],
    [{ json: true }, { on: 'stderr' }],
    [{ stderr: false }, { on: 'stdout' }],
    [{ stdout: false, stderr: false }, { why: 'stderr is not a terminal' }],
    [{ stdin: false }, { why: 'stdin is not a terminal' }],
  ])('has a place on a terminal: %j', (without, placed) => {
    const terminals = { stdin: true, stdout: true, stderr: true, json: false };
    expect(questionPlace({ ...terminals, ...without })).toEqual(placed);
  });

  it('shows the address that was to be opened where no one can be asked', async () => {
    const notes: string[] = [];
    const { signal } = new AbortController();
    const sink = (write: (text: string) => void): TextSink => ({
      isTerminal: false,
      columns: undefined,
      rows: undefined,
      write,
      flushed: () => Promise.resolve(),
    });
    const elsewhere = { stdout: sink(() => {}), stderr: sink((text) => notes.push(text)) };
    const output = new Output({ json: false, env: {}, signal, onReaderGone: () => {}, elsewhere });
    const elicit = elicitDuring({ output } as Context);
    const url = 'https://example.com/pay?id=7';
    const asked = { server: 'shop', session: 's1', mode: 'url', message: 'Please pay', url, signal } as const;
    expect(await elicit(asked, 'q1')).toEqual({ action: 'cancel' });
    expect(notes.join('')).toContain(`shop asked "Please pay" and to open ${url}, and no one can answer`);
  });

  it.each([
    ['with a daemon', {}],
    ['without one', { PLUGBOARD_DAEMON: '0' }],
  ])('is cancelled with a note where no one can be asked, %s', async (_, env) => {
    const { status, stdout, stderr } = await place.run(CALL, { env });
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: '{"action":"cancel"}',
      stderr:
        'note: notes asked "Who are you?", and no one can answer here (stdin is not a terminal), so it was cancelled.\n',
    });
  });
});

it.each([
  ['read', ['read', 'notes', 'note://ask']],
  ['prompt', ['prompt', 'notes', 'review', 'title=ask']],
])('B4: a question of a server during `%s` is asked at the terminal', async (_, words) => {
  const answers = [
    { after: 'Your choice', type: 'this\r' },
    { after: 'Send this to notes?', type: '\r' },
  ];
  const env = { PLUGBOARD_DAEMON: '0', PLUGBOARD_CREDENTIALS: 'file' };
  const { status, screen } = await onTerminal(place, words, { answers, env });
  expect({ status, screen }).toEqual({
    status: 0,
    screen: expect.stringContaining('{"action":"accept","content":{"which":"this"}}'),
  });
});

it.each([
  ['with a daemon', {}],
  ['without one', { PLUGBOARD_DAEMON: '0' }],
])('a server that asks a command for roots gets the project, %s', async (_, env) => {
  const cwd = join(place.project, 'src');
  mkdirSync(cwd, { recursive: true });
  const { stdout } = await place.run(['call', 'asker', 'ask', 'method=roots/list'], { env, cwd });
  const uri = pathToFileURL(place.project).href.replace(place.project, '<project>');
  expect(JSON.parse(stdout)).toEqual({ result: { roots: [{ uri, name: 'project' }] } });
});
