/** `plugboard logout`: forgets the login of a remote server, here and for every running host. */

import type { Command } from 'commander';
import type { Context, Verb } from '../verb.ts';
import { openHost } from '../with-host.ts';

export const logout: Verb = {
  configure(command: Command): void {
    command.argument('<server>', 'the server').addHelpText('after', '\nExample:\n  plugboard logout docs');
  },

  async run(context: Context, args: readonly string[]): Promise<number> {
    const [name = ''] = args;
    return openHost(context, { servers: [name], connect: 'none' }, async ({ host }) => {
      const removed = await host.logout(name);
      context.output.answer({ server: name, removed }, () =>
        removed ? `Logged out of ${name}.` : `There was no login to ${name}.`,
      );
      return 0;
    });
  },
};
