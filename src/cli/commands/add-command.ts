/** `plugboard add`: adds a server from arguments and flags. */

import { Option } from 'commander';
import { checkServerName } from '../../config/parse.ts';
import { transportTypes } from '../../config/transport-kinds.ts';
import { PlugboardError } from '../../errors.ts';
import { joinArgv } from '../../lib/argv.ts';
import { type CliCommand, type Context, collect, type Flags } from '../cli-command.ts';
import { newEntry, settleTarget } from '../entry-from-flags.ts';
import { saveServer } from '../save-server.ts';
import { scopeFlag, scopeOption } from '../scope-flag.ts';

export const add: CliCommand = {
  configure(command): void {
    command
      .usage(
        '<name> [flags] -- <command> [args…]\n       plugboard add <name> <url> [flags]\n       plugboard add --preset [id] [name] [key=value…]',
      )
      .argument('[name]', 'name for the server')
      .argument('[target...]', 'the url of the server, or its command after --')
      .option('--preset [id]', 'add a well-known server; without an id, list them')
      .addOption(
        scopeOption('scope: local (only you, only this project; default), project (.mcp.json), user'),
      )
      .addOption(new Option('-t, --transport <kind>', 'transport to use').choices(transportTypes()))
      .option('-e, --env <NAME=VALUE>', 'set an environment variable (repeatable)', collect)
      .option('-H, --header <Name: value>', 'send a header to its url (repeatable)', collect)
      .option('--bearer-token-env-var <name>', 'environment variable with its bearer token')
      .option('--client-id <id>', 'OAuth client id')
      .option(
        '--client-secret-file <file>',
        'file with the OAuth client secret, which is stored in the keyring; - reads stdin',
      )
      .option(
        '--client-secret [secret]',
        `OAuth client secret; without a value you are asked, '\${VAR}' reads a variable; other users can see a value given here`,
      )
      .option('--callback-port <port>', 'port of the OAuth redirect url')
      .option('--oauth-scope <scope>', 'OAuth scope to request at login (repeatable)', collect)
      .option('--startup-timeout <ms>', 'maximum time to start, in milliseconds')
      .option('--tool-timeout <ms>', 'maximum time of a call without output or progress, in milliseconds')
      .option('--server-cwd <dir>', 'folder to run it in')
      .option('--allow-secret', 'allow a plain-text secret in the shared .mcp.json')
      .option('-f, --force', 'replace an existing entry with this name')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    if (flags['preset'] !== undefined) {
      const { addPreset } = await import('../presets/add-preset.ts');
      return addPreset(context, args, flags);
    }
    const { afterDashes } = context;
    const [name, ...words] = args.slice(0, args.length - (afterDashes?.length ?? 0));
    if (name === undefined) throw missingName(afterDashes);
    const badName = checkServerName(name);
    if (badName !== undefined) {
      throw new PlugboardError('USAGE', badName, {
        hint: 'Choose a short name such as "files" or "my-server".',
      });
    }
    const given = { words, afterDashes };
    const target = flags['transport'] === undefined ? await settleTarget(context, name, given) : given;
    return saveServer(context, {
      name,
      raw: newEntry(target, await withClientSecret(context, flags)),
      scope: scopeFlag(flags) ?? 'local',
      replace: flags['force'] === true,
      allowSecret: flags['allowSecret'] === true,
    });
  },
};

function missingName(afterDashes: readonly string[] | undefined): PlugboardError {
  const command = afterDashes === undefined ? '<command> [args…]' : joinArgv(afterDashes);
  return new PlugboardError('USAGE', 'Missing argument <name>', {
    hint: `Usage: plugboard add <name> -- ${command}, or plugboard add <name> <url>.`,
  });
}

/** Reads the client secret; the environment is only used if a client id is given. */
async function withClientSecret(context: Context, flags: Flags): Promise<Flags> {
  const { clientSecretFile: _file, ...others } = flags;
  const { readSecret } = await import('../secret-flag.ts');
  const clientSecret = await readSecret(context, flags, CLIENT_SECRET, {
    env: flags['clientId'] !== undefined,
  });
  return clientSecret === undefined ? others : { ...others, clientSecret };
}

const CLIENT_SECRET = {
  value: 'clientSecret',
  file: 'clientSecretFile',
  flag: '--client-secret',
  variable: 'PLUGBOARD_CLIENT_SECRET',
  question: "The client's secret",
};

const EXAMPLES = `
A command without flags needs no --: plugboard add time uvx mcp-server-time

Examples:
  plugboard add --preset github
  plugboard add notes -- npx -y my-notes-server '\${PROJECT_DIR}'
  plugboard add github -s user -e 'TOKEN=\${GITHUB_TOKEN}' -- github-mcp-server stdio
  plugboard add docs https://example.com/mcp -H 'X-Key: \${DOCS_KEY}'`;
