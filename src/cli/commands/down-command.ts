/** `plugboard down`: undoes `up`. */

import type { Command } from 'commander';
import type { CliCommand, Context, Flags } from '../cli-command.ts';
import { moveOut } from '../moving-in/move-out.ts';

export const down: CliCommand = {
  configure(command: Command): void {
    command
      .option('--dry-run', 'show what would be undone; change nothing')
      .option('--all', 'also remove the service, stored secrets and the home')
      .option('-y, --yes', 'do not ask before --all')
      .addHelpText('after', EXAMPLES);
  },

  run(context: Context, _args: readonly string[], flags: Flags): Promise<number> {
    return moveOut(context, {
      isDry: flags['dryRun'] === true,
      all: flags['all'] === true,
      yes: flags['yes'] === true,
    });
  },
};

const EXAMPLES = `
Every file that Plugboard changed is as it was before, to the byte if it is unchanged since. Otherwise exactly
its own edits are reversed, and the other changes stay.

Examples:
  plugboard down --dry-run
  plugboard down
  plugboard down --all`;
