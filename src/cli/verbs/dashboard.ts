/** `plugboard dashboard`: the page and its API on this machine, and the address that opens it. */

import type { Command } from 'commander';
import { SERVED_SESSIONS } from '../../serve/served-sessions.ts';
import { port } from '../flags.ts';
import { aborted } from '../interrupt.ts';
import { type Context, type Flags, textFlag, type Verb } from '../verb.ts';
import { withOwnHost } from '../with-own-host.ts';

export const dashboard: Verb = {
  configure(command: Command): void {
    command
      .option('--port <port>', 'serve on this port (default: 7420, or the next that is free)')
      .addHelpText('after', '\nExample:\n  plugboard dashboard');
  },

  async run(context: Context, _args: readonly string[], flags: Flags): Promise<number> {
    const { signal, home, output } = context;
    const given = textFlag(flags, 'port');
    // 0 takes any free port.
    const wanted = given === undefined || given === '0' ? given : port('--port', given);
    return withOwnHost(context, { workspace: true, sessions: SERVED_SESSIONS }, async (host) => {
      const [{ serveHttp, pageWithToken }, { onFreePort }, { gatewayToken }] = await Promise.all([
        import('../../manage/http.ts'),
        import('../../manage/free-port.ts'),
        import('../../serve/token.ts'),
      ]);
      const { token } = await gatewayToken(home);
      const serve = (at: number): ReturnType<typeof serveHttp> => serveHttp(host, { port: at, token });
      const served =
        wanted === undefined ? await onFreePort(serve, { taken: () => {} }) : await serve(Number(wanted));
      const page = pageWithToken(served.page ?? '', token);
      output.answer({ page, url: served.url }, () =>
        ['Open this address in a browser:', `  ${page}`, 'End with Ctrl-C.'].join('\n'),
      );
      await Promise.race([served.closed, aborted(signal).catch(() => {})]);
      await served.close();
      return 0;
    });
  },
};
