/** `plugboard add-json`: a new server whose entry is given as it stands. */

import type { Command } from 'commander';
import { PlugboardError } from '../../errors.ts';
import { isRecord } from '../../lib/json-rpc.ts';
import { parseJson } from '../json-argument.ts';
import { saveServer } from '../save-server.ts';
import { scopeFlag, scopeOption } from '../scope-flag.ts';
import type { Context, Flags, Verb } from '../verb.ts';

export const addJson: Verb = {
  configure(command: Command): void {
    command
      .argument('<name>', 'name for the server')
      .argument('<json>', 'its entry, as under "mcpServers"')
      .addOption(
        scopeOption('who it is for: local (you, in this project; the default), project (.mcp.json), user'),
      )
      .option('-f, --force', 'replace an entry of the same name')
      .addHelpText('after', EXAMPLES);
  },

  run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const [name = '', json = ''] = args;
    return saveServer(context, {
      name,
      raw: parseEntryJson(json),
      scope: scopeFlag(flags) ?? 'local',
      replace: flags['force'] === true,
    });
  },
};

const EXAMPLE = `plugboard add-json docs '{"type":"http","url":"https://example.com/mcp"}'`;

const EXAMPLES = `
Example:
  ${EXAMPLE}`;

function parseEntryJson(json: string): Record<string, unknown> {
  const value = parseJson(json, { what: 'The entry', hint: `For example ${EXAMPLE}` });
  if (isRecord(value)) return value;
  throw new PlugboardError('USAGE', 'The entry has to be a JSON object.', { hint: `For example ${EXAMPLE}` });
}
