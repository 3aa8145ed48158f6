/** `plugboard resources`: lists the resources of servers, grouped by server. */

import type { ListedResource, ListedTemplate, ResourceListing } from '../../catalog/resources.ts';
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

type Listed = ListedResource | ListedTemplate;

export const resources: CliCommand = {
  configure(command): void {
    addRefreshFlag(command.argument('[server]', 'only the resources of this server')).addHelpText(
      'after',
      '\nExamples:\n  plugboard resources\n  plugboard resources docs --json',
    );
  },

  run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const wanted = wantedLists(args, flags);
    const { output } = context;
    return withLists(context, wanted, async (host, noteUnreached) => {
      const found = await find(context, host, wanted);
      const { resources, templates } = found;
      const all: readonly Listed[] = [...resources, ...templates];
      const unreached = noteUnreached(found.unreached);
      output.answer({ resources, templates, ...unreached }, () =>
        all.length === 0 ? 'No resources.' : describeByServer(all, (each) => describe(each, output), output),
      );
      return 0;
    });
  },
};

async function find(
  context: Context,
  host: CommandHost,
  wanted: Wanted,
): Promise<ResourceListing & Unreached> {
  const { servers, refresh } = wanted;
  const server = servers?.[0];
  if (!refresh) {
    const known = await host.firstLists.resources(() => host.firstLists.waitMs, serversOf(host, wanted));
    if (server === undefined || known.unreached.length === 0) return known;
  }
  const listings = await askServers(context, host, server, async (name) => [await host.resources(name)]);
  return {
    resources: listings.flatMap((listing) => listing.resources),
    templates: listings.flatMap((listing) => listing.templates),
    unreached: server === undefined ? failedServers(host) : [],
  };
}

function describe(listed: Listed, output: Output): string {
  const { paint, columns } = output;
  const address = 'uri' in listed ? listed.uri : listed.uriTemplate;
  const facts = [
    'uri' in listed ? '' : 'template',
    listed.title ?? (listed.name === address ? '' : listed.name),
    listed.mimeType ?? '',
    'size' in listed && listed.size !== undefined ? `${listed.size.toLocaleString('en')} bytes` : '',
  ].filter((fact) => fact !== '');
  const text = clean(listed.description ?? '', { multiline: false, max: MAX_DESCRIPTION });
  const width = columns === undefined ? undefined : columns - 6;
  return [
    paint.strong(oneLine(address)),
    ...(facts.length === 0 ? [] : [`  ${paint.faint(oneLine(facts.join(' · ')))}`]),
    ...(text === '' ? [] : wrap(text, width).map((line) => `  ${line}`)),
  ].join('\n');
}
