/** The global flag `--server name=command args…` or `--server name=url`: one more server for this run. */

import type { ServerEntry } from '../config/entry.ts';
import { withAbsolutePaths } from '../config/relative-paths.ts';
import { PlugboardError } from '../errors.ts';
import { splitWords } from './words.ts';

const EXAMPLE = "Write --server 'files=npx -y some-server' or --server docs=https://example.com/mcp.";

/** Relative paths begin at the folder that the person is in, as everywhere in a shell. */
export function parseExtraServers(values: readonly string[], cwd: string): Record<string, ServerEntry> {
  const servers: Record<string, ServerEntry> = Object.create(null);
  for (const value of values) {
    const at = value.indexOf('=');
    const name = value.slice(0, at).trim();
    const rest = value.slice(at + 1).trim();
    if (at < 1 || name === '' || rest === '') {
      throw new PlugboardError('USAGE', `--server needs a name and a command or url, not "${value}".`, {
        hint: EXAMPLE,
      });
    }
    servers[name] = isUrl(rest) ? { url: rest } : commandEntry(rest, cwd);
  }
  return servers;
}

export function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

function commandEntry(text: string, cwd: string): ServerEntry {
  const [command, ...args] = splitWords(text);
  if (command === undefined) {
    throw new PlugboardError('USAGE', `--server was given an empty command: "${text}".`, { hint: EXAMPLE });
  }
  return withAbsolutePaths({ command, args }, cwd).raw;
}
