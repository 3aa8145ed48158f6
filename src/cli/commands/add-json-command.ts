/** `plugboard add-json`: adds servers from JSON, as found in a configuration file or a README. */

import { PlugboardError } from '../../errors.ts';
import { oneLine } from '../../policy/clean.ts';
import { type Pasted, pastedServers } from '../../setup/pasted-servers.ts';
import type { CliCommand, Context, Flags } from '../cli-command.ts';
import { readStdin } from '../read-stdin.ts';
import { type NewServer, saveServer, saveServers } from '../save-server.ts';
import { scopeFlag, scopeOption } from '../scope-flag.ts';

const STDIN = '-';

export const addJson: CliCommand = {
  configure(command): void {
    command
      .usage('[name] <json> [flags]\n       plugboard add-json [name] - < file')
      .argument('[name]', 'name for the server; optional if the JSON has one')
      .argument('[json]', 'one entry, or {"mcpServers": {…}} with one or more; - reads stdin')
      .addOption(
        scopeOption('scope: local (only you, only this project; default), project (.mcp.json), user'),
      )
      .option('--allow-secret', 'allow a plain-text secret in the shared .mcp.json')
      .option('-f, --force', 'replace an existing entry with this name')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const { name, json } = apart(args);
    const text = json === STDIN ? await readStdin(process.stdin) : json;
    const servers = named(pastedServers(context, text), name);
    const { output } = context;
    for (const note of servers.flatMap(({ lost }) => lost)) {
      output.remark(oneLine(note));
    }
    const all = servers.map(
      (server): NewServer => ({
        name: server.name,
        raw: server.raw,
        scope: scopeFlag(flags) ?? 'local',
        replace: flags['force'] === true,
        allowSecret: flags['allowSecret'] === true,
      }),
    );
    const [only, ...more] = all;
    return only !== undefined && more.length === 0 ? saveServer(context, only) : saveServers(context, all);
  },
};

const EXAMPLES = `
Comments and trailing commas are accepted, and so are the formats of VS Code ("servers"), OpenCode ("mcp") and Zed
("context_servers").

Examples:
  plugboard add-json docs '{"type":"http","url":"https://example.com/mcp"}'
  plugboard add-json '{"mcpServers":{"docs":{"url":"https://example.com/mcp"}}}'
  plugboard add-json - < snippet.json`;

/** A single argument is the JSON; with two, the first is the name. */
function apart(args: readonly string[]): { readonly name: string | undefined; readonly json: string } {
  const [first, second] = args;
  if (second !== undefined) return { name: first, json: second };
  if (first !== undefined && (first === STDIN || /^\s*[{["`]/.test(first)))
    return { name: undefined, json: first };
  throw new PlugboardError('USAGE', 'Missing argument <json>', {
    hint: `Write plugboard add-json ${first ?? '<name>'} '{"command":"npx","args":["-y","some-server"]}', or - to read it from stdin.`,
  });
}

interface Named extends Pasted {
  readonly name: string;
}

/** Returns the servers with their final names: for a single server, the name that was typed. */
function named(servers: readonly Pasted[], name: string | undefined): readonly Named[] {
  const [only, ...more] = servers;
  if (only === undefined) {
    throw new PlugboardError('USAGE', 'The JSON has no servers', {
      hint: 'Paste one with a "command" or a "url".',
    });
  }
  if (name !== undefined && more.length > 0) {
    const chosen = servers.find((server) => server.name === name);
    if (chosen !== undefined) return [{ ...chosen, name }];
    const names = servers.map((server) => server.name).join(', ');
    throw new PlugboardError(
      'USAGE',
      `The JSON has several servers, and none is called "${name}": ${names}`,
      {
        hint: 'Leave the name out to add all of them, or name one.',
      },
    );
  }
  if (name !== undefined) return [{ ...only, name }];
  return servers.map((server) => {
    if (server.name !== undefined) return { ...server, name: server.name };
    throw new PlugboardError('USAGE', 'The entry has no name', {
      hint: 'Write the name before the JSON: plugboard add-json <name> <json>.',
    });
  });
}
