/** `plugboard logout`: deletes the login of a remote server, here and in every running host. */

import type { CliCommand, Context } from '../cli-command.ts';
import { isUrl } from '../extra-server.ts';
import { openHost } from '../with-host.ts';

export const logout: CliCommand = {
  configure(command): void {
    command
      .argument('<server>', 'the server, or the url of one that was removed')
      .addHelpText('after', '\nExample:\n  plugboard logout docs');
  },

  async run(context: Context, args: readonly string[]): Promise<number> {
    const [given = ''] = args;
    // The login of a removed server is still stored under its url.
    const isAddress = isUrl(given) && URL.canParse(given);
    const name = isAddress ? new URL(given).hostname : given;
    const extra = isAddress ? { ...context.extra, [name]: { url: given } } : context.extra;
    // A shared host does not include this temporary server.
    const own = isAddress ? { config: undefined, openHost: undefined } : {};
    return openHost({ ...context, extra, ...own }, { servers: [name], connect: 'none' }, async ({ host }) => {
      const removed = await host.logout(name);
      context.output.answer({ server: name, removed }, () =>
        removed ? `Logged out of ${name}.` : `There was no login for ${name}.`,
      );
      return 0;
    });
  },
};
