import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TerminalScreen } from '../chat/terminal-screen.ts';
import { COMMAND, FIXTURES, Place } from './command.ts';

let place: Place;
let screen: TerminalScreen | undefined;
beforeEach(() => {
  place = new Place();
});
afterEach(async () => {
  await screen?.close();
  place.remove();
});

const SERVERS = 17;
const SIZE = { columns: 80, rows: 24 };

it('B13: the live list leaves one copy of itself in the scrollback of tmux, at the top and the end of a screen', async () => {
  const echo = { command: process.execPath, args: [join(FIXTURES, 'echo.mjs')] };
  // One that is slow to fail, so that many frames are drawn.
  const silent = { ...echo, args: [join(FIXTURES, 'cli-silent.mjs')], startupTimeoutMs: 1500 };
  const off = { ...echo, enabled: false };
  const rest = Object.fromEntries(Array.from({ length: SERVERS - 2 }, (_, at) => [`server${at}`, off]));
  place.write(place.userFile, { mcpServers: { echo, silent, ...rest } });
  screen = await TerminalScreen.open(place.project, "env PS1='$ ' bash --norc", {
    size: SIZE,
    env: { PLUGBOARD_HOME: place.home, PATH: process.env['PATH'] ?? '' },
  });
  const list = `${process.execPath} ${COMMAND} list`;
  await screen.shows(/\$$/);

  await screen.type(`clear; ${list}; echo first-end\n`);
  await screen.shows(/^first-end$/m);
  // The list, its details and the prompts are fewer lines than the window has.
  expect(await screen.historySize()).toBeLessThan(SIZE.rows);
  const before = await screen.historySize();

  await screen.type(`seq 30; ${list}; echo second-end\n`);
  await screen.shows(/^second-end$/m);
  const added = (await screen.historySize()) - before;
  const printed = 30 + 2 * SERVERS + 10;
  expect(added).toBeLessThan(printed);
  const shown = await screen.text();
  expect(shown.match(/server3 /g)).toHaveLength(2);
  expect(shown.match(/1 connected, 1 failed, 15 disabled/g)).toHaveLength(2);
});
