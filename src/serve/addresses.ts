/**
 * Maps resource addresses of servers to addresses for clients: each belongs to the server that returned it (A33).
 *
 * Clients see several servers as one, so an address alone may not identify its server. It is unchanged while exactly
 * one server lists it; if two do, neither keeps it, and each gets one that names its server. The same applies to
 * templates: none claims the addresses of another server. An address that no server lists belongs to the one server
 * whose templates match it. A server is only asked for addresses that it returned.
 */

import type { ContentBlock, ResourceContents } from '../catalog/accept-result.ts';
import type { ListedResource, ListedTemplate, ResourceListing } from '../catalog/resources.ts';
import type { Tool } from '../catalog/tool.ts';
import { isRecord } from '../lib/json.ts';

/** A resource by its server and its own address. */
export interface Place {
  readonly server: string;
  readonly uri: string;
}

/** `several`: the servers that list this address, or whose templates match it. */
export type Found = Place | { readonly several: readonly string[] } | undefined;

/** Our own addresses, which name their server. Clients that show `ui:` resources look for that scheme. */
const BOUND = /^(?:plugboard:\/\/server|ui:\/\/plugboard-server)\/([^/]+)\/(.+)$/s;
/** The same for templates; the values that a client fills in stay exactly as written. */
const BOUND_TEMPLATE = /^plugboard:\/\/template\/([^/]+)\/(.+)$/s;
/** Never an address of a server. */
const RESERVED = /^(?:plugboard:|ui:\/\/plugboard-server(?:\/|$))/i;
const UI = /^ui:\/\//i;
const WEB = /^https?:\/\//i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const ADDRESS_KEYS: ReadonlySet<string> = new Set(['uri', 'resourceUri']);
const MAX_ADDRESS_DEPTH = 32;
const MAX_RESULT_ADDRESSES = 1_000;
/** Addresses in results that are remembered with their server; the oldest are dropped first. */
const MAX_LINKS = 10_000;
/** Templates of a server that are compared with the lists of other servers, for one address. */
const MAX_COMPARED = 16;

/** Returns the address of a server's resource that no other server can have. */
export function boundUri(server: string, uri: string): string {
  const prefix = UI.test(uri) ? 'ui://plugboard-server' : 'plugboard://server';
  return `${prefix}/${encodeURIComponent(server)}/${encodeURIComponent(uri)}`;
}

function boundTemplate(server: string, uriTemplate: string): string {
  return `plugboard://template/${encodeURIComponent(server)}/${uriTemplate}`;
}

/** Parses one of our own addresses; undefined for every other address. */
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
    return undefined; // Not one of the addresses that we issued.
  }
}

/** Tracks which server returned which address: in lists, in links of results, in definitions of tools. */
export class Addresses {
  /**
   * Web addresses in results are unchanged, for clients that open them, and so are those of extensions; `undefined`:
   * of several servers.
   */
  readonly #links = new Map<string, string | undefined>();

  /** Returns resources and templates under the addresses that clients see. */
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

  /**
   * Finds the resource of an address; `tools`: those of all servers, `only`: the name of the server if there is just
   * one.
   */
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

  /** Returns the server and its own template for a template that clients see. */
  findTemplate(shown: string, listing: ResourceListing): Place | undefined {
    const { templates } = this.shown(listing);
    const at = templates.findIndex(({ uriTemplate }) => uriTemplate === shown);
    const found = listing.templates[at] ?? listing.templates.find(({ uriTemplate }) => uriTemplate === shown);
    const same = listing.templates.filter(({ uriTemplate }) => uriTemplate === shown);
    if (found === undefined || new Set(same.map(({ server }) => server)).size > 1) return undefined;
    return { server: found.server, uri: found.uriTemplate };
  }

  /** Returns the client's address for a server's own one, in messages of the server about its resources. */
  addressOf({ server, uri }: Place, { resources }: Pick<ResourceListing, 'resources'>): string {
    const holders = holdersOf(resources).get(uri);
    const isOwn = holders?.size === 1 && holders.has(server) && !RESERVED.test(uri);
    return isOwn ? uri : boundUri(server, uri);
  }

  /** Rewrites links in blocks of a server's result so that they lead back to that server only. */
  bind(server: string, content: readonly ContentBlock[]): readonly ContentBlock[] {
    if (!content.some(({ type }) => type === 'resource' || type === 'resource_link')) return content;
    return content.map((block): ContentBlock => {
      if (block.type === 'resource_link') return { ...block, uri: this.#linked(server, block.uri) };
      if (block.type !== 'resource') return block;
      const resource: ResourceContents = { ...block.resource, uri: this.#linked(server, block.resource.uri) };
      return { ...block, resource };
    });
  }

  /** Remembers the server of addresses in the result of an extension; they are unchanged. */
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

  /** Returns the servers whose templates match an unlisted address. */
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
    // Servers may match their templates more leniently than we do: if no other server is close, they are asked.
    const own = near.filter((template) => families.isPlain(template));
    if (servers.size === 0 || own.length > 0) return new Set(own.map(({ server }) => server));
    // A template that matches an address of another server is too wide to decide.
    const given = [...resources, ...this.#given()].filter((each) => !servers.has(each.server));
    const isNarrow = fits
      .slice(0, MAX_COMPARED)
      .some(({ matches }) => !given.some((each) => matches(each.uri)));
    return isNarrow ? servers : new Set();
  }

  /** Returns addresses in results; those of several servers have no owner. */
  #given(): readonly Place[] {
    return [...this.#links].map(([uri, server]) => ({ uri, server: server ?? '' }));
  }

  #families({ resources, templates }: ResourceListing): Families {
    return new Families([...resources, ...this.#given()], templates);
  }
}

/** Returns the addresses of resources in a value: members named `uri` or `resourceUri`, at any depth. */
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

/** Decides which templates match no address of another server. */
class Families {
  /** Addresses and literal prefixes of templates, sorted, by server. */
  readonly #members = new Map<string, string[]>();
  /** The servers of each template prefix. */
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
      // A template without a scheme matches everything and is never plain: it claims nothing from others.
      if (!SCHEME.test(prefix)) continue;
      add(template.server, prefix);
      this.#beginnings.set(prefix, (this.#beginnings.get(prefix) ?? new Set()).add(template.server));
    }
    for (const members of this.#members.values()) members.sort();
  }

  /** False if another server has an address or a template that this one could match, or the other way round. */
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

/** Binary search: returns the index of a text in a sorted list. */
function firstNotBefore(sorted: readonly string[], text: string): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] ?? '') < text) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Returns which servers list an address. */
function holdersOf(resources: readonly ListedResource[]): ReadonlyMap<string, ReadonlySet<string>> {
  const holders = new Map<string, Set<string>>();
  for (const { server, uri } of resources) holders.set(uri, (holders.get(uri) ?? new Set()).add(server));
  return holders;
}

function beginning({ uriTemplate }: ListedTemplate): string {
  return prefixOf(uriTemplate);
}

/** False for a template without a scheme, which matches everything: it claims no address. */
function isOfAScheme(template: ListedTemplate): boolean {
  const prefix = beginning(template);
  return SCHEME.test(prefix) && !RESERVED.test(prefix);
}

/** Keys of a tool's definition that name the resource that shows its results. */
const UI_KEYS = ['ui/resourceUri', 'openai/outputTemplate'];

function uiAddressOf({ _meta = {} }: Pick<Tool, '_meta'>): string | undefined {
  const { ui } = _meta;
  const named = isRecord(ui) ? ui['resourceUri'] : undefined;
  return [named, ...UI_KEYS.map((key) => _meta[key])].find((value) => typeof value === 'string');
}

/** A longer address matches no template. */
const MAX_ADDRESS_CHARS = 4_096;
const MAX_TEMPLATE_CHARS = 2_048;
const MAX_EXPRESSIONS = 32;

const EXPRESSION = /\{([^{}]*)\}/;
/** Expressions whose values may contain slashes, or that begin with an operator. */
const WIDE = /^[+#./;?&=,!@|]/;

/** Returns the literal text before the first expression. */
export function prefixOf(uriTemplate: string): string {
  return uriTemplate.split('{')[0] ?? '';
}

/**
 * Returns a test of addresses: literal parts must occur in order, `{x}` matches any text without a slash, and every
 * other expression matches any text. Undefined for templates that are too long.
 */
export function templateMatcher(uriTemplate: string): ((uri: string) => boolean) | undefined {
  if (uriTemplate.length > MAX_TEMPLATE_CHARS) return undefined;
  // Literal parts have even indexes, expressions odd ones.
  const parts = uriTemplate.split(EXPRESSION);
  if (parts.length > 2 * MAX_EXPRESSIONS + 1) return undefined;
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  return (uri) => {
    if (uri.length > MAX_ADDRESS_CHARS || !uri.startsWith(first) || !uri.endsWith(last)) return false;
    let ends = [0];
    for (const [at, part] of parts.entries()) {
      if (ends.length === 0) return false;
      ends = at % 2 === 1 ? afterValue(uri, ends, WIDE.test(part)) : afterLiteral(uri, ends, part);
    }
    return ends.at(-1) === uri.length;
  };
}

function afterLiteral(uri: string, starts: readonly number[], literal: string): number[] {
  return starts.flatMap((start) => (uri.startsWith(literal, start) ? [start + literal.length] : []));
}

/** Returns every position where the value of an expression can end, in order, each once. */
function afterValue(uri: string, starts: readonly number[], isWide: boolean): number[] {
  const ends: number[] = [];
  let next = 0;
  for (const start of starts) {
    if (start < next) continue; // Already covered by an earlier one.
    const slash = isWide ? -1 : uri.indexOf('/', start);
    const to = slash === -1 ? uri.length : slash;
    for (let end = start; end <= to; end += 1) ends.push(end);
    next = to + 1;
  }
  return ends;
}
