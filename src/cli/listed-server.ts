/** Returns a server's command or url on one line, without its secrets. */

import { describeEntry } from '../config/describe.ts';
import type { ServerSpec } from '../config/entry.ts';
import { joinArgv } from './argv.ts';

/** Returns the command line in shell syntax, or the url. */
export function reachedBy(spec: ServerSpec): { readonly command?: string; readonly url?: string } {
  const { command, args, url } = describeEntry(spec);
  if (typeof command === 'string') {
    const words = Array.isArray(args) ? args.map(String) : [];
    return { command: joinArgv([command, ...words]) };
  }
  return typeof url === 'string' ? { url } : {};
}
