/** `plugboard dashboard`: opens the daemon's page, with this folder's servers and the calls of every agent. */

import { allowsDaemon } from '../../daemon/protocol/daemon-use.ts';
import { tuneForServing } from '../../lib/tune-for-serving.ts';
import { closeAfter } from '../../lib/waits.ts';
import { oneLine } from '../../policy/clean.ts';
import { STOP_LINE } from '../../serve/connect-lines.ts';
import { SERVED_SESSIONS } from '../../serve/served-host.ts';
import { type CliCommand, type Context, type Flags, textFlag } from '../cli-command.ts';
import { port } from '../flags.ts';
import { adoptOldToken, pageToken } from '../gateway-tokens.ts';
import { programEnvironment } from '../lookup-places.ts';
import { settleInputsFirst, withOwnHost } from '../with-own-host.ts';

const OWN_NOTE =
  'note: this page has its own servers and does not show the calls and questions of other agents.';

export const dashboard: CliCommand = {
  configure(command): void {
    command
      .option('--port <port>', 'port to serve on (default: the last one, else 7420, else the next free one)')
      .option('--no-open', 'do not open the browser')
      .option('--own', 'use a separate process that shares nothing with other agents')
      .addHelpText('after', '\nExample:\n  plugboard dashboard');
  },

  async run(context: Context, _args: readonly string[], flags: Flags): Promise<number> {
    const given = textFlag(flags, 'port');
    // 0 selects any free port.
    const wanted = given === undefined ? undefined : given === '0' ? 0 : Number(port('--port', given));
    const opens = flags['open'] !== false;
    await adoptOldToken(context);
    if (flags['own'] !== true && !context.verbose && allowsDaemon(context.env)) {
      const status = await fromDaemon(context, wanted, opens);
      if (status !== undefined) return status;
    }
    context.output.note(OWN_NOTE);
    tuneForServing();
    return fromOwnHost(context, wanted, opens);
  },
};

/** Undefined if the configuration disables the daemon. */
async function fromDaemon(
  context: Context,
  wanted: number | undefined,
  opens: boolean,
): Promise<number | undefined> {
  const { cwd, env, home, extra, signal } = context;
  await settleInputsFirst(context);
  const { holdHttp } = await import('../../daemon/client/hold-http.ts');
  const { token } = await pageToken(context);
  const held = await holdHttp({
    home,
    env,
    signal,
    onWarning: (message) => context.output.note(oneLine(`warning: ${message}`)),
    request: {
      kind: 'http',
      cwd,
      env,
      servers: extra,
      listen: { port: wanted, approvals: 'client', namedTokens: true, manageToken: token },
    },
  });
  if (held === undefined) return undefined;
  await show(context, held, token, opens);
  if ((await held.closed) === 'stopped') context.output.note('note: the daemon was stopped.');
  return 0;
}

async function fromOwnHost(context: Context, wanted: number | undefined, opens: boolean): Promise<number> {
  const { signal, home } = context;
  return withOwnHost(context, { workspace: undefined, sessions: SERVED_SESSIONS }, async (host) => {
    const { onFreePort, serveHttp } = await import('../../manage/serve-http.ts');
    const { token } = await pageToken(context);
    const serve = (at: number): ReturnType<typeof serveHttp> =>
      serveHttp(host, { port: at, tokensOf: home.dir, manage: { token } });
    const served = wanted === undefined ? await onFreePort(serve, { taken: () => {} }) : await serve(wanted);
    await show(context, served, token, opens);
    await closeAfter(served, signal);
    return 0;
  });
}

async function show(
  context: Context,
  { url, page: address = '' }: { readonly url: string; readonly page?: string | undefined },
  token: string,
  opens: boolean,
): Promise<void> {
  const { output } = context;
  const { pageWithToken } = await import('../../manage/serve-http.ts');
  const page = pageWithToken(address, token);
  output.answer({ page, url }, () => ['Open this url in a browser:', `  ${page}`, STOP_LINE].join('\n'));
  if (!opens || !output.canAsk || isElsewhere(context.env)) return;
  const { openBrowser } = await import('../../auth/browser.ts');
  await openBrowser(page, programEnvironment(context)).catch(() => false);
}

/** True if a browser would open where no one sees it: over SSH, or in CI. */
function isElsewhere(env: NodeJS.ProcessEnv): boolean {
  return [env['SSH_CONNECTION'], env['SSH_TTY'], env['CI']].some(
    (value) => value !== undefined && value !== '',
  );
}
