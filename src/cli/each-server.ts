/** Queries one server, where a failure fails the command, or all servers, where a failure is only noted. */

import { asPlugboardError } from '../errors.ts';
import { clean } from '../policy/clean.ts';
import type { Context } from './cli-command.ts';
import type { CommandHost } from './with-host.ts';

export async function askServers<T>(
  { output }: Context,
  host: CommandHost,
  server: string | undefined,
  ask: (name: string) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  if (server !== undefined) return ask(server);
  const names = host
    .servers()
    // Idle servers are connected now; failed ones were already reported.
    .filter(({ status }) => status === 'connected' || status === 'idle')
    .map(({ name }) => name)
    .sort((a, b) => (a < b ? -1 : 1));
  const answers = await Promise.all(
    names.map(async (name) => {
      try {
        return await ask(name);
      } catch (thrown) {
        const { message, hint = '' } = asPlugboardError(thrown);
        const text = clean(`without ${name}: ${message}. ${hint}`, { multiline: false });
        output.note(`${output.notePaint.warn('note:')} ${text}`);
        return [];
      }
    }),
  );
  return answers.flat();
}

/** Groups items by server, in the order in which the servers first appear. */
export function byServer<T extends { readonly server: string }>(items: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(item.server);
    if (group === undefined) groups.set(item.server, [item]);
    else group.push(item);
  }
  return groups;
}
