/** The pins of one host: every listing is held against them, and what is new is remembered in the background (POL-3). */

import type { ServerSpec } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import {
  hashInstructions,
  hashTool,
  judge,
  type PinMode,
  type PinnedListing,
  type PinnedTool,
  type PinRecord,
  type PinVerdict,
  pinKey,
  pinMode,
  sealed,
} from './pins.ts';
import { PinBook } from './pins-book.ts';
import { type Definitions, readDefinitions, readPins, updatePins, writeDefinitions } from './pins-file.ts';

/** Writes that come close together, as at the first start of many servers, become one. */
const GATHER_MS = 20;
const MAX_TOOLS_NAMED = 5;

/** What may be used of a listing. */
export interface PinnedResult {
  /** Names of tools that are held back until somebody accepts them as they are now. */
  readonly held: ReadonlySet<string>;
  readonly holdsInstructions: boolean;
  /** For a copy of this listing in a cache: found again with it, the listing need not be looked at. */
  readonly seal?: string;
}

export interface Pins {
  /** @param seal what `check` gave for the same listing before. @param warn hears what a person should know. */
  check(spec: ServerSpec, listing: PinnedListing, warn: Warn, seal?: string): PinnedResult;
  /** Reads the file again: somebody may have accepted something. */
  reload(): Promise<void>;
  flush(): Promise<void>;
}

type Warn = (message: string) => void;

const FREE: PinnedResult = { held: new Set(), holdsInstructions: false };

interface Waiting {
  readonly key: string;
  readonly mode: PinMode;
  readonly server: string;
  readonly listing: PinnedListing;
  readonly warn: Warn;
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
    if (record === undefined) return this.#pin({ key, mode, server: spec.name, listing, warn });
    const verdict = judge(record, listing);
    const news = verdict.changed.length > 0 || verdict.instructionsChanged;
    if (!news && verdict.added.length === 0) {
      // Back to what was pinned: nothing is held any more.
      if (record.held !== undefined || record.heldInstructions !== undefined)
        this.#remember({ key, mode, server: spec.name, listing, warn });
      return { ...FREE, seal: record.seal };
    }
    tell(mode, verdict, warn);
    const next = this.#pin({ key, mode, server: spec.name, listing, warn }, record);
    if (mode === 'warn' || !news) return next;
    return { held: new Set(verdict.changed), holdsInstructions: verdict.instructionsChanged };
  }

  async reload(): Promise<void> {
    await this.flush();
    this.#book = await readPins(this.#home);
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length > 0) this.#writing = this.#writing.then(() => this.#write(waiting));
    await this.#writing;
  }

  /** Takes the listing into memory at once, so that the next look finds it, and onto the disk soon. */
  #pin(waiting: Waiting, before?: PinRecord): PinnedResult {
    const { key, server, mode, listing } = waiting;
    const record = merged(before, server, mode, listing);
    this.#book = (this.#book ?? new PinBook()).with(key, record);
    this.#remember(waiting);
    return { ...FREE, seal: record.seal };
  }

  #remember(waiting: Waiting): void {
    this.#waiting.push(waiting);
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.flush().catch(() => {});
    }, GATHER_MS);
    this.#timer.unref();
  }

  async #write(waiting: readonly Waiting[]): Promise<void> {
    const home = this.#home;
    try {
      // Decided anew on what the file says: another host may have been first.
      const book = await updatePins(home, (before) =>
        waiting.reduce(
          (after, { key, server, mode, listing }) =>
            after.with(key, merged(after.get(key), server, mode, listing)),
          before,
        ),
      );
      this.#book = book;
      for (const { key, listing } of waiting) await keepDefinitions(home, key, book.get(key), listing);
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

  /** The file is broken. Taking everything for new would let every change through. */
  #unknown(mode: PinMode, listing: PinnedListing, warn: Warn): PinnedResult {
    warn(`${this.#home.pins} is broken, so it is not known whether its tools have changed`);
    if (mode !== 'hold') return FREE;
    return { held: new Set(listing.tools.map((tool) => tool.name)), holdsInstructions: true };
  }
}

function tell(mode: PinMode, verdict: PinVerdict, warn: Warn): void {
  const { changed, added, instructionsChanged } = verdict;
  if (added.length > 0) warn(`new since it was first seen: ${named(added)}`);
  const what = [
    ...(changed.length > 0 ? [named(changed)] : []),
    ...(instructionsChanged ? ['its instructions'] : []),
  ];
  if (what.length === 0) return;
  const then = mode === 'hold' ? 'Held back; plugboard pins shows what changed.' : 'Taken as it is now.';
  warn(`changed since it was first seen: ${what.join(' and ')}. ${then}`);
}

function named(tools: readonly string[]): string {
  const shown = tools.slice(0, MAX_TOOLS_NAMED).join(', ');
  return tools.length > MAX_TOOLS_NAMED ? `${shown} and ${tools.length - MAX_TOOLS_NAMED} more` : shown;
}

/** A record after a listing: first sight pins; a change is noted beside the pin, or with `warn` takes its place. */
function merged(
  before: PinRecord | undefined,
  server: string,
  mode: PinMode,
  listing: PinnedListing,
): PinRecord {
  const tools: Record<string, string> = Object.assign(Object.create(null), before?.tools);
  const held: Record<string, string> = Object.create(null);
  for (const tool of listing.tools) {
    const now = hashTool(tool);
    const pinned = tools[tool.name];
    if (pinned === undefined || mode === 'warn') tools[tool.name] = now;
    else if (pinned !== now) held[tool.name] = now;
  }
  const now = hashInstructions(listing.instructions);
  const pinnedInstructions = mode === 'warn' ? now : (before?.instructions ?? now);
  return sealed({
    server,
    tools,
    instructions: pinnedInstructions,
    ...(Object.keys(held).length === 0 ? {} : { held }),
    ...(pinnedInstructions === now ? {} : { heldInstructions: now }),
  });
}

async function keepDefinitions(
  home: Home,
  key: string,
  record: PinRecord | undefined,
  listing: PinnedListing,
): Promise<void> {
  if (record === undefined) return;
  const known = await readDefinitions(home, key);
  const tools: Record<string, { pinned?: PinnedTool; held?: PinnedTool }> = Object.assign(
    Object.create(null),
    known.tools,
  );
  for (const tool of listing.tools) {
    const isHeld = record.held !== undefined && Object.hasOwn(record.held, tool.name);
    const { pinned } = tools[tool.name] ?? {};
    if (isHeld) tools[tool.name] = { ...(pinned === undefined ? {} : { pinned }), held: decided(tool) };
    else tools[tool.name] = { pinned: decided(tool) };
  }
  const said = listing.instructions ?? '';
  const pinnedText = known.instructions?.pinned;
  const instructions: Definitions['instructions'] =
    record.heldInstructions === undefined
      ? { pinned: said }
      : { ...(pinnedText === undefined ? {} : { pinned: pinnedText }), held: said };
  await writeDefinitions(home, key, { tools, instructions });
}

/** Only what was hashed: what else a listing says is not what anybody accepts. */
function decided({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: PinnedTool): PinnedTool {
  return {
    name,
    ...(title === undefined ? {} : { title }),
    description,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}
