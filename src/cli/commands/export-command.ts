/** `plugboard export`: writes Plugboard into another agent's configuration, or reverts that. */

import { type Command, Option } from 'commander';
import { AGENTS, agentCalled } from '../../config/import/agents.ts';
import { PlugboardError } from '../../errors.ts';
import { type CliCommand, type Context, type Flags, textFlag } from '../cli-command.ts';
import { exportToAgent, undoExport } from '../moving-in/export-agent.ts';

export const exportCommand: CliCommand = {
  configure(command: Command): void {
    command
      .requiredOption('--to <agent>', `whose configuration: ${AGENTS.map(({ id }) => id).join(', ')}`)
      .addOption(
        new Option('-s, --scope <scope>', 'your own file (user, the default) or that of the project').choices(
          ['user', 'project'],
        ),
      )
      .option('--dry-run', 'show the change; write nothing')
      .option('--overwrite', 'replace another entry called "plugboard"')
      .option('--move', 'also remove the servers that Plugboard serves from the agent')
      .option('--undo', 'undo an earlier export')
      .addHelpText('after', EXAMPLES);
  },

  run(context: Context, _args: readonly string[], flags: Flags): Promise<number> {
    const agent = agentCalled(textFlag(flags, 'to') ?? '');
    const scope = textFlag(flags, 'scope') === 'project' ? 'project' : 'user';
    const target = { agent, scope, isDry: flags['dryRun'] === true } as const;
    const move = flags['move'] === true;
    if (flags['undo'] === true) return undoExport(context, target);
    if (move && scope === 'project') {
      throw new PlugboardError('USAGE', 'A project file is shared, so --move does not edit it.', {
        hint: 'Leave --scope out: --move works on your own files.',
      });
    }
    return exportToAgent(context, target, { overwrite: flags['overwrite'] === true, move });
  },
};

const EXAMPLES = `
Every server that Plugboard has is then there as one server called "plugboard": plugboard serve --stdio.
--move takes out of the agent what Plugboard serves in the same way, so that it has nothing twice. Files of a project
are never edited for that.

Examples:
  plugboard export --to codex --dry-run    the change, without making it
  plugboard export --to codex --move
  plugboard export --to codex --undo       as it was before`;
