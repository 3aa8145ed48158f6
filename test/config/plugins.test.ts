import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expandEntry } from '../../src/config/expand.ts';
import { type LoadedConfig, loadConfig } from '../../src/config/load.ts';
import { openTrust } from '../../src/policy/trust.ts';
import { type Scratch, scratch } from '../world/scratch.ts';

/** A plugin's folder with these files, and a configuration that has it switched on. */
function plugged(files: Readonly<Record<string, unknown>>, name = 'acme'): Scratch & { folder: string } {
  const place = scratch();
  const folder = join(place.home.dir, '..', 'plugins', name);
  for (const [file, content] of Object.entries(files)) {
    place.write(join(folder, file), typeof content === 'string' ? content : JSON.stringify(content));
  }
  place.write(place.home.config, JSON.stringify({ plugins: { [name]: { path: folder } } }));
  return { ...place, folder };
}

const load = ({ root, home }: Scratch): Promise<LoadedConfig> => loadConfig({ cwd: root, home });

describe('a plugin', () => {
  it('CFG-7: brings servers from .mcp.json, called by its name, in the weakest scope', async () => {
    const place = plugged({
      '.mcp.json': { mcpServers: { db: { command: 'node', args: [`\${PLUGIN_ROOT}/a.mjs`] } } },
    });
    const { servers, problems } = await load(place);
    expect(problems).toEqual([]);
    expect(servers).toMatchObject([
      { name: 'acme:db', scope: 'plugin', file: join(place.folder, '.mcp.json'), baseDir: place.folder },
    ]);
    const [spec] = servers;
    expect(spec && expandEntry(spec, {})).toEqual({
      command: 'node',
      args: [join(place.folder, 'a.mjs')],
      env: {
        PLUGIN_ROOT: place.folder,
        CLAUDE_PLUGIN_ROOT: place.folder,
        PLUGIN_DATA: join(place.home.dir, 'plugin-data', 'acme'),
        CLAUDE_PLUGIN_DATA: join(place.home.dir, 'plugin-data', 'acme'),
        CLAUDE_PROJECT_DIR: place.root,
      },
    });
    const own = { mcpServers: { 'acme:db': { command: 'mine' } }, plugins: { acme: { path: place.folder } } };
    place.write(place.home.config, JSON.stringify(own));
    expect((await load(place)).servers).toMatchObject([{ scope: 'user', entry: { command: 'mine' } }]);
  });

  it.each([
    ['plugin.json with servers', { 'plugin.json': { name: 'x', mcpServers: { s: { command: 'c' } } } }],
    ['a manifest of Claude Code', { '.claude-plugin/plugin.json': { mcpServers: { s: { command: 'c' } } } }],
    [
      'a manifest with a path',
      {
        '.claude-plugin/plugin.json': { mcpServers: './cfg/mcp.json' },
        'cfg/mcp.json': { s: { command: 'c' } },
      },
    ],
    [
      'a manifest beside a file, of which it is the stronger',
      {
        'plugin.json': { mcpServers: { s: { command: 'c' } } },
        '.mcp.json': { mcpServers: { s: { command: 'weaker' } } },
      },
    ],
    ['a file with nothing but servers', { 'mcp.json': { s: { command: 'c' } } }],
  ])('CFG-7: has servers in %s', async (_what, files) => {
    const { servers, problems } = await load(plugged(files));
    expect(problems).toEqual([]);
    expect(servers.map(({ name, entry }) => [name, entry])).toEqual([['acme:s', { command: 'c' }]]);
  });

  it('CFG-7: needs consent, bound to its entry and to the scripts it names', async () => {
    const place = plugged({
      '.mcp.json': { mcpServers: { db: { command: 'node', args: [`\${CLAUDE_PLUGIN_ROOT}/run.mjs`] } } },
      'run.mjs': 'one',
    });
    const { servers } = await load(place);
    const trust = openTrust({ home: place.home, env: {} });
    const state = async (): Promise<unknown> => (await trust.verdicts(servers)).get('acme:db')?.state;
    expect(await state()).toBe('unknown');
    await trust.grant(servers);
    expect(await state()).toBe('trusted');
    place.write(join(place.folder, 'run.mjs'), 'two');
    expect(await state()).toBe('changed');
  });

  it('POL-2: cannot weaken protections, and cannot refer to files outside its folder', async () => {
    const place = plugged({
      '.mcp.json': `{
  "mcpServers": {
    "guard": { "command": "c", "trusted": true, "approval": "approve", "inheritEnv": true, "pins": "off" },
    "out": { "command": "\${PLUGIN_ROOT}/bin", "args": ["--x=\${PLUGIN_ROOT}/a/../../b"] },
    "in": { "command": "\${PLUGIN_ROOT}/a/../b" },
    "broken": { "args": [] }
  }
}`,
      'plugin.json': { mcpServers: '../elsewhere.json' },
    });
    const { servers, problems } = await load(place);
    expect(servers.map(({ name, entry }) => [name, entry])).toEqual([
      ['acme:guard', { command: 'c' }],
      ['acme:in', { command: `\${PLUGIN_ROOT}/a/../b` }],
    ]);
    const effect = (key: string): string => `"${key}" has no effect in a plugin's file`;
    expect(
      problems.map(({ file, line, server, message }) => [
        file.slice(place.folder.length + 1),
        line,
        server,
        message,
      ]),
    ).toEqual([
      [
        'plugin.json',
        1,
        undefined,
        '"mcpServers" must be servers by name, or files inside the folder of the plugin',
      ],
      ['.mcp.json', 3, 'acme:guard', effect('trusted')],
      ['.mcp.json', 3, 'acme:guard', effect('inheritEnv')],
      ['.mcp.json', 3, 'acme:guard', effect('approval')],
      ['.mcp.json', 3, 'acme:guard', effect('pins')],
      ['.mcp.json', 6, 'acme:broken', 'It has neither a "command" nor a "url"'],
      ['.mcp.json', 4, 'acme:out', '"args[0]" leads out of the folder of its plugin'],
    ]);
  });

  it('POL-2: a file of it that is a link to elsewhere is not followed', async () => {
    const place = plugged({ 'plugin.json': { mcpServers: './linked.json' } });
    const outside = place.write(join(place.root, 'outside.json'), '{"mcpServers":{"s":{"command":"c"}}}');
    symlinkSync(outside, join(place.folder, 'linked.json'));
    expect((await load(place)).servers).toEqual([]);
  });

  it('CFG-7: one that is off, gone, broken or without a folder harms nothing else', async () => {
    const place = plugged({ '.mcp.json': '{ "mcpServers": ' });
    const plugins = {
      acme: { path: place.folder },
      gone: { path: join(place.folder, 'gone') },
      off: { path: place.folder, enabled: false },
      none: {},
    };
    place.write(place.home.config, JSON.stringify({ mcpServers: { mine: { command: 'x' } }, plugins }));
    const { servers, problems, unreadable } = await load(place);
    expect(servers.map(({ name }) => name)).toEqual(['mine']);
    expect(unreadable).toEqual([join(place.folder, '.mcp.json')]);
    expect(problems.map(({ message }) => message)).toEqual([
      '"plugins.none" has no "path"',
      'The file is not valid JSON: unexpected end of file: a value is missing here',
      'The plugin "gone" no longer exists, or defines no servers',
    ]);
    rmSync(place.folder, { recursive: true });
    expect((await load(place)).servers.map(({ name }) => name)).toEqual(['mine']);
  });
});
