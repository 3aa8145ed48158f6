/** `plugboard login`: logs in to a remote server through the browser, or with a pasted url if there is no browser. */

import { oneLine } from '../../policy/clean.ts';
import { askForText } from '../ask.ts';
import type { CliCommand, Context, Flags } from '../cli-command.ts';
import { openHost } from '../with-host.ts';

export const login: CliCommand = {
  configure(command): void {
    command
      .argument('<server>', 'the server')
      .option('--no-browser', 'print the url, and ask for the one that the browser is redirected to')
      .addHelpText(
        'after',
        '\nExamples:\n  plugboard login docs\n  plugboard login docs --no-browser   (over SSH)',
      );
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const [name = ''] = args;
    const { output, signal } = context;
    const noBrowser = flags['browser'] === false;
    return openHost(context, { servers: [name], connect: 'none' }, async ({ host }) => {
      await host.login(name, {
        signal,
        noBrowser,
        onUrl: (url, opened) => {
          const what = opened ? 'Your browser was opened. If nothing happened, open' : 'Open';
          output.note(`${what} this url to log in to ${oneLine(name)}:\n\n  ${url}\n`);
        },
        ...(output.canAsk && noBrowser
          ? {
              readPastedRedirect: (given: AbortSignal) =>
                askForText(
                  { output, signal: AbortSignal.any([signal, given]) },
                  'Paste the url that the browser was redirected to',
                ),
            }
          : {}),
      });
      const credentials = await host.credentialPlace(name);
      const place = credentials === 'file' ? context.home.credentials : 'the keyring';
      output.answer(
        { server: name, loggedIn: true, credentials },
        () => `Logged in to ${name}; the login is stored in ${place}.`,
      );
      return 0;
    });
  },
};
