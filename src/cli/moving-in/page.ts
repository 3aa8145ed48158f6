/** The last step of `up`: the page. */

import type { Context } from '../verb.ts';

/** Command that opens the page. */
const PAGE_COMMAND = 'plugboard dashboard';

/** Prints how to open the page; returns what `--json` has about it. */
export function showPage({ output }: Context): { readonly command: string } {
  output.line(`See everything on the page: ${PAGE_COMMAND}`);
  return { command: PAGE_COMMAND };
}
