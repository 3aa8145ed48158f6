/** `plugboard down`: undoes `up`. */

import type { CliCommand, Context, Flags } from '../cli-command.ts';
import { moveOut } from '../moving-in/move-out.ts';

export const down: CliCommand = {
  configure(command): void {
    command
      .option('--dry-run', 'show what would be undone without changing anything')
      .option('--all', 'also remove the service, stored secrets and the home')
      .option('-y, --yes', 'do not ask for confirmation')
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
Restores every file that Plugboard changed: byte for byte if nothing else changed it since, otherwise only
Plugboard's own edits are reverted and the other changes stay.

Examples:
  plugboard down --dry-run
  plugboard down
  plugboard down --all`;
