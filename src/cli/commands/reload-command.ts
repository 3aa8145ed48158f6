/** `plugboard reload`: makes running daemons reload the configuration, and prints their status. */

import { reloadDaemons } from '../../daemon/client/control.ts';
import type { CliCommand, Context } from '../cli-command.ts';

export const reload: CliCommand = {
  configure(command): void {
    command.addHelpText(
      'after',
      '\nThe daemon also detects changed files by itself. Only servers whose configuration changed are restarted.\n\nExamples:\n  plugboard reload',
    );
  },

  async run({ home, output }: Context): Promise<number> {
    const daemons = await reloadDaemons(home);
    output.answer({ reloaded: daemons.length, daemons }, () =>
      daemons.length === 0
        ? 'The daemon is not running, so there is nothing to reload.'
        : 'The daemon has reloaded its configuration.',
    );
    return 0;
  },
};
