/** A44: a project whose configuration file is a link to a file of the person. */

import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createHost } from '../../src/index.ts';
import { Place } from '../cli/command.ts';

const ENTRY = { command: 'node', args: ['x.mjs'] };

let place: Place;
let victim: string;
const victimText = `${JSON.stringify({ mcpServers: { there: ENTRY } }, null, 2)}\n`;
beforeEach(() => {
  place = new Place();
  victim = join(place.dir, 'agent.json');
  writeFileSync(victim, victimText);
});
afterEach(() => place.remove());

it('A44: a plain client writes through the link', () => {
  symlinkSync(victim, place.projectFile);
  writeFileSync(place.projectFile, JSON.stringify({ mcpServers: { evil: ENTRY } }));
  expect(readFileSync(victim, 'utf8')).toContain('evil');
});

it('A44: no command writes through it, and each reports the reason', async () => {
  symlinkSync(victim, place.projectFile);
  mkdirSync(join(place.project, '.cursor'));
  symlinkSync(victim, join(place.project, '.cursor', 'mcp.json'));
  const codex = join(place.project, '.codex');
  mkdirSync(codex);
  writeFileSync(join(codex, 'config.toml'), '[mcp_servers.other]\ncommand = "node"\n');
  const commands = [
    ['add', 'evil', '--scope', 'project', '--', 'node', 'x.mjs'],
    ['add-json', 'evil', JSON.stringify(ENTRY), '--scope', 'project'],
    ['add', 'there', '--force', '--scope', 'project', '--', 'node', 'y.mjs'],
    ['remove', 'there', '--scope', 'project'],
    ['disable', 'there', '--scope', 'project'],
    ['set', 'there', 'env.A=1', '--scope', 'project'],
    ['unset', 'there', 'args', '--scope', 'project'],
    ['import', 'codex', '--scope', 'project', '--yes'],
    ['export', '--to', 'cursor', '--scope', 'project'],
    ['export', '--to', 'claude-code', '--scope', 'project'],
  ];
  const outcomes = await Promise.all(
    commands.map(async (args) => {
      const { status, stdout, stderr } = await place.run(args);
      return [
        args[0],
        status !== 0,
        `${stdout}${stderr}`.includes('it is a link that leads out of the project'),
      ];
    }),
  );
  expect(outcomes).toEqual(commands.map(([name]) => [name, true, true]));
  const host = await createHost({
    cwd: place.project,
    home: place.home,
    env: process.env,
    watch: false,
    connect: 'none',
  });
  await expect(host.save('evil', ENTRY, { scope: 'project' })).rejects.toMatchObject({
    code: 'CONFIG_UNWRITABLE',
    message: `${place.projectFile} cannot be written: it is a link that leads out of the project`,
  });
  await host.close();
  expect([readFileSync(victim, 'utf8'), lstatSync(place.projectFile).isSymbolicLink()]).toEqual([
    victimText,
    true,
  ]);
});

it('A44: a link to nothing makes no file outside, and a folder that is a link is no way out', async () => {
  symlinkSync(join(place.dir, 'new.json'), place.projectFile);
  const outside = join(place.dir, 'outside');
  mkdirSync(outside);
  symlinkSync(outside, join(place.project, '.cursor'));
  const added = await place.run(['add', 'evil', '--scope', 'project', '--', 'node', 'x.mjs']);
  const exported = await place.run(['export', '--to', 'cursor', '--scope', 'project']);
  expect([added.status, exported.status]).toEqual([2, 2]);
  expect([place.read(join(place.dir, 'new.json')), place.read(join(outside, 'mcp.json'))]).toEqual([
    undefined,
    undefined,
  ]);
});

it('the person’s own file may be a link, and so may one that stays in the project', async () => {
  mkdirSync(place.home);
  symlinkSync(victim, place.userFile);
  mkdirSync(join(place.project, 'shared'));
  symlinkSync(join('shared', 'mcp.json'), place.projectFile);
  const own = await place.run(['add', 'mine', '--scope', 'user', '--', 'node', 'x.mjs']);
  const shared = await place.run(['add', 'ours', '--scope', 'project', '--', 'node', 'x.mjs']);
  expect([own.status, shared.status, lstatSync(place.userFile).isSymbolicLink()]).toEqual([0, 0, true]);
  expect(Object.keys((place.read(victim) as { mcpServers: object }).mcpServers)).toEqual(['there', 'mine']);
  expect(place.read(join(place.project, 'shared', 'mcp.json'))).toEqual({ mcpServers: { ours: ENTRY } });
});
