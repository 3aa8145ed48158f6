/** The clients of `config.json`, prepared for lookups: by token, by claims, and the local user. */

import type { ClientSetting, Settings } from '../config/entry.ts';
import { EVERY_CLIENT } from '../config/profiles.ts';
import type { HostProfiles } from '../host/host-profiles.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { own } from '../lib/json.ts';

type Claims = Readonly<Record<string, unknown>>;

interface ClaimedClient {
  readonly name: string;
  /** Its position among all clients: the first one that matches is used. */
  readonly at: number;
  readonly wanted: readonly (readonly [claim: string, values: readonly string[]])[];
}

/** Immutable; one for each version of the configuration. */
export class ClientTable {
  readonly #settings: Settings;
  readonly #refused: ReadonlySet<string>;
  /** Names by the hash of the token. */
  readonly tokens: ReadonlyMap<string, string>;
  /** Name of the client that the local user is. */
  readonly local: string | undefined;
  /** Clients that require a subject, by subject; a token has only one. */
  readonly #bySubject = new Map<string, ClaimedClient[]>();
  readonly #byOthers: ClaimedClient[] = [];
  /** True if a client has a problem, and its definition does not show how it is recognised. */
  readonly hasUnclear: boolean;
  /** True if clients are recognised by claims, or may be: then a token that matches none of them is refused. */
  readonly hasClaims: boolean;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#refused = new Set(settings.brokenClients);
    const clients = Object.entries(settings.clients ?? {});
    this.tokens = new Map(
      clients.flatMap(([name, { token }]) => (token === undefined ? [] : [[token.toLowerCase(), name]])),
    );
    this.local = clients.find(([, { local }]) => local === true)?.[0];
    for (const [at, [name, { claims }]] of clients.entries()) {
      const wanted = Object.entries(claims ?? {}).map(([claim, values]) => [claim, listOf(values)] as const);
      if (wanted.length > 0) this.#addClaimed({ name, at, wanted });
    }
    this.hasUnclear = [...this.#refused].some((name) => name !== EVERY_CLIENT && isUnclear(this.get(name)));
    this.hasClaims = this.hasUnclear || clients.some(([, { claims }]) => claims !== undefined);
  }

  get(name: string): ClientSetting | undefined {
    return own(this.#settings.clients, name);
  }

  /** True if a client has a problem in the configuration, or all have. */
  isRefused(name: string): boolean {
    return this.#refused.size > 0 && (this.#refused.has(name) || this.#refused.has(EVERY_CLIENT));
  }

  /** Returns the name of the first client whose claims a token has. */
  byClaims(claims: Claims): string | undefined {
    const { sub } = claims;
    const candidates = [
      ...(typeof sub === 'string' ? (this.#bySubject.get(sub) ?? []) : []),
      ...this.#byOthers,
    ];
    const [first] = candidates.filter(({ wanted }) => hasAll(claims, wanted)).sort((a, b) => a.at - b.at);
    return first?.name;
  }

  #addClaimed(client: ClaimedClient): void {
    const subjects = client.wanted.find(([claim]) => claim === 'sub')?.[1];
    if (subjects === undefined) this.#byOthers.push(client);
    for (const subject of subjects ?? []) getOrMake(this.#bySubject, subject, () => []).push(client);
  }
}

/** Returns the clients of the current configuration, prepared once for each version of it. */
export function clientTables(profiles: Pick<HostProfiles, 'settings'>): () => ClientTable {
  let made: { readonly from: Settings; readonly table: ClientTable } | undefined;
  return () => {
    const { settings } = profiles;
    if (made?.from !== settings) made = { from: settings, table: new ClientTable(settings) };
    return made.table;
  };
}

function isUnclear(client: ClientSetting | undefined): boolean {
  if (client === undefined) return true;
  const { token, claims, local } = client;
  return token === undefined && claims === undefined && local !== true;
}

function listOf(values: string | readonly string[]): readonly string[] {
  return typeof values === 'string' ? [values] : values;
}

/** A claim with several values, such as groups, needs one of them. */
function hasAll(claims: Claims, wanted: ClaimedClient['wanted']): boolean {
  return wanted.every(([claim, values]) => {
    const given: unknown = own(claims, claim);
    const all: readonly unknown[] = Array.isArray(given) ? given : [given];
    return all.some((value) => typeof value === 'string' && values.includes(value));
  });
}
