/** `plugboard reload`: makes running daemons reload the configuration, and prints their status. */

import type { Command } from 'commander';
import { reloadDaemons } from '../../daemon/client/control.ts';
import type { CliCommand, Context } from '../cli-command.ts';

export const reload: CliCommand = {
  configure(command: Command): void {
    command.addHelpText(
      'after',
      '\nChanged files are also noticed by themselves; only servers that changed are restarted.\n\nExamples:\n  plugboard reload',
    );
  },

  async run({ home, output }: Context): Promise<number> {
    const daemons = await reloadDaemons(home);
    output.answer({ reloaded: daemons.length, daemons }, () =>
      daemons.length === 0
        ? 'The daemon is not running: whatever starts next reads the configuration as it is.'
        : 'The daemon has read the configuration again.',
    );
    return 0;
  },
};
