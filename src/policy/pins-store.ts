/** The pins of one host: checks every listing against them and stores new pins in the background (POL-3). */

import { isDeepStrictEqual } from 'node:util';
import type { ServerSpec } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { forSurface } from '../errors.ts';
import { own } from '../lib/json.ts';
import {
  judge,
  type PinDecision,
  type PinMode,
  type PinnedKind,
  type PinnedListing,
  type PinnedPart,
  type PinRecord,
  pinKey,
  pinMode,
} from './pins.ts';
import {
  keepParts,
  keepTools,
  mergedParts,
  mergedTools,
  PinBook,
  readPins,
  updatePins,
} from './pins-file.ts';
import { keepNews } from './pins-news.ts';

/** Writes within this time are combined, as at the first start of many servers. */
const GATHER_MS = 20;
const MAX_NAMED = 5;

/** The result of checking a listing. */
export interface PinnedResult {
  /** Names of tools that are held until their current definition is accepted. */
  readonly held: ReadonlySet<string>;
  /** Names of `held` tools that did not exist when the server was first used. */
  readonly added: ReadonlySet<string>;
  readonly holdsInstructions: boolean;
  /** True if another server answers than the pinned one: all of it is held. */
  readonly holdsIdentity: boolean;
  /** Stored with a cached copy of this listing: with the same seal, the listing does not have to be checked again. */
  readonly seal?: string;
}

/** Whether a prompt or a resource may be used: `new` and `changed` are held. */
type PartState = 'free' | 'new' | 'changed';

export interface Pins {
  /**
   * @param seal the seal that `check` returned for the same listing before. @param warn receives messages for the user.
   */
  check(spec: ServerSpec, listing: PinnedListing, warn: Warn, seal?: string): PinnedResult;
  /** Returns the ids of held items in a list other than tools. */
  checkParts(
    spec: ServerSpec,
    kind: PinnedKind,
    items: readonly PinnedPart[],
    warn: Warn,
  ): ReadonlySet<string>;
  /** Returns the state from the last check of the list, by this host or another. */
  stateOf(spec: ServerSpec, kind: PinnedKind, id: string): PartState;
  /** Increased whenever something may have been accepted. */
  readonly generation: number;
  /** Reads the file again, since changes may have been accepted. */
  reload(): Promise<void>;
  flush(): Promise<void>;
}

type Warn = (message: string) => void;

/** The result if nothing is held. */
const FREE: PinnedResult = {
  held: new Set(),
  added: new Set(),
  holdsInstructions: false,
  holdsIdentity: false,
};

/** A change of a record, computed from the file when it is written, since another host may have changed it. */
interface Waiting {
  readonly key: string;
  readonly warn: Warn;
  readonly merge: (before: PinRecord | undefined) => PinRecord | undefined;
  readonly keep: (home: Home, record: PinRecord) => Promise<void>;
}

export async function openPins(home: Home): Promise<Pins> {
  return new PinStore(home, await readPins(home));
}

class PinStore implements Pins {
  readonly #home: Home;
  #book: PinBook | undefined;
  #waiting: Waiting[] = [];
  #writing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  generation = 0;

  constructor(home: Home, book: PinBook | undefined) {
    this.#home = home;
    this.#book = book;
  }

  check(spec: ServerSpec, listing: PinnedListing, warn: Warn, seal?: string): PinnedResult {
    const mode = pinMode(spec);
    if (mode === 'off') return FREE;
    const key = pinKey(spec);
    if (seal !== undefined && this.#book?.seal(key) === seal) return { ...FREE, seal };
    const record = this.#recordOf(key);
    if (record === 'broken') return this.#unknown(mode, listing, warn);
    const waiting: Waiting = {
      key,
      warn,
      merge: (before) => mergedTools(before, spec.name, mode, listing),
      keep: (home, now) => keepTools(home, key, now, listing),
    };
    const now = this.#remember(waiting, record);
    if (record === undefined || now === undefined) return { ...FREE, ...sealOf(now) };
    const verdict = judge(record, listing);
    reportChanges(mode, record, listing, verdict, warn);
    if (mode === 'warn' && !isFree(verdict)) {
      const { changed, added, instructionsChanged } = verdict;
      const all = [...changed, ...(instructionsChanged ? ['its instructions'] : [])];
      if (all.length + added.length > 0)
        keepNews(this.#home, { key, server: spec.name, changed: all, added });
    }
    if (mode === 'warn' || isFree(verdict)) return { ...FREE, ...sealOf(now) };
    const { changed, added, identityChanged, instructionsChanged } = verdict;
    const held = identityChanged ? listing.tools.map(({ name }) => name) : [...changed, ...added];
    return {
      held: new Set(held),
      added: new Set(identityChanged ? [] : added),
      holdsInstructions: instructionsChanged || identityChanged,
      holdsIdentity: identityChanged,
    };
  }

  checkParts(
    spec: ServerSpec,
    kind: PinnedKind,
    items: readonly PinnedPart[],
    warn: Warn,
  ): ReadonlySet<string> {
    const mode = pinMode(spec);
    const key = pinKey(spec);
    const record = mode === 'off' ? undefined : this.#recordOf(key);
    // Tools are listed first: without a record, none of the server's lists is pinned.
    if (record === undefined) return new Set();
    const all = new Set(items.map(({ id }) => id));
    if (record === 'broken') return mode === 'hold' ? all : new Set();
    const known = record.parts?.[kind];
    const now = mergedParts(record, kind, mode, items);
    if (now !== record) {
      const fresh = items.filter(({ id }) => differs(record, now, kind, id)).map(({ id }) => id);
      if (known !== undefined && fresh.length > 0) warn(partsMessage(kind, fresh, mode));
      this.#remember(
        {
          key,
          warn,
          merge: (before) => (before === undefined ? undefined : mergedParts(before, kind, mode, items)),
          keep: (home, after) => keepParts(home, key, after, kind, items),
        },
        record,
      );
    }
    if (mode !== 'hold') return new Set();
    return record.heldIdentity === undefined ? new Set(Object.keys(now.parts?.[kind]?.held ?? {})) : all;
  }

  stateOf(spec: ServerSpec, kind: PinnedKind, id: string): PartState {
    const mode = pinMode(spec);
    const record = mode === 'hold' ? this.#recordOf(pinKey(spec)) : undefined;
    if (record === 'broken') return 'changed';
    if (record?.heldIdentity !== undefined) return 'changed';
    const parts = record?.parts?.[kind];
    if (own(parts?.held, id) === undefined) return 'free';
    return own(parts?.pinned, id) === undefined ? 'new' : 'changed';
  }

  async reload(): Promise<void> {
    await this.flush();
    this.#book = await readPins(this.#home);
    this.generation += 1;
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length > 0) this.#writing = this.#writing.then(() => this.#write(waiting));
    await this.#writing;
  }

  /** Applies a change in memory at once, so that the next check sees it, and writes it to disk soon. */
  #remember(waiting: Waiting, before: PinRecord | undefined): PinRecord | undefined {
    const record = waiting.merge(before);
    if (
      record === undefined ||
      (before !== undefined && isDeepStrictEqual(withoutNull(before), withoutNull(record)))
    )
      return record;
    this.#book = (this.#book ?? new PinBook()).with(waiting.key, record);
    this.#waiting.push(waiting);
    if (this.#timer !== undefined) return record;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.flush().catch(() => {});
    }, GATHER_MS);
    this.#timer.unref();
    return record;
  }

  async #write(waiting: readonly Waiting[]): Promise<void> {
    const home = this.#home;
    if (home.isNone) return;
    try {
      const book = await updatePins(home, (before) =>
        waiting.reduce((after, { key, merge }) => {
          const record = merge(after.get(key));
          return record === undefined ? after : after.with(key, record);
        }, before),
      );
      this.#book = book;
      for (const { key, keep } of waiting) {
        const record = book.get(key);
        if (record !== undefined) await keep(home, record);
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      waiting[0]?.warn(`what its tools are was not remembered: ${home.pins}: ${why}`);
    }
  }

  #recordOf(key: string): PinRecord | undefined | 'broken' {
    try {
      return this.#book === undefined ? 'broken' : this.#book.get(key);
    } catch {
      return 'broken';
    }
  }

  /** The file is invalid. Treating everything as new would let every change through. */
  #unknown(mode: PinMode, listing: PinnedListing, warn: Warn): PinnedResult {
    warn(`${this.#home.pins} is broken, so it is not known whether its tools have changed`);
    if (mode !== 'hold') return FREE;
    return { ...FREE, held: new Set(listing.tools.map((tool) => tool.name)), holdsInstructions: true };
  }
}

function isFree({ changed, added, instructionsChanged, identityChanged }: PinDecision): boolean {
  return changed.length + added.length === 0 && !instructionsChanged && !identityChanged;
}

function sealOf(record: PinRecord | undefined): Pick<PinnedResult, 'seal'> {
  return record === undefined ? {} : { seal: record.seal };
}

/** Normalizes prototypes: parsed records have other prototypes than created ones. */
function withoutNull(record: PinRecord): unknown {
  return JSON.parse(JSON.stringify(record));
}

function differs(before: PinRecord, now: PinRecord, kind: PinnedKind, id: string): boolean {
  const [old, young] = [before.parts?.[kind], now.parts?.[kind]];
  return (
    own(old?.pinned, id) !== own(young?.pinned, id) ||
    (own(young?.held, id) !== undefined && own(old?.held, id) !== own(young?.held, id))
  );
}

const HELD: string = forSurface({
  commands: 'On hold; run plugboard pins to see what changed.',
  library: 'On hold; heldBack() of the host shows what changed.',
});
const PARTS: Readonly<Record<PinnedKind, string>> = {
  prompts: 'prompts',
  resources: 'resources',
  resourceTemplates: 'resource templates',
};

function partsMessage(kind: PinnedKind, ids: readonly string[], mode: PinMode): string {
  const then = mode === 'hold' ? HELD : 'Taken as they are now.';
  return `${PARTS[kind]} that are new or changed since they were first seen: ${named(ids)}. ${then}`;
}

function reportChanges(
  mode: PinMode,
  record: PinRecord,
  { identity }: PinnedListing,
  { changed, added, instructionsChanged, identityChanged }: PinDecision,
  warn: Warn,
): void {
  if (identity !== undefined && record.version !== undefined && record.version !== identity.version)
    warn(`its version changed from ${record.version} to ${identity.version}`);
  if (added.length > 0)
    warn(`new since it was first seen: ${named(added)}${mode === 'hold' ? `. ${HELD}` : ''}`);
  const what = [
    ...(changed.length > 0 ? [named(changed)] : []),
    ...(instructionsChanged ? ['its instructions'] : []),
    ...(identityChanged ? ['the name that it gives itself'] : []),
  ];
  if (what.length === 0) return;
  const then = mode === 'hold' ? HELD : 'Taken as it is now.';
  warn(`changed since it was first seen: ${what.join(' and ')}. ${then}`);
}

function named(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMED).join(', ');
  return names.length > MAX_NAMED ? `${shown} and ${names.length - MAX_NAMED} more` : shown;
}

/** `isExempt` is called at each use, since some servers are recognized only after they are connected. */
export function pinsExcept(pins: Pins, isExempt: (spec: ServerSpec) => boolean): Pins {
  return {
    get generation() {
      return pins.generation;
    },
    check: (spec, ...rest) => (isExempt(spec) ? FREE : pins.check(spec, ...rest)),
    checkParts: (spec, ...rest) => (isExempt(spec) ? new Set() : pins.checkParts(spec, ...rest)),
    stateOf: (spec, ...rest) => (isExempt(spec) ? 'free' : pins.stateOf(spec, ...rest)),
    reload: () => pins.reload(),
    flush: () => pins.flush(),
  };
}
