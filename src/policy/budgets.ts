/**
 * Counts calls and tokens of results against budgets, in windows of the clock.
 *
 * A call is counted before it is made, in one step for all of its budgets, so parallel calls never exceed one; a refused
 * call costs nothing. Tokens are counted when the result is known.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import picomatch from 'picomatch';
import type { Budget } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { attempt } from '../lib/attempt.ts';
import type { Clock } from '../lib/clock.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { isRecord, parseJson } from '../lib/json.ts';
import { JsonStore } from '../lib/json-store.ts';
import { type RuleNames, ruleMatcher } from './approval.ts';

const SECOND_MS = 1_000;
const PERIOD_MS: Readonly<Record<Budget['per'], number>> = {
  second: SECOND_MS,
  minute: 60 * SECOND_MS,
  hour: 3_600 * SECOND_MS,
  day: 86_400 * SECOND_MS,
};
/** Windows at least as long as this survive a restart. */
const MIN_STORED_MS: number = PERIOD_MS.hour;
const WRITE_AFTER_MS = 1_000;
/** Beyond this, counters of earlier windows are dropped. */
const MAX_COUNTERS = 100_000;
const MAX_STORED = 10_000;
const KEY_CHARS = 32;

/** The budgets of a session, and the name under which its calls are counted with those of other sessions. */
export interface SessionBudgets {
  readonly principal: string;
  readonly budgets: readonly Budget[];
}

/** The current state of one budget. */
export interface BudgetUse extends Budget {
  readonly used: number;
  readonly remaining: number;
  /** Until the window ends. */
  readonly resetsInSeconds: number;
}

/** The call that is counted. */
export interface Countable {
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  readonly names: RuleNames;
}

export interface BudgetRefusal {
  readonly budget: Budget;
  readonly retryAfterSeconds: number;
}

/** One counter in shared storage, and the amount of a call. */
export interface SharedCount {
  readonly key: string;
  readonly periodMs: number;
  readonly amount: number;
}

/** Counters that several processes share. */
export interface SharedCounters {
  /** The number of processes that share them. */
  readonly shares: number;
  /**
   * Counts in all counters, or in none if one is used up: then the place of the one that refuses longest. `away`: the
   * storage cannot be reached.
   */
  reserve(
    counts: readonly (SharedCount & { readonly limit: number })[],
  ): Promise<'counted' | 'away' | { readonly place: number; readonly waitMs: number }>;
  /** Adds to counters; dropped if the storage cannot be reached. */
  add(counts: readonly SharedCount[]): void;
}

/** What happens to calls with a limit while shared counters cannot be reached. */
export type OnLost = 'local' | 'refuse';

/** One counter, shared by all sessions of a principal. */
interface Counter {
  readonly key: string;
  readonly periodMs: number;
  /** The number of the window since the epoch. */
  window: number;
  used: number;
  /** The part of `used` that is not on disk yet. */
  unsaved: number;
}

interface Counted {
  readonly budget: Budget;
  readonly limit: number;
  readonly counter: Counter;
  readonly matches: (call: Countable) => boolean;
}

/** The budgets that apply to one tool. */
interface ToolBudgets {
  readonly all: readonly Counted[];
  /** The counters of calls; budgets that differ only in their limit share one. */
  readonly calls: readonly Counter[];
  readonly tokens: readonly Counter[];
}

/** The budgets of one principal. */
export class BudgetAccount {
  readonly #book: BudgetBook;
  readonly #counted: readonly Counted[];
  readonly #byTool = new WeakMap<RuleNames, ToolBudgets>();

  constructor(book: BudgetBook, principal: string, budgets: readonly Budget[]) {
    this.#book = book;
    this.#counted = budgets.map((budget) => ({
      budget,
      limit: limitOf(budget),
      counter: book.counter(principal, budget),
      matches: budgetMatcher(budget),
    }));
  }

  /** Returns the budgets for a tool; looked up once for each. */
  of(call: Countable): ToolBudgets {
    return getOrMake(this.#byTool, call.names, () => {
      const all = this.#counted.filter(({ matches }) => matches(call));
      const countersOf = (counted: readonly Counted[]): readonly Counter[] => [
        ...new Set(counted.map(({ counter }) => counter)),
      ];
      return {
        all,
        calls: countersOf(all.filter(({ budget }) => budget.calls !== undefined)),
        tokens: countersOf(all.filter(({ budget }) => budget.calls === undefined)),
      };
    });
  }

  use(): readonly BudgetUse[] {
    return this.#counted.map(({ budget, counter }) => useOf(budget, this.#book.current(counter)));
  }
}

/** The use of a window, and the time until it ends. */
interface WindowUse {
  readonly used: number;
  readonly endsInMs: number;
}

function useOf(budget: Budget, { used, endsInMs }: WindowUse): BudgetUse {
  const remaining = Math.max(0, limitOf(budget) - used);
  return { ...budget, used, remaining, resetsInSeconds: Math.ceil(endsInMs / SECOND_MS) };
}

function limitOf({ calls, resultTokens = 0 }: Budget): number {
  return calls ?? resultTokens;
}

/** Returns the limit of a budget as text, such as `500 calls per day`. */
export function limitText(budget: Budget): string {
  return textWith(budget, '');
}

/** Returns a budget as text, such as `500 calls of github/create_* per day`. Clients never get it: globs may name other servers. */
export function budgetText(budget: Budget): string {
  const { server, tool } = budget;
  if (server === undefined && tool === undefined) return limitText(budget);
  return textWith(budget, ` of ${server ?? '*'}${tool === undefined ? '' : `/${tool}`}`);
}

function textWith({ calls, resultTokens = 0, per }: Budget, scope: string): string {
  const [limit, unit] = calls === undefined ? [resultTokens, 'result token'] : [calls, 'call'];
  return `${limit} ${unit}${limit === 1 ? '' : 's'}${scope} per ${per}`;
}

/** True if other processes see the use of a budget. */
export function isStored({ per }: Budget): boolean {
  return PERIOD_MS[per] >= MIN_STORED_MS;
}

export function budgetMatcher({ server = '*', tool }: Budget): (call: Countable) => boolean {
  const isServer = picomatch(server, { dot: true });
  if (tool === undefined) return (call) => server === '*' || isServer(call.server);
  const isTool = picomatch(tool, { dot: true });
  const isName = ruleMatcher(tool);
  return (call) =>
    (server === '*' || isServer(call.server)) &&
    (call.tool === tool || isTool(call.tool) || isName(call.names.all));
}

/** A call that was counted. */
export class Reservation {
  readonly #book: BudgetBook;
  readonly #budgets: readonly ToolBudgets[];

  constructor(book: BudgetBook, budgets: readonly ToolBudgets[]) {
    this.#book = book;
    this.#budgets = budgets;
  }

  /** False if no budget counts tokens, which are costly to estimate. */
  get countsTokens(): boolean {
    return this.#budgets.some(({ tokens }) => tokens.length > 0);
  }

  charge(tokens: number): void {
    this.#change('tokens', tokens);
  }

  /** Returns the call to its budgets: it was never sent. */
  release(): void {
    this.#change('calls', -1);
  }

  #change(kind: 'calls' | 'tokens', amount: number): void {
    const counters = this.#budgets.flatMap((each) => each[kind]);
    for (const counter of counters) this.#book.add(counter, amount);
    if (counters.length > 0)
      this.#book.shared?.add(counters.map(({ key, periodMs }) => ({ key, periodMs, amount })));
  }
}

/** Accounts hold no counts, so they can be made again. */
const MAX_KEPT_ACCOUNTS = 20_000;

/** Not by its class: the daemon's book and its hosts are in different bundles, each with a class of its own. */
export function isRefusal(reserved: Reservation | BudgetRefusal): reserved is BudgetRefusal {
  return 'retryAfterSeconds' in reserved;
}

/** All counters of a home. */
export class BudgetBook {
  readonly #clock: Clock;
  readonly #file: string | undefined;
  readonly #store: JsonStore<Map<string, StoredUse>>;
  readonly #counters = new Map<string, Counter>();
  readonly #principals = new WeakMap<readonly Budget[], Map<string, BudgetAccount>>();
  readonly #everyone = new WeakMap<readonly Budget[], BudgetAccount | undefined>();
  #stored: ReadonlyMap<string, StoredUse> | undefined;
  #cancelTimer: (() => void) | undefined;

  /** Counters that other processes use too. */
  readonly shared: SharedCounters | undefined;

  constructor(home: Pick<Home, 'dir' | 'run' | 'isNone'>, clock: Clock, shared?: SharedCounters) {
    this.#clock = clock;
    this.shared = shared;
    const file = join(home.dir, 'budgets.json');
    this.#file = home.isNone ? undefined : file;
    this.#store = new JsonStore({
      file,
      lockDir: join(home.run, 'locks'),
      parse: parseStored,
      toJson: (all) => Object.fromEntries(all),
    });
  }

  /** Returns the account of a session; undefined if it has no budgets. Sessions of one principal share its counters. */
  account({ principal, budgets }: SessionBudgets): BudgetAccount | undefined {
    if (budgets.length === 0) return undefined;
    // A modern client has a session for each request.
    const known = getOrMake(this.#principals, budgets, () => new Map<string, BudgetAccount>());
    if (known.size > MAX_KEPT_ACCOUNTS) known.clear();
    return getOrMake(known, principal, () => new BudgetAccount(this, `principal ${principal}`, budgets));
  }

  /** Returns the use of a principal without keeping counters for it: a list may have thousands of principals. */
  useOf({ principal, budgets }: SessionBudgets): readonly BudgetUse[] {
    return budgets.map((budget) => {
      const key = keyOf(`principal ${principal}`, budget);
      return useOf(budget, this.current(this.#counters.get(key) ?? this.#loaded(key, budget)));
    });
  }

  /** Returns the account that all sessions share. */
  everyone(budgets: readonly Budget[] | undefined): BudgetAccount | undefined {
    if (budgets === undefined || budgets.length === 0) return undefined;
    return getOrMake(this.#everyone, budgets, () => new BudgetAccount(this, 'everyone', budgets));
  }

  /**
   * Counts a call in the counters that all processes share, in one round trip. While they cannot be reached, this
   * process counts against its share of each limit, or refuses (`away`).
   */
  async reserveShared(
    shared: SharedCounters,
    accounts: readonly BudgetAccount[],
    call: Countable,
    onLost: OnLost,
  ): Promise<Reservation | BudgetRefusal | 'away'> {
    const found = accounts.map((account) => account.of(call));
    const limits = found.flatMap(({ all }) => all);
    if (limits.length === 0) return new Reservation(this, found);
    const seen = new Set<string>();
    const counts = limits.map(({ budget, limit, counter: { key, periodMs } }) => {
      // Budgets that differ only in their limit share a counter.
      const isCounted = budget.calls !== undefined && !seen.has(key);
      seen.add(key);
      return { key, periodMs, limit, amount: isCounted ? 1 : 0 };
    });
    const answer = await shared.reserve(counts);
    if (answer === 'away') return onLost === 'refuse' ? 'away' : this.reserve(accounts, call, shared.shares);
    if (answer !== 'counted') {
      const budget = limits[answer.place]?.budget ?? limits[0]?.budget;
      if (budget !== undefined)
        return { budget, retryAfterSeconds: Math.max(1, Math.ceil(answer.waitMs / SECOND_MS)) };
    }
    for (const { calls } of found) for (const counter of calls) this.add(counter, 1);
    return new Reservation(this, found);
  }

  /** Counts a call in all accounts, or in none if a budget is used up. `shares`: this process has one of so many. */
  reserve(accounts: readonly BudgetAccount[], call: Countable, shares = 1): Reservation | BudgetRefusal {
    const found = accounts.map((account) => account.of(call));
    const now = this.#clock.now();
    let refusal: BudgetRefusal | undefined;
    for (const { all } of found) {
      for (const { budget, limit, counter } of all) {
        moveTo(now, counter);
        if (counter.used < (shares === 1 ? limit : Math.ceil(limit / shares))) continue;
        const retryAfterSeconds = Math.max(1, Math.ceil(msLeft(counter, now) / SECOND_MS));
        if (refusal === undefined || retryAfterSeconds > refusal.retryAfterSeconds)
          refusal = { budget, retryAfterSeconds };
      }
    }
    if (refusal !== undefined) return refusal;
    for (const { calls } of found) for (const counter of calls) this.add(counter, 1, now);
    return new Reservation(this, found);
  }

  /** Returns the use of the current window. */
  current(counter: Counter): WindowUse {
    const now = this.#clock.now();
    moveTo(now, counter);
    return { used: counter.used, endsInMs: msLeft(counter, now) };
  }

  add(counter: Counter, amount: number, now: number = this.#clock.now()): void {
    moveTo(now, counter);
    const used = Math.max(0, counter.used + amount);
    const change = used - counter.used;
    counter.used = used;
    if (this.#file === undefined || counter.periodMs < MIN_STORED_MS || change === 0) return;
    counter.unsaved += change;
    this.#cancelTimer ??= this.#clock.after(WRITE_AFTER_MS, () => void this.flush());
  }

  counter(principal: string, budget: Budget): Counter {
    const key = keyOf(principal, budget);
    if (this.#counters.size >= MAX_COUNTERS) this.#dropEnded();
    return getOrMake(this.#counters, key, () => this.#loaded(key, budget));
  }

  /** Returns a new counter, with the use that was stored. */
  #loaded(key: string, budget: Budget): Counter {
    const periodMs = PERIOD_MS[budget.per];
    const window = Math.floor(this.#clock.now() / periodMs);
    const stored = isStored(budget) ? this.#read().get(key) : undefined;
    return { key, periodMs, window, used: stored?.window === window ? stored.used : 0, unsaved: 0 };
  }

  /** Writes the changes since the last write; adds what other processes have counted. */
  async flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    const changed = [...this.#counters.values()].flatMap((counter) => {
      const { unsaved } = counter;
      if (unsaved === 0) return [];
      counter.unsaved = 0;
      return [{ counter, window: counter.window, unsaved }];
    });
    if (changed.length > 0)
      this.#store.updateLater((all) => {
        for (const { counter, window, unsaved } of changed) {
          const before = all.get(counter.key);
          const used = (before?.window === window ? before.used : 0) + unsaved;
          all.delete(counter.key);
          all.set(counter.key, { window, used, endsAt: (window + 1) * counter.periodMs });
          if (counter.window === window) counter.used = used + counter.unsaved;
        }
        return newestOf(all, this.#clock.now());
      });
    await this.#store.flush();
  }

  /** Reads synchronously, once: the first call must know what was used before. */
  #read(): ReadonlyMap<string, StoredUse> {
    const file = this.#file;
    this.#stored ??=
      file === undefined ? new Map() : parseStored(parseJson(attempt(() => readFileSync(file, 'utf8'), '')));
    return this.#stored;
  }

  #dropEnded(): void {
    for (const [key, counter] of this.#counters)
      if (this.current(counter).used === 0) this.#counters.delete(key);
  }
}

/** Begins a new window if the last one has ended. */
function moveTo(now: number, counter: Counter): void {
  const window = Math.floor(now / counter.periodMs);
  // A clock that is set back does not give a second budget for the same time.
  if (window <= counter.window) return;
  counter.window = window;
  counter.used = 0;
  counter.unsaved = 0;
}

function msLeft({ window, periodMs }: Counter, now: number): number {
  return (window + 1) * periodMs - now;
}

/** Hashed: a principal may be a token, which must not be stored. Without the limit, so that changing it keeps the use. */
function keyOf(principal: string, { calls, per, server = '*', tool = '*' }: Budget): string {
  const metric = calls === undefined ? 'resultTokens' : 'calls';
  const identity = JSON.stringify([principal, metric, per, server, tool]);
  return createHash('sha256').update(identity).digest('hex').slice(0, KEY_CHARS);
}

interface StoredUse {
  readonly window: number;
  readonly used: number;
  /** Milliseconds since the epoch. */
  readonly endsAt: number;
}

function parseStored(value: unknown): Map<string, StoredUse> {
  const found = new Map<string, StoredUse>();
  if (!isRecord(value)) return found;
  for (const [key, use] of Object.entries(value)) {
    const { window, used, endsAt } = isRecord(use) ? use : {};
    if (typeof window === 'number' && typeof used === 'number' && typeof endsAt === 'number')
      found.set(key, { window, used, endsAt });
  }
  return found;
}

function newestOf(all: ReadonlyMap<string, StoredUse>, now: number): Map<string, StoredUse> {
  const open = [...all].filter(([, { endsAt }]) => endsAt > now);
  return new Map(open.slice(-MAX_STORED));
}
