/** `plugboard prompts`: lists the prompts of servers, grouped by server. */

import type { ListedPrompt } from '../../catalog/prompts.ts';
import type { Unreached } from '../../host/first-lists.ts';
import { clean, oneLine } from '../../policy/clean.ts';
import type { CliCommand, Context, Flags } from '../cli-command.ts';
import type { Output } from '../output.ts';
import { wrap } from '../text-layout.ts';
import type { CommandHost } from '../with-host.ts';
import {
  addRefreshFlag,
  askServers,
  describeByServer,
  failedServers,
  serversOf,
  type Wanted,
  wantedLists,
  withLists,
} from '../with-lists.ts';

/** Maximum description length in a listing; `--json` has the whole text. */
const MAX_DESCRIPTION = 300;

export const prompts: CliCommand = {
  configure(command): void {
    addRefreshFlag(command.argument('[server]', 'only the prompts of this server')).addHelpText(
      'after',
      '\nExamples:\n  plugboard prompts\n  plugboard prompts docs --json',
    );
  },

  run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const wanted = wantedLists(args, flags);
    const { output } = context;
    return withLists(context, wanted, async (host, noteUnreached) => {
      const { prompts: found, unreached: missing } = await find(context, host, wanted);
      const unreached = noteUnreached(missing);
      output.answer({ prompts: found, ...unreached }, () =>
        found.length === 0
          ? 'No prompts.'
          : describeByServer(found, (each) => describe(each, output), output),
      );
      return 0;
    });
  },
};

async function find(
  context: Context,
  host: CommandHost,
  wanted: Wanted,
): Promise<Unreached & { readonly prompts: readonly ListedPrompt[] }> {
  const { servers, refresh } = wanted;
  const server = servers?.[0];
  if (!refresh) {
    const known = await host.firstLists.prompts(() => host.firstLists.waitMs, serversOf(host, wanted));
    if (server === undefined || known.unreached.length === 0) return known;
  }
  const prompts = await askServers(context, host, server, (name) => host.prompts(name));
  return { prompts, unreached: server === undefined ? failedServers(host) : [] };
}

function describe(prompt: ListedPrompt, { paint, columns }: Output): string {
  const args = (prompt.arguments ?? []).map(({ name, required }) => (required === true ? name : `[${name}]`));
  const head = `${paint.strong(oneLine(prompt.name))} ${paint.faint(oneLine(args.join(' ')))}`;
  const text = clean(prompt.description ?? prompt.title ?? '', { multiline: false, max: MAX_DESCRIPTION });
  const width = columns === undefined ? undefined : columns - 6;
  return [head.trimEnd(), ...(text === '' ? [] : wrap(text, width).map((line) => `  ${line}`))].join('\n');
}
