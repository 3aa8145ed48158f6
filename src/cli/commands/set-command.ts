/** `plugboard set` and `plugboard unset`: change single values of a server's entry. */

import { assign, parseAssignment, parseKey, unassign } from '../../config/assign.ts';
import { ENTRY_KEYS } from '../../config/config-keys.ts';
import { changeEntry, findEntry } from '../change-entry.ts';
import type { CliCommand, Context, Flags } from '../cli-command.ts';
import { scopeFlag, scopeOption } from '../scope-flag.ts';

export const set: CliCommand = {
  configure(command): void {
    command
      .argument('<server>', 'the server')
      .argument('<assignment...>', 'key=value, key:=json, or env.NAME=value for one member')
      .addOption(scopeOption('scope of the entry, if several have one (default: the one in use)'))
      .option('--allow-secret', 'allow a plain-text secret in the shared .mcp.json')
      .addHelpText('after', SET_EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const [name = '', ...words] = args;
    const found = await findEntry(context, name, scopeFlag(flags));
    const assignments = words.map(parseAssignment);
    return changeEntry(context, name, found, {
      raw: assign(found.raw, assignments),
      touched: assignments.map(({ path }) => path),
      allowSecret: flags['allowSecret'] === true,
    });
  },
};

export const unset: CliCommand = {
  configure(command): void {
    command
      .argument('<server>', 'the server')
      .argument('<key...>', 'a key of its entry, or env.NAME for one member')
      .addOption(scopeOption('scope of the entry, if several have one (default: the one in use)'))
      .addHelpText('after', UNSET_EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const [name = '', ...keys] = args;
    const found = await findEntry(context, name, scopeFlag(flags));
    // An unknown key can be removed too.
    const isStranger = (key: string): boolean => Object.hasOwn(found.raw, key) && !ENTRY_KEYS.has(key);
    const paths = keys.map((key) => (isStranger(key) ? [key] : parseKey(key)));
    return changeEntry(context, name, found, { raw: unassign(found.raw, paths, name), allowSecret: false });
  },
};

const SET_EXAMPLES = `
Comments and formatting of the file are kept. Repeat a key to write a list.

Examples:
  plugboard set files env.DEBUG=1 startupTimeoutMs=60000
  plugboard set docs 'headers.X-Key=\${DOCS_KEY}' -s user
  plugboard set files args:='["-y", "some-server", "."]'`;

const UNSET_EXAMPLES = `
Examples:
  plugboard unset files env.DEBUG
  plugboard unset files cwd startupTimeoutMs -s user`;
