/** Parses the global flag `--server [name=]command args…` or `--server [name=]url`: one more server for this run. */

import { homedir } from 'node:os';
import type { ServerEntry } from '../config/entry.ts';
import { withAbsolutePaths } from '../config/relative-paths.ts';
import { PlugboardError } from '../errors.ts';
import { splitArgv } from '../lib/argv.ts';

const EXAMPLE =
  "Write --server 'files=npx -y some-server', or --server docs=https://example.com/mcp. See plugboard --help.";

/** Relative paths are resolved from the person's folder, as in a shell. */
export function parseExtraServers(values: readonly string[], cwd: string): Record<string, ServerEntry> {
  const servers: Record<string, ServerEntry> = Object.create(null);
  for (const value of values) {
    const { name, rest } = apart(value.trim());
    if (name === '' || rest === '') {
      throw new PlugboardError('USAGE', `--server needs a name and a command or url, not "${value}"`, {
        hint: EXAMPLE,
      });
    }
    servers[name] = isUrl(rest) ? urlEntry(rest) : commandEntry(rest, cwd);
  }
  return servers;
}

export function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

/** Splits the name from the rest. A url is recognised first, because it may contain `=`; it is named after its host. */
function apart(value: string): { readonly name: string; readonly rest: string } {
  if (isUrl(value)) {
    const [address = ''] = value.split(/\s/, 1);
    return { name: URL.canParse(address) ? new URL(address).hostname : '', rest: value };
  }
  const [, name = '', rest = ''] = /^([^=]*)=(.*)$/s.exec(value) ?? [];
  return { name: name.trim(), rest: rest.trim() };
}

/** Parses a url, followed by headers in the form `Name:value`. */
function urlEntry(text: string): ServerEntry {
  const [url = '', ...words] = splitArgv(text);
  if (!URL.canParse(url)) {
    throw new PlugboardError('USAGE', `--server: "${url}" is not a url`, { hint: EXAMPLE });
  }
  const headers: Record<string, string> = {};
  for (let at = 0; at < words.length; at++) {
    const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/s.exec(words[at] ?? '') ?? [];
    if (name === undefined || value === undefined) {
      throw new PlugboardError('USAGE', 'After the url, --server takes headers as Name:value', {
        hint: EXAMPLE,
      });
    }
    // `X-Key: abc` is two arguments unless it is quoted.
    headers[name] = (value === '' ? (words[++at] ?? '') : value).trim();
  }
  return words.length === 0 ? { url } : { url, headers };
}

/** Assignments before a command set its environment, as in a shell. */
function commandEntry(text: string, cwd: string): ServerEntry {
  const words = splitArgv(text);
  const first = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word));
  const [command, ...args] = first === -1 ? [] : words.slice(first).map(fromHome);
  if (command === undefined) {
    throw new PlugboardError('USAGE', '--server needs a command', {
      hint: EXAMPLE,
    });
  }
  const env = Object.fromEntries(
    words.slice(0, first).map((word) => {
      const at = word.indexOf('=');
      return [word.slice(0, at), fromHome(word.slice(at + 1))];
    }),
  );
  const entry = { command, args, ...(first === 0 ? {} : { env }) };
  return withAbsolutePaths(entry, cwd).raw;
}

/** Expands `~` and `~/x`, because the shell does not expand them inside quotes. */
function fromHome(word: string): string {
  return word === '~' || word.startsWith('~/') ? homedir() + word.slice(1) : word;
}
