/** Last step of `up`: opens the page of the daemon, which keeps running for the agents. */

import { allowsDaemon } from '../../daemon/protocol/daemon-use.ts';
import { asPlugboardError } from '../../errors.ts';
import type { Context } from '../cli-command.ts';
import { adoptOldToken, pageToken } from '../gateway-tokens.ts';
import { programEnvironment } from '../lookup-places.ts';

/** Command that opens the page. */
const PAGE_COMMAND = 'plugboard dashboard';

export interface ShownPage {
  /** Command that opens the page again. */
  readonly command: string;
  /** Url with the token; absent if the daemon does not serve the page. */
  readonly page?: string;
}

/** Starts the page, prints its url and opens the browser if a person is present; returns its part of `--json`. */
export async function showPage(context: Context): Promise<ShownPage> {
  const page = await startedPage(context);
  if (page === undefined) return nameOfPage(context);
  const { output } = context;
  output.line(`Dashboard: ${page}`);
  output.line(`To open it again: ${PAGE_COMMAND}`);
  if (output.canAsk) {
    const { openBrowser } = await import('../../auth/browser.ts');
    await openBrowser(page, programEnvironment(context)).catch(() => false);
  }
  return { command: PAGE_COMMAND, page };
}

/** Prints the command that opens the page. */
export function nameOfPage({ output }: Context): ShownPage {
  output.line(`Dashboard: ${PAGE_COMMAND}`);
  return { command: PAGE_COMMAND };
}

/** Undefined if there is no daemon or it cannot listen; `up` does not fail because of that. */
async function startedPage(context: Context): Promise<string | undefined> {
  const { cwd, env, home, extra, output } = context;
  if (!allowsDaemon(env)) return undefined;
  try {
    await adoptOldToken(context);
    const { startPage } = await import('../../daemon/client/hold-http.ts');
    const { token } = await pageToken(context);
    const page = await startPage({ home, env, cwd, servers: extra, manageToken: token });
    return page === undefined ? undefined : `${page}#token=${encodeURIComponent(token)}`;
  } catch (error) {
    output.note(`note: the page was not started: ${asPlugboardError(error).message}`);
    return undefined;
  }
}
