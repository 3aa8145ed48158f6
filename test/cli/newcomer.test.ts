/** The story of docs/guide-shell.md, typed into a real terminal by someone who has just installed Plugboard. */

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TerminalScreen } from '../chat/terminal-screen.ts';
import { COMMAND, FIXTURES, Place } from './command.ts';

const WIDE = { columns: 80, rows: 24 };
const NARROW = { columns: 40, rows: 24 };

let place: Place;
let screen: TerminalScreen;

beforeAll(async () => {
  place = new Place();
  const bin = join(place.dir, 'bin');
  mkdirSync(bin);
  symlinkSync(COMMAND, join(bin, 'plugboard'));
  // Packages that the tests have installed, in place of a registry.
  symlinkSync(join(FIXTURES, 'docs-npx.mjs'), join(bin, 'npx'));
  writeFileSync(join(place.project, 'shopping.txt'), 'milk\nbread\n');
  const run = (fixture: string): object => ({ command: process.execPath, args: [join(FIXTURES, fixture)] });
  place.write(place.userFile, { mcpServers: { worker: run('cli-slow.mjs') } });
  place.write(place.projectFile, { mcpServers: { notes: run('echo.mjs') } });
  screen = await TerminalScreen.open(place.project, "env PS1='$ ' bash --norc", {
    size: WIDE,
    env: {
      PATH: `${bin}:${process.env['PATH']}`,
      HOME: place.dir,
      PLUGBOARD_HOME: place.home,
      PLUGBOARD_CREDENTIALS: 'file',
      PLUGBOARD_DAEMON: '0',
      LANG: 'C.UTF-8',
      LC_ALL: '',
    },
  });
});

afterAll(async () => {
  await screen.close();
  place.remove();
});

let typedLines = 0;

/** Types a line on an empty screen, waits for the next prompt, and returns what is between. */
async function typed(line: string): Promise<string> {
  typedLines += 1;
  // The end of the line before is visible until this one begins.
  const end = `.${typedLines}`;
  await screen.type(`clear; ${line}; echo "status $?${end}"\n`);
  await screen.shows(new RegExp(`^status \\d+\\${end}\\n\\$$`, 'm'));
  return stable((await screen.visible()).replace(new RegExp(`^(status \\d+)\\${end}$`, 'm'), '$1'));
}

/** Without the parts that differ from run to run. */
function stable(text: string): string {
  return place
    .placeless(text)
    .replaceAll(/ +\d+ ms/g, ' … ms')
    .split('\n')
    .filter((line) => !line.startsWith('$ '))
    .join('\n')
    .replace(/\n\$$/, '');
}

it('UI-1: adds, lists, approves, calls and completes as the guide for the shell shows', async () => {
  await screen.shows(/\$$/);
  const added = await typed('plugboard add --preset filesystem files');
  expect(added).toMatch(/^Added files \(local scope: only you, only in this project\) to /);
  expect(added).toContain(
    'Not started yet. Run plugboard test files to connect and check its tools.\nstatus 0',
  );

  // A question that is answered at the terminal.
  await screen.type('clear; plugboard trust notes\n');
  await screen.shows('Approve notes and let it run on this machine?');
  await screen.press('y');
  await screen.shows(/^approved {2}notes$/m);

  // The live list, as it is left on the screen.
  const list = (await typed('plugboard list')).split('\n');
  // Where the tests are decides how long the commands are.
  expect(list.filter((line) => !line.startsWith('    '))).toEqual([
    '✔ files   stdio  local     14 tools  2025-11-25 legacy … ms',
    '✔ notes   stdio  project    5 tools  2025-11-25 legacy … ms',
    '✔ worker  stdio  user       1 tool   2026-07-28 modern … ms',
    '3 connected',
    'status 0',
  ]);
  expect(list[1]).toMatch(/^ {4}locked: npx -y @modelcontextprotocol\/server-filesystem@2026\.8\.31 /);

  expect(await typed('plugboard call files read_text_file path=shopping.txt')).toBe('milk\nbread\nstatus 0');
  expect(await typed('plugboard call files read_text_fle path=shopping.txt')).toMatch(
    /^error: files has no tool called "read_text_fle"\nhint: {2}Did you mean "read_text_file"\?(?:.|\n)*\nstatus 2$/,
  );
});

it('UI-1: completes with the tabulator key, stops a call with Ctrl-C, and fits a narrow terminal', async () => {
  await screen.type('clear; source <(plugboard completion bash); echo rea""dy\n');
  await screen.shows(/^ready\n\$$/m);
  await screen.type('plugboard call files read_text_fi');
  await screen.press('Tab');
  await screen.shows(/^\$ plugboard call files read_text_file$/m);
  await screen.type(' path=sh');
  await screen.press('Tab');
  await screen.shows(/^\$ plugboard call files read_text_file +path=shopping\.txt$/m);
  await screen.press('Enter');
  await screen.shows(/^milk\nbread\n\$$/m);

  await screen.type('clear; plugboard call worker slow steps:=1000; echo "status $?"\n');
  await screen.shows(/slow ╌+ \d+\/1000 step \d+/);
  await screen.press('C-c');
  await screen.shows(/^status 130\n\$$/m);

  await screen.resize(NARROW);
  const narrow = await typed('plugboard');
  expect(narrow).toContain('· worker  stdio  user');
  expect(narrow).toContain('Next:\n  plugboard search <words>\n      find a tool by what it does');
  expect(Math.max(...narrow.split('\n').map((line) => [...line].length))).toBeLessThanOrEqual(40);
});
