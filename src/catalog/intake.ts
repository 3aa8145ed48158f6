/** Brings lists into the catalog: from the cache before any server runs, and from servers as they answer. */

import type { ServerEntry, ServerSpec } from '../config/entry.ts';
import type { Connection } from '../connection/connection.ts';
import { type CachedList, type CatalogCache, cacheKey } from './cache.ts';
import { type Catalog, readListing } from './catalog.ts';

export interface IntakeOptions {
  readonly catalog: Catalog;
  readonly cache: CatalogCache;
  /** The entry with its variables filled in; throws when one is missing. */
  readonly expand: (spec: ServerSpec) => ServerEntry;
  /** Who we are to a remote server, as something that differs between people and never shows a secret. */
  readonly principal: (spec: ServerSpec, entry: ServerEntry) => Promise<string> | string;
  readonly warn: (server: string, message: string) => void;
}

export class Intake {
  readonly #options: IntakeOptions;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /** Fills the catalog from the cache; says of whom the list is known and still good. */
  async recall(specs: readonly ServerSpec[]): Promise<ReadonlySet<string>> {
    const fresh = new Set<string>();
    await Promise.all(
      specs.map(async (spec) => {
        const key = await this.#keyOf(spec);
        const found = key === undefined ? undefined : await this.#options.cache.read(key);
        if (found === undefined) return;
        this.#take(spec, found.list);
        if (found.fresh) fresh.add(spec.name);
      }),
    );
    return fresh;
  }

  /** Takes the newest list of a connected server, and keeps it for the next start. */
  receive(connection: Connection): void {
    const { tools, negotiated, spec, transportKind } = connection;
    if (tools === undefined || negotiated === undefined) return;
    const list: CachedList = {
      era: negotiated.era,
      protocolVersion: negotiated.protocolVersion,
      ...(negotiated.instructions === undefined ? {} : { instructions: negotiated.instructions }),
      http: transportKind === 'http',
      items: tools.items,
      ...(tools.ttlMs === undefined ? {} : { ttlMs: tools.ttlMs }),
    };
    this.#take(spec, list);
    // A list that was cut short is good enough to work with, not to be remembered.
    if (tools.cut !== undefined) return;
    void this.#keyOf(spec).then((key) => {
      if (key !== undefined) this.#options.cache.write(key, list);
    });
  }

  #take(spec: ServerSpec, list: CachedList): void {
    const { catalog, warn } = this.#options;
    const listing = readListing(list.items, {
      paramHeaders: list.http && list.era === 'modern',
      instructions: list.instructions,
    });
    for (const warning of listing.warnings) warn(spec.name, warning);
    for (const { tool, reason } of listing.quarantined) warn(spec.name, `${tool} is left out: ${reason}`);
    catalog.set(spec.name, spec.entry, listing);
  }

  async #keyOf(spec: ServerSpec): Promise<string | undefined> {
    try {
      const entry = this.#options.expand(spec);
      return cacheKey([spec.scope, spec.baseDir, entry, await this.#options.principal(spec, entry)]);
    } catch {
      return undefined; // A variable is missing: the start will say so.
    }
  }
}
