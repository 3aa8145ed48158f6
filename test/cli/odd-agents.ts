/** Agents' files as people have them: comments, CRLF, tabs, byte order marks, links, empty files, unknown keys. */

import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { FIXTURES } from './command.ts';
import type { Machine } from './machine.ts';

export const ECHO_FILE: string = join(FIXTURES, 'echo.mjs');
const NODE = JSON.stringify(process.execPath);
const ECHO = JSON.stringify(ECHO_FILE);

export const CLAUDE = '.claude.json';
export const CODEX = '.codex/config.toml';
export const OPENCODE = '.config/opencode/opencode.jsonc';
export const CURSOR = '.cursor/mcp.json';
export const GEMINI = '.gemini/settings.json';
export const ZED = '.config/zed/settings.json';
export const WINDSURF = '.codeium/windsurf/mcp_config.json';

export function writeOddAgents(place: Machine): void {
  const home = (path: string): string => join(place.userHome, path);
  // Tabs, keys of its own, a local scope, no line break at the end.
  place.write(
    home(CLAUDE),
    [
      '{',
      '\t"numStartups": 7,',
      '\t"mcpServers": {',
      `\t\t"echo": { "type": "stdio", "command": ${NODE}, "args": [${ECHO}], "env": {} },`,
      '\t\t"docs": {"type": "http", "url": "https://127.0.0.1:1/mcp"}',
      '\t},',
      '\t"projects": {',
      `\t\t${JSON.stringify(place.project)}: {`,
      '\t\t\t"allowedTools": ["Bash"],',
      `\t\t\t"mcpServers": { "mine-here": { "command": ${NODE}, "args": [${ECHO}, "here"] } }`,
      '\t\t}',
      '\t},',
      '\t"tipsHistory": {"a": 1}',
      '}',
    ].join('\n'),
  );
  chmodSync(home(CLAUDE), 0o600);
  // CRLF, comments between and inside, a quoted name, a table after the servers.
  place.write(
    home(CODEX),
    [
      '# mine',
      'model = "x" # the model',
      '',
      '[mcp_servers.echo] # the same as elsewhere',
      `command = ${NODE}`,
      `args = [${ECHO}]`,
      '',
      '# about the next one',
      '[mcp_servers."with space"]',
      `command = ${NODE}`,
      '# inside',
      `args = [${ECHO}, "space"]`,
      '[mcp_servers."with space".env]',
      'LEVEL = "debug"',
      '',
      '[mcp_servers.github]',
      `command = ${NODE}`,
      `args = [${ECHO}, "github"]`,
      'env = { WHO = "codex" }',
      '',
      '[profiles.fast]',
      'model = "y"',
    ].join('\r\n'),
  );
  // A byte order mark, comments, trailing commas, three spaces.
  place.write(
    home(OPENCODE),
    [
      '\uFEFF// settings',
      '{',
      '   "theme": "dark", // nice',
      '   "mcp": {',
      '      // starts quickly',
      `      "quick": { "type": "local", "command": [${NODE}, ${ECHO}, "quick"], /* always */ "enabled": true },`,
      `      "github": { "type": "local", "command": [${NODE}, ${ECHO}, "github"], "environment": { "WHO": "opencode" } },`,
      '   },',
      '}',
      '',
      '',
    ].join('\n'),
  );
  // A link to a file elsewhere, all on one line, with another server of our name.
  place.write(
    home('dotfiles/cursor.json'),
    `{"mcpServers":{"plugboard":{"command":${NODE},"args":[${ECHO},"other"]},"solo":{"command":${NODE},"args":[${ECHO},"solo"]}}}`,
  );
  mkdirSync(home('.cursor'));
  symlinkSync('../dotfiles/cursor.json', home(CURSOR));
  place.write(home(GEMINI), '');
  // A folder without the file.
  mkdirSync(home('.config/zed'), { recursive: true });
  // Four spaces, CRLF, an entry that loses a key on the way.
  place.write(
    home(WINDSURF),
    [
      '{',
      '    "other": [1,  2],',
      '    "mcpServers": {',
      `        "surf": { "command": ${NODE}, "args": [${ECHO}, "surf"], "oddity": true }`,
      '    }',
      '}',
      '',
    ].join('\r\n'),
  );
}

/** Every file below a folder with its text, mode and target of a link. */
export function treeOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name);
    const mode = (lstatSync(path).mode & 0o777).toString(8);
    const content = entry.isSymbolicLink()
      ? `-> ${readlinkSync(path)}`
      : entry.isDirectory()
        ? ''
        : readFileSync(path, 'utf8');
    return [relative(folder, path), `${mode} ${content}`] as const;
  });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
