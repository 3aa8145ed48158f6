/** Answers `list_mcp_resources`: one page of the servers' resources, one JSON object per line. */

import type { Resource, ResourceTemplate } from '../catalog/accept-lists.ts';
import { DEFAULT_LISTED, READ_RESOURCE } from '../catalog/resource-tool-definitions.ts';
import type { ListedResource, ListedTemplate } from '../catalog/resources.ts';
import { abortable } from '../connection/alarm.ts';
import { asPlugboardError } from '../errors.ts';
import { signalOf } from '../lib/cancellation.ts';
import { clean } from '../policy/clean.ts';
import type { Call, CallContext, Handler } from './call.ts';

const MAX_PAGE_CHARS = 20_000;
const MAX_DESCRIPTION_CHARS = 300;
const MAX_REASON_CHARS = 300;
/** Pages of user interfaces: hosts show them; they are not for models. */
const FOR_APPS = /^ui:/i;

type Listed = ListedResource | ListedTemplate;

export async function listed(context: CallContext, call: Call): ReturnType<Handler> {
  const { server, query = '', limit = DEFAULT_LISTED, offset = 0 } = call.arguments as ListArguments;
  const servers = server === undefined ? context.resources.servers(call.session) : [server];
  const signal = signalOf(call);
  const failures: string[] = [];
  const lists = await Promise.all(
    servers.map(async (name) => {
      try {
        return await abortable(context.resources.list(name), signal);
      } catch (thrown) {
        const error = asPlugboardError(thrown);
        // For one server, or if the caller is gone, the failure is the result.
        if (server !== undefined || signal?.aborted) throw error;
        const why = clean(error.message, { multiline: false, max: MAX_REASON_CHARS });
        failures.push(`The resources of ${name} could not be listed: ${why}`);
        return { resources: [], templates: [] };
      }
    }),
  );
  // Templates are few, and each leads to many resources: they come first.
  const all: readonly Listed[] = [
    ...lists.flatMap(({ templates }) => templates),
    ...lists.flatMap(({ resources }) => resources),
  ].filter((item) => !FOR_APPS.test(addressOf(item)));
  const found = matching(all, query);
  const lines = page(found.slice(offset, offset + limit));
  const text = [
    heading(found.length, { offset, shown: lines.length, isSearch: found !== all }),
    ...lines,
    ...failures,
  ].join('\n');
  return { content: [{ type: 'text', text }], isError: false };
}

/** The arguments, checked by `validate`. */
interface ListArguments {
  readonly server?: string;
  readonly query?: string;
  readonly limit?: number;
  readonly offset?: number;
}

function heading(
  total: number,
  {
    offset,
    shown,
    isSearch,
  }: { readonly offset: number; readonly shown: number; readonly isSearch: boolean },
): string {
  if (total === 0)
    return isSearch ? 'No resource matches; try other words, or none.' : 'There are no resources.';
  const end = offset + shown;
  if (shown === 0) return `There are ${total} in all, and none after ${offset}.`;
  const part = shown === total ? `${total} in all` : `${offset + 1} to ${end} of ${total}`;
  const next = end < total ? ` The next ones: "offset": ${end}.` : '';
  return `${part}; read one with ${READ_RESOURCE}, its server and its uri (a uriTemplate with its parts filled in).${next}`;
}

/** Returns as many lines as fit, at least one. */
function page(items: readonly Listed[]): readonly string[] {
  const lines: string[] = [];
  let chars = 0;
  for (const item of items) {
    const line = lineOf(item);
    chars += line.length;
    if (lines.length > 0 && chars > MAX_PAGE_CHARS) break;
    lines.push(line);
  }
  return lines;
}

function lineOf(item: Listed): string {
  const { server, name, title, description, mimeType } = item;
  const address = 'uri' in item ? { uri: item.uri } : { uriTemplate: item.uriTemplate };
  return JSON.stringify({
    server,
    ...address,
    ...(name === addressOf(item) ? {} : { name }),
    ...(title === undefined || title === name ? {} : { title }),
    ...(description === undefined ? {} : { description: clean(description, { max: MAX_DESCRIPTION_CHARS }) }),
    ...(mimeType === undefined ? {} : { mimeType }),
    ...('size' in item ? { size: item.size } : {}),
  });
}

function addressOf(item: Resource | ResourceTemplate): string {
  return 'uri' in item ? item.uri : item.uriTemplate;
}

/** Returns the items that contain every word of the query, case-insensitively; the same list without a query. */
function matching(all: readonly Listed[], query: string): readonly Listed[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return all;
  return all.filter((item) => {
    const { server, name, title = '', description = '' } = item;
    const text = [server, addressOf(item), name, title, description].join('\n').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
