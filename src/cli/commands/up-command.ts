/** `plugboard up`: sets up Plugboard for all agents, step by step. */

import { Option } from 'commander';
import { AGENTS, agentCalled } from '../../config/import/agents.ts';
import { PlugboardError } from '../../errors.ts';
import { type CliCommand, type Context, collect, type Flags, listFlag } from '../cli-command.ts';
import { moveIn } from '../moving-in/move-in.ts';
import { STEPS } from '../moving-in/steps.ts';

export const up: CliCommand = {
  configure(command): void {
    command
      .option('-y, --yes', 'do every step without asking')
      .option('--dry-run', 'show every step without changing anything')
      .addOption(
        new Option('--agent <id>', 'only this agent (repeatable); default: all that are installed')
          .choices(AGENTS.map(({ id }) => id))
          .argParser(collect),
      )
      .addOption(new Option('--skip <step>', 'skip this step (repeatable)').choices(STEPS).argParser(collect))
      .addHelpText('after', EXAMPLES);
  },

  run(context: Context, _args: readonly string[], flags: Flags): Promise<number> {
    const skip = listFlag(flags, 'skip');
    const unknown = skip.find((step) => !STEPS.some((each) => each === step));
    if (unknown !== undefined) {
      throw new PlugboardError('USAGE', `Unknown step ${JSON.stringify(unknown)}`, {
        hint: `The steps are ${STEPS.join(', ')}.`,
      });
    }
    return moveIn(context, {
      agents: [...new Set(listFlag(flags, 'agent').map(agentCalled))],
      yes: flags['yes'] === true,
      isDry: flags['dryRun'] === true,
      skip,
    });
  },
};

const EXAMPLES = `
Shows the servers of all your agents, imports them, offers to store values that are set only in this shell, writes
Plugboard into the agents, removes from them the servers they would have twice, connects to every server once and asks
for logins. Every step is shown first and needs your confirmation. Without a terminal, nothing is changed without --yes.
Run plugboard down to undo it.

Examples:
  plugboard up --dry-run
  plugboard up
  plugboard up --yes --agent codex --skip values`;
