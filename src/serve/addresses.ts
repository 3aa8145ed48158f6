/**
 * Addresses of resources towards clients: each belongs to the server that gave it (A33).
 *
 * Several servers are one server here, so an address alone may not say whose it is. It stays as it is while exactly
 * one server lists it; where two do, none keeps it, and each has one that names its server. The same is so for
 * templates: none takes the addresses of another server. An address that no server lists belongs to the one server
 * whose templates fit it. No server is asked for an address that it did not give.
 */

import type { ContentBlock, ResourceContents } from '../catalog/accept-result.ts';
import type { ListedResource, ListedTemplate, ResourceListing } from '../catalog/resources.ts';
import type { Tool } from '../catalog/tool.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { prefixOf, templateMatcher } from './template-match.ts';

/** A resource as its server knows it. */
export interface Place {
  readonly server: string;
  readonly uri: string;
}

/** `several`: the servers that have this address, or whose templates fit it. */
export type Found = Place | { readonly several: readonly string[] } | undefined;

/** Addresses that name their server, by us. Clients that show `ui:` resources look for that scheme. */
const BOUND = /^(?:plugboard:\/\/server|ui:\/\/plugboard-server)\/([^/]+)\/(.+)$/s;
/** The same for templates; what a client fills in stays exactly as it wrote it. */
const BOUND_TEMPLATE = /^plugboard:\/\/template\/([^/]+)\/(.+)$/s;
/** Never an address of a server. */
const RESERVED = /^(?:plugboard:|ui:\/\/plugboard-server(?:\/|$))/i;
const UI = /^ui:\/\//i;
const WEB = /^https?:\/\//i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const ADDRESS_KEYS: ReadonlySet<string> = new Set(['uri', 'resourceUri']);
const MAX_ADDRESS_DEPTH = 32;
const MAX_RESULT_ADDRESSES = 1_000;
/** Addresses in results that are remembered with their server; the oldest are forgotten first. */
const MAX_LINKS = 10_000;
/** Templates of a server that are compared with what other servers list, for one address. */
const MAX_COMPARED = 16;

/** The address of a server's resource that no other server can have. */
export function boundUri(server: string, uri: string): string {
  const prefix = UI.test(uri) ? 'ui://plugboard-server' : 'plugboard://server';
  return `${prefix}/${encodeURIComponent(server)}/${encodeURIComponent(uri)}`;
}

function boundTemplate(server: string, uriTemplate: string): string {
  return `plugboard://template/${encodeURIComponent(server)}/${uriTemplate}`;
}

/** The place that one of our own addresses names; undefined for every other address. */
function placeIn(uri: string): Place | undefined {
  const [, name, rest] = BOUND.exec(uri) ?? BOUND_TEMPLATE.exec(uri) ?? [];
  const server = name === undefined ? undefined : decoded(name);
  const theirs = rest === undefined ? undefined : BOUND.test(uri) ? decoded(rest) : rest;
  return server === undefined || theirs === undefined ? undefined : { server, uri: theirs };
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined; // Not one of the addresses that we gave out.
  }
}

/** Which server gave which address: by lists, by links in results, by definitions of tools. */
export class Addresses {
  /** Web addresses in results stay as they are, for clients that open them, and so do those of extensions; `undefined`: of several servers. */
  readonly #links = new Map<string, string | undefined>();

  /** Resources and templates under the addresses that clients see. */
  shown({ resources, templates }: ResourceListing): {
    readonly resources: readonly ListedResource[];
    readonly templates: readonly ListedTemplate[];
  } {
    const holders = holdersOf(resources);
    const families = this.#families({ resources, templates });
    return {
      resources: resources.map((resource) =>
        holders.get(resource.uri)?.size === 1 && !RESERVED.test(resource.uri)
          ? resource
          : { ...resource, uri: boundUri(resource.server, resource.uri) },
      ),
      templates: templates.map((template) =>
        families.isPlain(template)
          ? template
          : { ...template, uriTemplate: boundTemplate(template.server, template.uriTemplate) },
      ),
    };
  }

  /** Whose resource an address is; `tools`: those of all servers, `only`: the name of the server if there is just one. */
  find(
    uri: string,
    { resources, templates }: ResourceListing,
    { tools, only }: { readonly tools: readonly Tool[]; readonly only: string | undefined },
  ): Found {
    if (RESERVED.test(uri)) return placeIn(uri);
    const holders = new Set(resources.flatMap((resource) => (resource.uri === uri ? [resource.server] : [])));
    for (const tool of UI.test(uri) ? tools : []) if (uiAddressOf(tool) === uri) holders.add(tool.server);
    if (this.#links.has(uri)) {
      const linked = this.#links.get(uri);
      if (linked === undefined) return { several: [...holders] };
      holders.add(linked);
    }
    const [server, ...others] = holders.size > 0 ? holders : this.#fitting(uri, { resources, templates });
    if (server !== undefined) return others.length === 0 ? { server, uri } : { several: [server, ...others] };
    return only === undefined ? undefined : { server: only, uri };
  }

  /** The server and its own template for what a client sees of one. */
  findTemplate(shown: string, listing: ResourceListing): Place | undefined {
    const { templates } = this.shown(listing);
    const at = templates.findIndex(({ uriTemplate }) => uriTemplate === shown);
    const found = listing.templates[at] ?? listing.templates.find(({ uriTemplate }) => uriTemplate === shown);
    const same = listing.templates.filter(({ uriTemplate }) => uriTemplate === shown);
    if (found === undefined || new Set(same.map(({ server }) => server)).size > 1) return undefined;
    return { server: found.server, uri: found.uriTemplate };
  }

  /** The address that clients have for a server's own, in what the server says about its resources. */
  addressOf({ server, uri }: Place, { resources }: Pick<ResourceListing, 'resources'>): string {
    const holders = holdersOf(resources).get(uri);
    const isOwn = holders?.size === 1 && holders.has(server) && !RESERVED.test(uri);
    return isOwn ? uri : boundUri(server, uri);
  }

  /** Blocks of a server's result with links that lead back to it alone. */
  bind(server: string, content: readonly ContentBlock[]): readonly ContentBlock[] {
    if (!content.some(({ type }) => type === 'resource' || type === 'resource_link')) return content;
    return content.map((block): ContentBlock => {
      if (block.type === 'resource_link') return { ...block, uri: this.#linked(server, block.uri) };
      if (block.type !== 'resource') return block;
      const resource: ResourceContents = { ...block.resource, uri: this.#linked(server, block.resource.uri) };
      return { ...block, resource };
    });
  }

  /** Keeps whose the addresses in the result of an extension are; they stay as they are. */
  remember(server: string, result: unknown): void {
    for (const uri of addressesIn(result)) if (!RESERVED.test(uri)) this.#keep(server, uri);
  }

  #linked(server: string, uri: string): string {
    if (!WEB.test(uri)) return boundUri(server, uri);
    this.#keep(server, uri);
    return uri;
  }

  #keep(server: string, uri: string): void {
    const known = this.#links.has(uri) ? this.#links.get(uri) : server;
    this.#links.delete(uri);
    this.#links.set(uri, known === server ? server : undefined);
    const [oldest] = this.#links.keys();
    if (this.#links.size > MAX_LINKS && oldest !== undefined) this.#links.delete(oldest);
  }

  /** The servers whose templates an address fits that no server lists. */
  #fitting(uri: string, { resources, templates }: ResourceListing): ReadonlySet<string> {
    const near = templates.filter((template) => isOfAScheme(template) && uri.startsWith(beginning(template)));
    if (near.length === 0) return new Set();
    const families = this.#families({ resources, templates });
    const fits = near.flatMap((template) => {
      const matches = templateMatcher(template.uriTemplate);
      return matches?.(uri) === true ? [{ template, matches }] : [];
    });
    const servers = new Set(fits.map(({ template }) => template.server));
    if (servers.size > 1) return servers;
    // Servers may be more lenient with their templates than we are: where no other one is near, they are asked.
    const own = near.filter((template) => families.isPlain(template));
    if (servers.size === 0 || own.length > 0) return new Set(own.map(({ server }) => server));
    // One that fits what another server gave is too wide to say whose the rest is.
    const given = [...resources, ...this.#given()].filter((each) => !servers.has(each.server));
    const isNarrow = fits
      .slice(0, MAX_COMPARED)
      .some(({ matches }) => !given.some((each) => matches(each.uri)));
    return isNarrow ? servers : new Set();
  }

  /** Addresses in results; those of several servers are of none. */
  #given(): readonly Place[] {
    return [...this.#links].map(([uri, server]) => ({ uri, server: server ?? '' }));
  }

  #families({ resources, templates }: ResourceListing): Families {
    return new Families([...resources, ...this.#given()], templates);
  }
}

/** Addresses of resources in a value: members called `uri` or `resourceUri`, at any depth. */
function addressesIn(value: unknown, found: string[] = [], depth = 0): readonly string[] {
  if (depth === MAX_ADDRESS_DEPTH || found.length === MAX_RESULT_ADDRESSES) return found;
  if (Array.isArray(value)) for (const each of value) addressesIn(each, found, depth + 1);
  else if (isRecord(value)) {
    for (const [key, member] of Object.entries(value)) {
      if (typeof member !== 'string') addressesIn(member, found, depth + 1);
      else if (ADDRESS_KEYS.has(key) && SCHEME.test(member)) found.push(member);
    }
  }
  return found;
}

/** Which templates take no address of another server. */
class Families {
  /** Addresses and beginnings of templates, sorted, by server. */
  readonly #members = new Map<string, string[]>();
  /** The servers of each beginning of a template. */
  readonly #beginnings = new Map<string, Set<string>>();

  constructor(addresses: readonly Place[], templates: readonly ListedTemplate[]) {
    const add = (server: string, uri: string): void => {
      const members = this.#members.get(server);
      if (members === undefined) this.#members.set(server, [uri]);
      else members.push(uri);
    };
    for (const { server, uri } of addresses) add(server, uri);
    for (const template of templates) {
      const prefix = beginning(template);
      // One without a scheme fits everything and is never plain: it takes nothing from others.
      if (!SCHEME.test(prefix)) continue;
      add(template.server, prefix);
      this.#beginnings.set(prefix, (this.#beginnings.get(prefix) ?? new Set()).add(template.server));
    }
    for (const members of this.#members.values()) members.sort();
  }

  /** False if another server has an address or a template among those that this one could take, or the other way round. */
  isPlain(template: ListedTemplate): boolean {
    const prefix = beginning(template);
    if (!isOfAScheme(template)) return false;
    for (const [server, members] of this.#members) {
      if (server === template.server) continue;
      if (members[firstNotBefore(members, prefix)]?.startsWith(prefix)) return false;
    }
    for (let length = prefix.length; length > 0; length -= 1) {
      const servers = this.#beginnings.get(prefix.slice(0, length));
      if (servers !== undefined && [...servers].some((server) => server !== template.server)) return false;
    }
    return true;
  }
}

/** The place of a text in a sorted list. */
function firstNotBefore(sorted: readonly string[], text: string): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] ?? '') < text) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Which servers list an address. */
function holdersOf(resources: readonly ListedResource[]): ReadonlyMap<string, ReadonlySet<string>> {
  const holders = new Map<string, Set<string>>();
  for (const { server, uri } of resources) holders.set(uri, (holders.get(uri) ?? new Set()).add(server));
  return holders;
}

function beginning({ uriTemplate }: ListedTemplate): string {
  return prefixOf(uriTemplate);
}

/** One without a scheme fits everything: it takes no address. */
function isOfAScheme(template: ListedTemplate): boolean {
  const prefix = beginning(template);
  return SCHEME.test(prefix) && !RESERVED.test(prefix);
}

/** Where a tool's definition names the resource that shows its results. */
const UI_KEYS = ['ui/resourceUri', 'openai/outputTemplate'];

function uiAddressOf({ _meta = {} }: Pick<Tool, '_meta'>): string | undefined {
  const { ui } = _meta;
  const named = isRecord(ui) ? ui['resourceUri'] : undefined;
  return [named, ...UI_KEYS.map((key) => _meta[key])].find((value) => typeof value === 'string');
}
