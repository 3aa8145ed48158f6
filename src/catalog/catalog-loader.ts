/** Catalog loader: fills the catalog from the cache before any server runs, and from servers as they answer. */

import type { ServerEntry, ServerSpec } from '../config/entry.ts';
import { lockDigest } from '../config/lock-digest.ts';
import type { Connection } from '../connection/connection.ts';
import { hasTasks } from '../connection/tasks.ts';
import { forSurface } from '../errors.ts';
import { clean, shownName } from '../policy/clean.ts';
import type { HiddenReport } from '../policy/once-report.ts';
import { IDENTITY, INSTRUCTIONS } from '../policy/pins.ts';
import type { PinnedResult, Pins } from '../policy/pins-store.ts';
import { type Catalog, readListing, type ServerListing } from './catalog.ts';
import { type CachedList, type CatalogCache, cacheKey, type Found } from './catalog-cache.ts';
import { CAPABILITIES, type Capability, isDeclared } from './content-lists.ts';
import { type DeclaredExtensions, extensionNames, extensionsIn, extensionsNamed } from './extensions.ts';
import type { KnownToolsWriter } from './known-tools-writer.ts';

export interface CatalogLoaderOptions {
  readonly catalog: Catalog;
  readonly cache: CatalogCache;
  /** Expands the variables of an entry; throws if one is missing. */
  readonly expand: (spec: ServerSpec) => ServerEntry | Promise<ServerEntry>;
  /** Identifies the user towards a remote server: differs between users and never reveals a secret. */
  readonly principal: (spec: ServerSpec, entry: ServerEntry) => Promise<string | undefined> | string;
  /** The capabilities we declare to servers; they can affect lists. */
  readonly capabilities: () => string;
  /** Returns the list of a server that does not have to be asked for it. */
  readonly builtInList: (spec: ServerSpec) => Promise<CachedList | undefined>;
  readonly warn: (server: string, message: string) => void;
  readonly hidden: HiddenReport;
  readonly pins: Pins;
  /** True for servers whose lists are neither read from nor written to a cache. */
  readonly keepsNothingOf: (spec: ServerSpec) => boolean;
  /** Records the tools of a server for readers that do not load the catalog. */
  readonly known: KnownToolsWriter;
}

/** Result of loading from the cache. */
export interface Recalled {
  /** Servers with a fresh list, which does not have to be read again. */
  readonly fresh: ReadonlySet<string>;
  /** Servers whose list is another one than before. */
  readonly changed: readonly string[];
  /** The keys under which the result of the last start is recorded, by server. */
  readonly startKeys: ReadonlyMap<string, string>;
}

/** The newest list of a server, kept to re-check held tools after an approval. */
interface Taken {
  readonly spec: ServerSpec;
  readonly list: CachedList;
}

export class CatalogLoader {
  readonly #options: CatalogLoaderOptions;
  readonly #withHeld = new Map<string, Taken>();
  /** Capabilities and extensions other than tools, by server, from the newest list. */
  readonly #offers = new Map<string, { readonly offers: readonly string[]; readonly fresh: boolean }>();

  constructor(options: CatalogLoaderOptions) {
    this.#options = options;
  }

  /** Fills the catalog from the cache. */
  async recall(specs: readonly ServerSpec[]): Promise<Recalled> {
    const fresh = new Set<string>();
    const changed: string[] = [];
    const startKeys = new Map<string, string>();
    for (const { name } of specs) this.#offers.delete(name);
    await Promise.all(
      specs.map(async (spec) => {
        const [key, likelyKey] = await Promise.all([this.keyOf(spec), this.#likelyKeyOf(spec)]);
        const startKey = likelyKey ?? key;
        if (startKey !== undefined) startKeys.set(spec.name, startKey);
        const found = await this.#find(spec, key, likelyKey);
        if (found === undefined) return;
        if (this.#take(spec, found.list).isNew) changed.push(spec.name);
        if (found.fresh) fresh.add(spec.name);
        const { offers } = found.list;
        if (offers !== undefined) this.#offers.set(spec.name, { offers, fresh: found.fresh });
      }),
    );
    return { fresh, changed, startKeys };
  }

  /** True if a stopped server is known to have no resources or prompts, so that it does not have to be started. */
  lacks(server: string, capability: Capability): boolean {
    return this.#offers.get(server)?.fresh === true && this.lacked(server, capability);
  }

  /** Returns the extensions that a server declared when its list was read. */
  extensionsOf(server: string): DeclaredExtensions {
    return extensionsNamed(this.#offers.get(server)?.offers ?? []);
  }

  /** Like `lacks`, but also for a list that may be old. */
  lacked(server: string, capability: Capability): boolean {
    return this.#offers.get(server)?.offers.includes(capability) === false;
  }

  /** True if a server had the capability when its list was read. */
  offered(server: string, capability: Capability): boolean {
    return this.#offers.get(server)?.offers.includes(capability) === true;
  }

  /** Returns the cache key of a server; undefined while a variable of its entry is missing (reported at its start). */
  async keyOf(spec: ServerSpec): Promise<string | undefined> {
    if (this.#options.keepsNothingOf(spec)) return undefined;
    try {
      const entry = await this.#options.expand(spec);
      const capabilities = this.#options.capabilities();
      const principal = await this.#options.principal(spec, entry);
      if (principal === undefined) return undefined;
      return cacheKey([spec.scope, spec.baseDir, entry, `${capabilities} ${principal}`, ...lockOf(spec)]);
    } catch {
      return undefined;
    }
  }

  /** Returns the key for the result of a server's start; for the user's own servers it is the same in every folder. */
  async startKeyOf(spec: ServerSpec): Promise<string | undefined> {
    return (await this.#likelyKeyOf(spec)) ?? this.keyOf(spec);
  }

  /**
   * Returns the key of the last list of one of the user's own servers, in any folder and with any capabilities: most
   * likely its list here too. Undefined for servers that belong to one project.
   */
  async #likelyKeyOf(spec: ServerSpec): Promise<string | undefined> {
    if (spec.scope !== 'user') return undefined;
    try {
      const entry = await this.#options.expand(spec);
      const principal = await this.#options.principal(spec, entry);
      return cacheKey(['likely', spec.name, entry, principal, ...lockOf(spec)]);
    } catch {
      return undefined;
    }
  }

  /** Accepts the newest list of a connected server and caches it for the next start; true if it is new. */
  receive(connection: Connection): boolean {
    const { tools, negotiated, spec, mirrorsHeaders } = connection;
    if (tools === undefined || negotiated === undefined) return false;
    const list: CachedList = {
      era: negotiated.era,
      protocolVersion: negotiated.protocolVersion,
      ...(negotiated.instructions === undefined ? {} : { instructions: negotiated.instructions }),
      ...(negotiated.serverInfo === undefined ? {} : { serverInfo: negotiated.serverInfo }),
      http: mirrorsHeaders,
      items: tools.items,
      offers: [
        ...CAPABILITIES.filter((capability) => isDeclared(negotiated, capability)),
        ...extensionNames(extensionsIn(negotiated.capabilities)),
      ],
      ...(hasTasks(negotiated) ? { tasks: true } : {}),
      ...(tools.ttlMs === undefined ? {} : { ttlMs: tools.ttlMs }),
    };
    this.#offers.set(spec.name, { offers: list.offers ?? [], fresh: true });
    const { isNew, ...pinned } = this.#take(spec, list);
    if (this.#options.keepsNothingOf(spec)) return isNew;
    this.#options.known.keep(spec, this.#options.catalog.listing(spec.name)?.tools ?? []);
    // A truncated list is used but not cached.
    if (tools.cut !== undefined) return isNew;
    for (const found of [this.keyOf(spec), this.#likelyKeyOf(spec)]) {
      void found.then((key) => {
        if (key !== undefined) this.#options.cache.write(key, { ...list, ...pinned });
      });
    }
    return isNew;
  }

  /** Checks held tools again, since they may have been approved. Returns the servers whose tools changed. */
  async review(): Promise<readonly string[]> {
    await this.#options.pins.reload();
    const freed: string[] = [];
    for (const [name, { spec, list }] of [...this.#withHeld]) {
      // The server may have been removed or replaced since its list was read.
      if (this.#options.catalog.listing(name) === undefined) this.#withHeld.delete(name);
      else {
        const before = this.#options.catalog.listing(name)?.tools.length;
        this.#take(spec, list);
        if (this.#options.catalog.listing(name)?.tools.length !== before) freed.push(name);
      }
    }
    return freed;
  }

  /** Puts a list into the catalog without held tools; returns the seal for a cached copy. */
  #take(spec: ServerSpec, list: CachedList): Pick<CachedList, 'seal'> & { isNew: boolean } {
    const { catalog, warn, pins } = this.#options;
    const listing = readListing(list.items, {
      paramHeaders: list.http && list.era === 'modern',
      instructions: list.instructions,
      tasks: list.tasks === true ? list.era : undefined,
    });
    for (const warning of listing.warnings) warn(spec.name, warning);
    for (const { tool, reason } of listing.quarantined) warn(spec.name, `${tool} is left out: ${reason}`);
    const { instructions } = list;
    if (instructions !== undefined && clean(instructions) !== instructions)
      this.#options.hidden(spec.name, 'its instructions');
    const reviewed = {
      tools: listing.tools,
      ...(instructions === undefined ? {} : { instructions }),
      identity: list.serverInfo,
      offers: list.offers,
    };
    const pinned = pins.check(spec, reviewed, (message) => warn(spec.name, message), list.seal);
    const isFree = pinned.held.size === 0 && !pinned.holdsInstructions && !pinned.holdsIdentity;
    if (isFree) this.#withHeld.delete(spec.name);
    else this.#withHeld.set(spec.name, { spec, list });
    const isNew = catalog.set(spec.name, spec.entry, isFree ? listing : withoutHeld(listing, pinned));
    return { isNew, ...(pinned.seal === undefined ? {} : { seal: pinned.seal }) };
  }

  async #find(
    spec: ServerSpec,
    key: string | undefined,
    likely: string | undefined,
  ): Promise<Found | undefined> {
    const list = await this.#options.builtInList(spec);
    if (list !== undefined) return { list, fresh: true };
    if (key === undefined) return undefined;
    const { cache } = this.#options;
    const found = await cache.read(key);
    if (found !== undefined || likely === undefined) return found;
    const elsewhere = await cache.read(likely);
    // Served at once and refreshed in the background.
    return elsewhere && { ...elsewhere, fresh: false };
  }
}

const REVIEW: string = forSurface({
  commands: 'run plugboard pins to review it',
  library: 'heldBack() of the host shows it for review',
});
const HELD_REASON = `its definition has changed since you first connected; ${REVIEW}`;
const NEW_REASON = `it is new since you first connected; ${REVIEW}`;

function withoutHeld(listing: ServerListing, pinned: PinnedResult): ServerListing {
  const { instructions, ...rest } = listing;
  const isHeld = (tool: { readonly name: string }): boolean => pinned.held.has(tool.name);
  const held = listing.tools.filter(isHeld);
  return {
    ...rest,
    tools: listing.tools.filter((tool) => !isHeld(tool)),
    held,
    heldAsNew: held.flatMap(({ name }) => (pinned.added.has(name) ? [name] : [])),
    ...(pinned.holdsIdentity ? { holdsIdentity: true } : {}),
    quarantined: [
      ...listing.quarantined,
      ...(pinned.holdsIdentity ? [{ tool: IDENTITY, reason: HELD_REASON }] : []),
      ...held.map(({ name }) => ({
        tool: shownName(name),
        reason: pinned.added.has(name) ? NEW_REASON : HELD_REASON,
      })),
      ...(pinned.holdsInstructions ? [{ tool: INSTRUCTIONS, reason: HELD_REASON }] : []),
    ],
    ...(instructions === undefined || pinned.holdsInstructions ? {} : { instructions }),
  };
}

/** Another lock is another program; without one, keys stay as they were. */
function lockOf({ lock }: ServerSpec): readonly string[] {
  return lock?.kind === 'locked' ? [lockDigest(lock.server)] : [];
}
