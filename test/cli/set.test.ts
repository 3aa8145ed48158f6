import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Place } from './command.ts';
import { onTerminal } from './on-terminal.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

const COMMENTED = `{
  // mine
  "mcpServers": {
    "files": {
      "command": "npx", // the launcher
      "env": { "API_KEY": "s3cret", "DEBUG": "1" }
    }
  }
}
`;

it('F9: set and unset change single values and keep comments and formatting', async () => {
  place.write(place.userFile, COMMENTED);
  expect(await place.json(['set', 'files', 'env.LEVEL=debug', 'args=-y', 'args=pkg'])).toMatchObject({
    status: 0,
    value: {
      name: 'files',
      scope: 'user',
      entry: { args: ['-y', 'pkg'], env: { DEBUG: '1', LEVEL: 'debug' } },
    },
  });
  expect((await place.run(['unset', 'files', 'env.DEBUG', 'args'])).status).toBe(0);
  expect(readFileSync(place.userFile, 'utf8')).toBe(COMMENTED.replace('"DEBUG": "1"', '"LEVEL": "debug"'));
});

it('F9: set refuses what would break the entry, names the server that is meant, and can fix a broken one', async () => {
  place.write(place.userFile, { mcpServers: { files: { command: 'x' }, broken: { cmd: 'x' } } });
  const refusals: [string[], string, string][] = [
    [['set', 'fils', 'env.A=1'], 'UNKNOWN_SERVER', 'There is no server called "fils"'],
    [
      ['set', 'files', 'headers.A=1'],
      'CONFIG_INVALID',
      'Server "files" cannot be changed: "headers" has no effect with a command',
    ],
    [
      ['unset', 'files', 'command'],
      'CONFIG_INVALID',
      'Server "files" cannot be changed: It has neither a "command" nor a "url"',
    ],
    [['edit', 'files'], 'USAGE', 'There is no terminal for an editor'],
  ];
  for (const [args, code, message] of refusals) {
    expect(await place.json(args)).toMatchObject({ status: 2, value: { error: { code, message } } });
  }
  expect((await place.run(['set', 'broken', 'command=ls'])).status).toBe(0);
  expect(place.read(place.userFile)).toEqual({
    mcpServers: { files: { command: 'x' }, broken: { cmd: 'x', command: 'ls' } },
  });
});

it('POL-2: set keeps the approval of a project server that was approved, gives none to another, and guards secrets', async () => {
  await place.run(['add', 'mine', '-s', 'project', '--', 'ls']);
  expect(await place.json(['set', 'mine', 'env.DEBUG=1'])).toMatchObject({ value: { status: 'idle' } });
  place.write(place.projectFile, { mcpServers: { mine: { command: 'other' } } });
  expect(await place.json(['set', 'mine', 'env.DEBUG=2'])).toMatchObject({ value: { status: 'untrusted' } });
  expect(await place.json(['set', 'mine', 'env.TOKEN=abcd1234', '-s', 'project'])).toMatchObject({
    status: 5,
    value: { error: { code: 'APPROVAL_REQUIRED' } },
  });
  expect(await place.json(['get', 'mine'])).toMatchObject({
    value: {
      status: 'untrusted',
      error: { code: 'UNTRUSTED', hint: expect.stringContaining('plugboard trust mine') },
    },
  });
});

it('F9: get --show-secrets prints an entry that can be copied', async () => {
  place.write(place.userFile, COMMENTED);
  expect(await place.json(['get', 'files', '--show-secrets'])).toMatchObject({
    value: { entry: { command: 'npx', env: { API_KEY: 's3cret', DEBUG: '1' } } },
  });
  expect(await place.json(['get', 'files'])).toMatchObject({
    value: { entry: { command: 'npx', env: { API_KEY: '(set in config.json)', DEBUG: '1' } } },
  });
});

it('F9: edit opens the entry alone, leads back to the editor after a mistake, and keeps comments', async () => {
  place.write(place.userFile, COMMENTED);
  // An editor that first makes a mistake, then corrects it.
  const editor = join(place.dir, 'editor.sh');
  place.write(
    editor,
    `#!/bin/sh\nif grep -q mcpServers "$1"; then exit 9; fi\nif grep -q comand "$1"; then sed -i 's/comand/command/; s/npx/uvx/' "$1"; else sed -i 's/"command"/"comand"/' "$1"; fi\n`,
  );
  chmodSync(editor, 0o700);
  const { status, screen } = await onTerminal(place, ['edit', 'files'], {
    answers: [{ after: 'Edit it again?', type: 'y\r' }],
    env: { EDITOR: editor, VISUAL: '', NO_COLOR: '1' },
  });
  expect({ status, screen }).toEqual({
    status: 0,
    screen: expect.stringContaining('neither a "command" nor a "url"'),
  });
  expect(readFileSync(place.userFile, 'utf8')).toBe(COMMENTED.replace('npx', 'uvx'));
});

it.each([
  ['false', 'The editor false ended with 1; nothing was written'],
  ['no-such-editor', 'The editor no-such-editor cannot be started: there is no such program'],
])('F9: edit with EDITOR=%s is a usage error that names the editor', async (editor, message) => {
  place.write(place.userFile, COMMENTED);
  const { status, screen } = await onTerminal(place, ['edit', 'files'], {
    env: { EDITOR: editor, VISUAL: '', NO_COLOR: '1', COLUMNS: '200' },
  });
  expect({ status, screen: screen.replace(/\s+/g, ' ') }).toEqual({
    status: 2,
    screen: expect.stringContaining(message),
  });
});
