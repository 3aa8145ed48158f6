import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { joinWords } from '../../src/cli/words.ts';
import { TerminalScreen } from '../chat/terminal-screen.ts';
import { COMMAND, FIXTURES, Place } from './command.ts';

const place = new Place();
beforeAll(() => {
  const notes = { command: process.execPath, args: [join(FIXTURES, 'chat-server.mjs')] };
  const asker = { command: process.execPath, args: [join(FIXTURES, 'asking-server.mjs'), 'legacy', 'roots'] };
  place.write(place.userFile, { mcpServers: { notes, asker } });
});
afterAll(async () => {
  await place.run(['daemon', 'stop']);
  place.remove();
});

const CALL = ['call', 'notes', 'sign_up'];

async function answeredAtTerminal(env: Readonly<Record<string, string>>): Promise<string> {
  const command = joinWords([process.execPath, COMMAND, ...CALL]);
  const screen = await TerminalScreen.open(place.project, `${command}; echo "left with $?"; read -r _`, {
    env: { PLUGBOARD_HOME: place.home, PLUGBOARD_CREDENTIALS: 'file', TERM: 'xterm-256color', ...env },
  });
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

describe('B4: a question of a server during `call`', () => {
  const accepted = '{"action":"accept","content":{"name":"Ann"}}';

  it('is asked at the terminal', async () => {
    expect(await answeredAtTerminal({ PLUGBOARD_DAEMON: '0' })).toContain(accepted);
  });

  it('is asked at the terminal also if the daemon runs the command', async () => {
    await place.run(['daemon', 'start']);
    expect(await answeredAtTerminal({})).toContain(accepted);
  });

  it.each([
    ['with a daemon', {}],
    ['without one', { PLUGBOARD_DAEMON: '0' }],
  ])('is cancelled with a note where no one can be asked, %s', async (_, env) => {
    const { status, stdout, stderr } = await place.run(CALL, { env });
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: '{"action":"cancel"}',
      stderr: 'note: notes asked "Who are you?", and no one can be asked here: it was cancelled.\n',
    });
  });
});

it.each([
  ['with a daemon', {}],
  ['without one', { PLUGBOARD_DAEMON: '0' }],
])('R1: a server that asks a command for roots gets the project, %s', async (_, env) => {
  const cwd = join(place.project, 'src');
  mkdirSync(cwd, { recursive: true });
  const { stdout } = await place.run(['call', 'asker', 'ask', 'method=roots/list'], { env, cwd });
  const uri = pathToFileURL(place.project).href.replace(place.project, '<project>');
  expect(JSON.parse(stdout)).toEqual({ result: { roots: [{ uri, name: 'project' }] } });
});
