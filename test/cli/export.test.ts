import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeAgents } from '../config/import/agents.ts';
import { COMMAND } from './command.ts';
import { Machine } from './machine.ts';

let place: Machine;
beforeEach(() => {
  place = new Machine();
});
afterEach(() => place.remove());

async function exporting(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { status, value } = await place.json(['export', '--to', ...args], place.here());
  expect({ status, value }).toMatchObject({ status: 0 });
  return value as Record<string, unknown>;
}

const FILES = {
  'claude-code': '.claude.json',
  'claude-desktop': '.config/Claude/claude_desktop_config.json',
  codex: '.codex/config.toml',
  opencode: '.config/opencode/opencode.jsonc',
  cursor: '.cursor/mcp.json',
  vscode: '.config/Code/User/mcp.json',
  gemini: '.gemini/settings.json',
  windsurf: '.codeium/windsurf/mcp_config.json',
  zed: '.config/zed/settings.json',
  pi: '.pi/agent/mcp.json',
};

describe('export', () => {
  it('CFG-6: writes Plugboard into the file of every agent, keeps the rest, and takes it back exactly', async () => {
    writeAgents({ home: place.userHome, project: place.project });
    for (const [agent, path] of Object.entries(FILES)) {
      const file = join(place.userHome, path);
      const before = readFileSync(file, 'utf8');
      const dry = await exporting(agent, '--dry-run');
      expect(readFileSync(file, 'utf8')).toBe(before);
      const { backup, ...done } = await exporting(agent);
      expect({ ...done, dryRun: true }).toEqual(dry);
      expect(done).toMatchObject({ agent, file, name: 'plugboard', action: 'add' });
      expect(statSync(String(backup).replace('<home>', place.home)).mode & 0o777).toBe(0o600);
      const after = readFileSync(file, 'utf8');
      for (const line of before.split('\n')) expect(after).toContain(line.replace(/,$/, ''));
      expect(await exporting(agent)).toMatchObject({ action: 'same', diff: [] });
      expect(await exporting(agent, '--undo')).toMatchObject({ action: 'restored' });
      expect(readFileSync(file, 'utf8')).toBe(before);
    }
  });

  it('CFG-6: makes the file where there is none, and undo leaves none', async () => {
    const file = join(place.userHome, '.codex', 'config.toml');
    await exporting('codex');
    expect(readFileSync(file, 'utf8')).toBe(
      [
        '[mcp_servers.plugboard]',
        `command = ${JSON.stringify(process.execPath)}`,
        `args = [ ${JSON.stringify(COMMAND)}, "serve", "--stdio" ]`,
        '',
        '[mcp_servers.plugboard.env]',
        `PLUGBOARD_HOME = ${JSON.stringify(place.home)}`,
        '',
      ].join('\n'),
    );
    await exporting('codex', '--undo');
    expect(existsSync(file)).toBe(false);
  });

  it('CFG-6: undo keeps what others changed since, and takes out only its own entry', async () => {
    writeAgents({ home: place.userHome, project: place.project }, ['codex', 'zed']);
    for (const [agent, note] of [
      ['codex', '# since\n'],
      ['zed', '// since\n'],
    ] as const) {
      const file = join(place.userHome, FILES[agent]);
      const before = readFileSync(file, 'utf8');
      await exporting(agent);
      writeFileSync(file, note + readFileSync(file, 'utf8'));
      expect(await exporting(agent, '--undo')).toMatchObject({ action: 'removed' });
      expect(readFileSync(file, 'utf8').trimEnd()).toBe((note + before).trimEnd());
    }
  });

  it('CFG-6: another server of that name stays unless it may be overwritten, and then comes back', async () => {
    const file = join(place.userHome, '.cursor', 'mcp.json');
    const theirs = { mcpServers: { plugboard: { command: 'something-else' } } };
    place.write(file, theirs);
    const refused = await place.json(['export', '--to', 'cursor'], place.here());
    expect(refused).toMatchObject({ status: 2, value: { error: { code: 'USAGE' } } });
    expect(place.read(file)).toEqual(theirs);
    expect(await exporting('cursor', '--overwrite')).toMatchObject({ action: 'replace' });
    await exporting('cursor', '--undo');
    expect(place.read(file)).toEqual(theirs);
    expect(await place.json(['export', '--to', 'cursor', '--undo'], place.here())).toMatchObject({
      status: 2,
    });
  });

  it('CFG-5: a file that does not parse, or cannot be edited safely, is left as it is', async () => {
    for (const text of ['[mcp_servers\n', 'mcp_servers = { a = { command = "x" } }\n']) {
      const file = join(place.userHome, FILES.codex);
      place.write(file, text);
      const { status, value } = await place.json(['export', '--to', 'codex'], place.here());
      expect({ status, value }).toMatchObject({ status: 2, value: { error: { code: 'CONFIG_UNWRITABLE' } } });
      expect(readFileSync(file, 'utf8')).toBe(text);
    }
  });

  it('CFG-6: writes the path of the installed command, and its name in a project’s file', async () => {
    const bin = join(place.dir, 'bin');
    place.write(join(bin, 'plugboard'), '#!/bin/sh\n');
    const { value } = await place.json(['export', '--to', 'cursor'], place.here({ PATH: bin }));
    expect(value).toMatchObject({
      entry: { command: join(bin, 'plugboard'), args: ['serve', '--stdio'] },
    });
    const shared = await exporting('cursor', '-s', 'project');
    expect(shared).toMatchObject({
      file: '<project>/.cursor/mcp.json',
      entry: { command: 'plugboard', args: ['serve', '--stdio'] },
    });
  });

  it('CFG-6: import leaves out what export wrote, so nothing serves itself', async () => {
    await exporting('windsurf');
    const { value } = await place.json(['import', '--yes'], place.here());
    expect(value).toMatchObject({ servers: [{ name: 'plugboard', action: 'skip' }] });
    expect(dirname(String((await exporting('windsurf'))['file']))).toBe(
      join(place.userHome, '.codeium', 'windsurf'),
    );
  });
});
