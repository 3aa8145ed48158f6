/** Asking one server, whose failure is the command's; or each that is there, where a failure is noted and harms no other. */

import { asPlugboardError } from '../errors.ts';
import { clean } from '../policy/clean.ts';
import type { Context } from './verb.ts';
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
    // Those that wait to be needed are needed now; those that failed have been told about.
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

/** What belongs to one server stands together, in the order in which servers first appear. */
export function byServer<T extends { readonly server: string }>(items: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(item.server);
    if (group === undefined) groups.set(item.server, [item]);
    else group.push(item);
  }
  return groups;
}
