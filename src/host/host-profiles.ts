/**
 * The profiles of a host's clients. A profile is compiled when it is first used, once for each version of the
 * configuration; sessions hold the profile and see the newest version.
 */

import { type ClientProfile, compileProfile, emptyProfile } from '../call/client-profile.ts';
import type { SessionProfile } from '../call/session-view.ts';
import type { Snapshot } from '../catalog/catalog.ts';
import type { Deferral } from '../catalog/deferral.ts';
import { createSearch, type Search } from '../catalog/search-view.ts';
import type { ToolKey } from '../catalog/tool-names.ts';
import type { Budget, Settings } from '../config/entry.ts';
import { EVERY_CLIENT, isChain, profileChain } from '../config/profiles.ts';
import { PlugboardError } from '../errors.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { Emitter, type Unsubscribe } from '../lib/emitter.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import type { Spellings } from '../policy/approval.ts';
import { type BudgetUse, budgetMatcher, limitText } from '../policy/budgets.ts';
import type { HostCore } from './host-core.ts';
import { hostDeferral } from './host-deferral.ts';

interface ProfileEvents {
  /** A profile offers something else than before. */
  readonly changed: { readonly name: string };
  /** The configuration was read again. */
  readonly reloaded: object;
}

export class HostProfiles {
  readonly #core: HostCore;
  readonly #known = new Map<string, HostProfile>();
  readonly #events = new Emitter<ProfileEvents>();

  constructor(core: HostCore) {
    this.#core = core;
  }

  /** The current settings. */
  get settings(): Settings {
    const { config, home } = this.#core;
    const { settings, unreadable } = config;
    // Restrictions of clients are in a file that cannot be read.
    return unreadable.includes(home.config) && settings.clients === undefined ? UNKNOWN_CLIENTS : settings;
  }

  /** Returns the current use of the budgets that a client has by its profile. */
  budgetsOf(client: string, profile: string): readonly BudgetUse[] {
    return this.#core.budgets.useOf({ principal: client, budgets: this.of(profile).budgets });
  }

  /**
   * Returns the limits of the clients of a profile, or of those without one, as text. Budgets of other tools are left
   * out, and globs too, because they may name other servers.
   */
  limitsOf(profile: string | undefined): readonly string[] {
    const own = profile === undefined ? undefined : this.of(profile);
    const { snapshot } = own ?? this.#core.catalog;
    const budgets = [...(this.settings.budgets ?? []), ...(own?.budgets ?? [])];
    const texts = budgets.flatMap((budget) => {
      if (budget.server === undefined && budget.tool === undefined) return [limitText(budget)];
      const matches = budgetMatcher(budget);
      const applies = snapshot.tools.some((tool) =>
        matches({ server: tool.server, tool: tool.tool, names: snapshot.ruleNames(tool) }),
      );
      return applies ? [`${limitText(budget)} for some tools`] : [];
    });
    return [...new Set(texts)];
  }

  /** Names of the profiles in the configuration, usable or not. */
  get names(): readonly string[] {
    const { profiles = {}, brokenProfiles = [] } = this.#core.config.settings;
    return [...new Set([...Object.keys(profiles), ...brokenProfiles])];
  }

  /** Returns a profile, which offers nothing while it has a problem. */
  of(name: string): HostProfile {
    return getOrMake(this.#known, name, () => new HostProfile(this.#core, name));
  }

  /**
   * Returns a profile that can be used.
   *
   * @throws PlugboardError CONFIG_INVALID if there is none of this name, or it has a problem.
   */
  usable(name: string): HostProfile {
    const problem = this.problemOf(name);
    if (problem !== undefined) throw problem;
    return this.of(name);
  }

  /** Returns why a profile cannot be used. */
  problemOf(name: string): PlugboardError | undefined {
    // Names that no configuration has are not kept.
    const known = this.#known.get(name) ?? (this.names.includes(name) ? this.of(name) : undefined);
    return known === undefined ? problemIn(this.#core.config.settings, name) : known.problem;
  }

  /** Calls back when the configuration of a used profile has changed. */
  onChange(listener: (name: string) => void): Unsubscribe {
    return this.#events.on('changed', ({ name }) => listener(name));
  }

  /** Calls back when the configuration was read again. */
  onReload(listener: () => void): Unsubscribe {
    return this.#events.on('reloaded', () => listener());
  }

  /** Handles a new configuration. */
  reloaded(): void {
    for (const profile of this.#known.values())
      if (profile.takeChanged()) this.#events.emit('changed', { name: profile.name });
    this.#events.emit('reloaded', {});
  }
}

function problemIn(settings: Settings, name: string): PlugboardError | undefined {
  const found = profileChain(settings, name);
  if (isChain(found)) return undefined;
  return new PlugboardError('CONFIG_INVALID', found.message, { hint: found.hint });
}

const UNKNOWN_CLIENTS: Settings = { brokenClients: [EVERY_CLIENT] };

interface Compiled {
  readonly from: Settings;
  readonly compiled: ClientProfile;
  readonly problem: PlugboardError | undefined;
}

/** One profile, always for the current configuration. */
export class HostProfile implements SessionProfile {
  readonly name: string;
  readonly deferral: () => Deferral;
  readonly search: Search;
  readonly #core: HostCore;
  #made: Compiled | undefined;
  #narrowed:
    | { readonly whole: Snapshot; readonly compiled: ClientProfile; readonly snapshot: Snapshot }
    | undefined;
  /** The configuration of the profile when it was last compared. */
  #seen: string;

  constructor(core: HostCore, name: string) {
    this.#core = core;
    this.name = name;
    this.#seen = this.#definition();
    this.deferral = hostDeferral(core, {
      snapshot: () => this.snapshot,
      mode: () => this.#current.search.mode,
      codeMode: () => core.codeModeFor({ profile: this }) !== undefined,
      alwaysLoads: (tool) => this.#current.alwaysLoads(this.snapshot.ruleNames(tool).assigned),
    });
    this.search = createSearch({
      snapshot: () => this.snapshot,
      searchUsage: core.searchUsage,
      model: core.options.searchModel,
      warn: (message) => core.log(undefined, 'warning', message),
    });
  }

  /** Why it cannot be used. */
  get problem(): PlugboardError | undefined {
    return this.#compiled.problem;
  }

  get settings(): Settings {
    return this.#current.settings;
  }

  get approvals(): 'client' | 'enforce' | undefined {
    return this.#current.approvals;
  }

  get budgets(): readonly Budget[] {
    return this.#current.budgets;
  }

  get definitions(): SessionProfile['definitions'] {
    return this.#current.definitions;
  }

  get backgroundAfter(): number | undefined {
    return this.#current.backgroundAfter;
  }

  get codeMode(): SessionProfile['codeMode'] {
    return this.#current.codeMode;
  }

  get snapshot(): Snapshot {
    const { snapshot: whole } = this.#core.catalog;
    const compiled = this.#current;
    if (this.#narrowed?.whole !== whole || this.#narrowed.compiled !== compiled) {
      const offers = (tool: ToolKey): boolean => compiled.offers(tool.server, whole.ruleNames(tool).assigned);
      this.#narrowed = { whole, compiled, snapshot: whole.narrowed(offers) };
    }
    return this.#narrowed.snapshot;
  }

  offers(server: string, names: Spellings): boolean {
    return this.#current.offers(server, names);
  }

  offersAll(server: string): boolean {
    return this.#current.offersAll(server);
  }

  /** False if the clients have no tool of a server, whatever its tools are called. */
  mayOffer(server: string): boolean {
    return this.#current.mayOffer(server);
  }

  /** True if the clients have at least one tool of a server, or all of it. */
  offersSome(server: string): boolean {
    return this.offersAll(server) || this.snapshot.tools.some((tool) => tool.server === server);
  }

  /** Returns whether the profile changed since the last call of this function. */
  takeChanged(): boolean {
    const before = this.#seen;
    this.#seen = this.#definition();
    return before !== this.#seen;
  }

  get #current(): ClientProfile {
    return this.#compiled.compiled;
  }

  get #compiled(): Compiled {
    const { settings } = this.#core.config;
    if (this.#made?.from === settings) return this.#made;
    const chain = profileChain(settings, this.name);
    const compiled = isChain(chain) ? compileProfile(chain, settings) : emptyProfile(settings);
    this.#made = { from: settings, compiled, problem: problemIn(settings, this.name) };
    return this.#made;
  }

  #definition(): string {
    const { settings } = this.#core.config;
    return canonicalJson([profileChain(settings, this.name), settings.permissions ?? null]);
  }
}
