/** `plugboard enable` and `plugboard disable`: for oneself by default, in the shared file with `-s project`. */

import { PROJECT_FILE } from '../../config/load.ts';
import { supplierOf } from '../../config/scopes.ts';
import { switchServer } from '../../setup/switch-server.ts';
import type { CliCommand, Context, Flags } from '../cli-command.ts';
import { serverDocument, trustDecisions } from '../config-report.ts';
import { scopeFlag, scopeOption } from '../scope-flag.ts';

export const enable: CliCommand = switching(true);
export const disable: CliCommand = switching(false);

function switching(enabled: boolean): CliCommand {
  return {
    configure(command): void {
      const word = enabled ? 'enable' : 'disable';
      command
        .argument('<name>', 'the server')
        .addOption(
          scopeOption(
            'project: for everyone, in .mcp.json; local: for you, in this project; user: for you, everywhere',
          ),
        )
        .addHelpText(
          'after',
          `\nA server of a project is switched only for you, in your own config.json, unless -s project is given.\n\nExamples:\n  plugboard ${word} files\n  plugboard ${word} files -s project`,
        );
    },
    run: (context, args, flags) => run(context, args[0] ?? '', enabled, flags),
  };
}

async function run(context: Context, name: string, enabled: boolean, flags: Flags): Promise<number> {
  const { home, output, env } = context;
  const switched = await switchServer(context, name, enabled, scopeFlag(flags));
  const { before, after, config, isPersonal } = switched;
  const verdicts = await trustDecisions([after], context);
  const authority = { managed: config.managed, env };
  output.answer(serverDocument(after, verdicts, authority), () => {
    const done = enabled ? output.paint.good('Enabled') : 'Disabled';
    if ((before.entry.enabled !== false) === enabled && (after.entry.enabled !== false) === enabled) {
      return `${name} of ${after.scope} scope was already ${enabled ? 'enabled' : 'disabled'}.`;
    }
    if (!isPersonal) return `${done} ${name} of ${after.scope} scope in ${after.file}`;
    return `${done} ${name} for you in this project, in ${home.config}`;
  });
  if (isPersonal && supplierOf(before) === 'project' && !output.json) {
    const word = enabled ? 'enable' : 'disable';
    output.note(
      `${PROJECT_FILE} is unchanged; plugboard ${word} ${name} -s project changes it for everyone.`,
    );
  }
  return 0;
}
