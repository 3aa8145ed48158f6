/** The section "Where things live" of the contract. */

import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Place } from '../cli/command.ts';

let place: Place;
beforeEach(() => {
  place = new Place();
});
afterEach(() => place.remove());

/** The file that `add` says it wrote, from an environment without PLUGBOARD_HOME. */
async function written(env: Readonly<Record<string, string>>): Promise<unknown> {
  const { status, value } = await place.json(['add', 'x', '-s', 'user', '--', 'node'], {
    env: { PLUGBOARD_HOME: '', ...env },
  });
  return { status, file: (value as { file?: unknown }).file };
}

describe('the home', () => {
  it('is $XDG_CONFIG_HOME/plugboard, else ~/.config/plugboard', async () => {
    const [xdg, home] = [join(place.dir, 'xdg'), join(place.dir, 'me')];
    expect(await written({ XDG_CONFIG_HOME: xdg, HOME: home })).toEqual({
      status: 0,
      file: join(xdg, 'plugboard', 'config.json'),
    });
    expect(await written({ XDG_CONFIG_HOME: '', HOME: home })).toEqual({
      status: 0,
      file: join(home, '.config', 'plugboard', 'config.json'),
    });
  });

  it('A12: is never inside the project because a variable is relative', async () => {
    const home = join(place.dir, 'me');
    expect(await written({ XDG_CONFIG_HOME: 'config', HOME: home })).toEqual({
      status: 0,
      file: join(home, '.config', 'plugboard', 'config.json'),
    });
    expect(readdirSync(place.project)).toEqual(['.git']);
  });

  it('where nothing can be created, reports it instead of retrying without end', async () => {
    const env = { PLUGBOARD_HOME: '/proc/plugboard-has-no-home-here' };
    const { status, value } = await place.json(['add', 'x', '--', 'node'], { env });
    expect({ status, value }).toMatchObject({ status: 2, value: { error: { code: 'CONFIG_UNWRITABLE' } } });
    const remote = ['--server', 'remote=http://127.0.0.1:1/mcp'];
    expect((await place.json(['list', ...remote], { env })).status).toBe(0);
  });
});

describe('the project', () => {
  it('ends the search for .mcp.json, nearest first, and is the key of the local scope', async () => {
    const [sub, deep] = [join(place.project, 'sub'), join(place.project, 'sub', 'deep')];
    mkdirSync(deep, { recursive: true });
    place.write(join(place.dir, '.mcp.json'), { mcpServers: { outside: { command: 'o' } } });
    place.write(place.projectFile, { mcpServers: { both: { command: 'far' }, root: { command: 'r' } } });
    place.write(join(sub, '.mcp.json'), { mcpServers: { both: { command: 'near' } } });
    expect((await place.json(['add', 'mine', '--', 'm'], { cwd: deep })).status).toBe(0);
    expect(place.read(place.userFile)).toEqual({
      projects: { [place.project]: { mcpServers: { mine: { command: 'm' } } } },
    });
    const { value } = await place.json(['list', '--no-connect'], { cwd: deep });
    const { servers } = value as { servers: { name: string; scope: string; status: string }[] };
    expect(servers.map(({ name, scope, status }) => [name, scope, status])).toEqual([
      ['mine', 'local', 'idle'],
      ['both', 'project', 'untrusted'],
      ['root', 'project', 'untrusted'],
    ]);
    expect((await place.json(['get', 'both'], { cwd: deep })).value).toMatchObject({
      file: '<project>/sub/.mcp.json',
      entry: { command: 'near' },
    });
  });
});
