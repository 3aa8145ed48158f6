/** `plugboard export`: writes Plugboard into another agent's configuration, or reverts that. */

import { Option } from 'commander';
import { AGENTS, agentCalled } from '../../config/import/agents.ts';
import { PlugboardError } from '../../errors.ts';
import { type CliCommand, type Context, type Flags, textFlag } from '../cli-command.ts';
import { checkProfile } from '../known-profile.ts';
import { exportToAgent, undoExport } from '../moving-in/export-agent.ts';

export const exportCommand: CliCommand = {
  configure(command): void {
    command
      .requiredOption('--to <agent>', `agent to write to: ${AGENTS.map(({ id }) => id).join(', ')}`)
      .addOption(
        new Option('-s, --scope <scope>', 'your own file (user; default) or the file of the project').choices(
          ['user', 'project'],
        ),
      )
      .option('--dry-run', 'show the change without writing it')
      .option('--overwrite', 'replace another entry called "plugboard"')
      .option('--move', 'also remove from the agent the servers that Plugboard serves')
      .option('--profile <name>', 'give the agent only the servers, tools and rules of this profile')
      .option('--undo', 'undo an earlier export')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, _args: readonly string[], flags: Flags): Promise<number> {
    const agent = agentCalled(textFlag(flags, 'to') ?? '');
    const scope = textFlag(flags, 'scope') === 'project' ? 'project' : 'user';
    const target = { agent, scope, isDry: flags['dryRun'] === true } as const;
    const move = flags['move'] === true;
    if (flags['undo'] === true) return undoExport(context, target);
    if (move && scope === 'project') {
      throw new PlugboardError('USAGE', 'A project file is shared, so --move does not edit it', {
        hint: 'Remove --scope: --move edits your own files.',
      });
    }
    const profile = textFlag(flags, 'profile');
    if (move && profile !== undefined) {
      throw new PlugboardError('USAGE', 'The agent would lose servers that are not in the profile', {
        hint: 'Use --move without --profile, or --profile without --move.',
      });
    }
    if (profile !== undefined) await checkProfile(context, profile);
    return exportToAgent(context, target, { overwrite: flags['overwrite'] === true, move, profile });
  },
};

const EXAMPLES = `
The agent then has all servers of Plugboard as one server called "plugboard": plugboard serve --stdio.
--move removes from the agent the servers that Plugboard serves identically, so that it does not have them twice. It
never edits files of a project.

Examples:
  plugboard export --to codex --dry-run    show the change
  plugboard export --to codex --move
  plugboard export --to codex --profile read-only
  plugboard export --to codex --undo       undo the export`;
