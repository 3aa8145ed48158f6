import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { knownCount, knownFile, knownFolder } from '../../src/catalog/known-tools.ts';
import { findHome } from '../../src/config/home.ts';
import { Place } from './command.ts';
import { onTerminal } from './on-terminal.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

it('B6: the stored value of a removed server is named, listed and can be deleted', async () => {
  place.write(place.userFile, {
    inputs: [{ id: 'region', type: 'pickString', options: ['eu', 'us'] }],
    mcpServers: { a: { command: 'x', env: { A: '${input:key}', R: '${input:region}' } } },
  });
  await place.run(['input', 'set', 'key'], { input: 'abc' });
  expect(await place.json(['input', 'set', 'region'], { input: 'asia' })).toMatchObject({
    status: 2,
    value: { error: { code: 'USAGE', hint: 'The options are eu, us.' } },
  });
  mkdirSync(join(place.home, 'folders', 'a'), { recursive: true });
  const { status, stderr } = await place.run(['remove', 'a']);
  expect({ status, stderr }).toEqual({
    status: 0,
    stderr: 'note: the value of key is still stored. Delete it with: plugboard input remove key\n',
  });
  expect(existsSync(join(place.home, 'folders', 'a'))).toBe(false);
  expect((await place.run(['input', 'list'])).stdout).toMatch(/^key +file +not used by any server$/m);
  expect((await place.json(['input', 'remove', 'key'])).value).toEqual({ id: 'key', removed: true });
  expect((await place.json(['input', 'list'])).value).toEqual({ inputs: [] });
});

it('B6: at a terminal remove offers to delete what no other server uses', async () => {
  place.write(place.userFile, {
    mcpServers: {
      a: { command: 'x', env: { A: '${input:key}', B: '${input:shared}' } },
      b: { command: 'x', env: { B: '${input:shared}' } },
    },
  });
  for (const id of ['key', 'shared']) await place.run(['input', 'set', id], { input: 'abc' });
  const { screen } = await onTerminal(place, ['remove', 'a'], {
    answers: [{ after: 'Delete its stored value?', type: 'y\r' }],
    env: { PLUGBOARD_CREDENTIALS: 'file', NO_COLOR: '1' },
  });
  expect(screen).toContain('Deleted key.');
  expect(screen).not.toContain('shared');
});

it('B22: a plugin whose folder is gone is marked', async () => {
  const folder = join(place.dir, 'tools');
  place.write(join(folder, '.mcp.json'), { mcpServers: { echo: { command: 'x' } } });
  await place.run(['plugin', 'add', folder]);
  rmSync(folder, { recursive: true });
  expect((await place.run(['plugin', 'list'])).stdout).toContain('tools (its folder is missing)');
  expect((await place.json(['plugin', 'list'])).value).toMatchObject({
    plugins: [{ name: 'tools', missing: true }],
  });
});

it('B17: tools of a server of all projects are known in every folder, unless its entry names the project', () => {
  const home = findHome({ PLUGBOARD_HOME: place.home });
  const spec = (raw: Record<string, unknown>, baseDir: string) =>
    ({ name: 'a', scope: 'user', baseDir, raw, entry: { command: 'x' } }) as const;
  const files = (raw: Record<string, unknown>): number =>
    new Set(['/home/ada/app', '/home/ada/other'].map((folder) => knownFile(home, spec(raw, folder)))).size;
  expect(files({ command: 'x', cwd: '/srv' })).toBe(1);
  expect(files({ command: 'x', args: ['${PROJECT_DIR}'] })).toBe(2);
  expect(files({ command: 'x', cwd: '.' })).toBe(2);
  place.write(knownFile(home, spec({ command: 'x' }, '/home/ada/app')), '{"tools":9}\n');
  expect(knownCount(home, spec({ command: 'x' }, '/home/ada/other'))).toBe(9);
  expect(existsSync(knownFolder(home))).toBe(true);
});
