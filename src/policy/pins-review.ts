/** What is held back, with what changed in words, and its acceptance by a person. */

import type { Home } from '../config/home.ts';
import { PlugboardError } from '../errors.ts';
import { clean, reveal } from './clean.ts';
import { compare, type Difference } from './differences.ts';
import { hashInstructions, hashTool, INSTRUCTIONS, type PinRecord, sealed } from './pins.ts';
import type { PinBook } from './pins-book.ts';
import { type Definitions, readDefinitions, readPins, updatePins, writeDefinitions } from './pins-file.ts';

const MAX_VALUE_CHARS = 2_000;
const MAX_LINES = 200;

export interface HeldTool {
  readonly server: string;
  readonly tool: string;
  /** Lines that begin with `-` for what was, `+` for what is; under the name of each part that changed. */
  readonly diff: string;
}

/** What waits for an answer. @param keys the pins of the servers that are meant, by `pinKey`. */
export async function reviewPins(home: Home, keys: readonly string[]): Promise<readonly HeldTool[]> {
  const book = await readBook(home, keys);
  const found: HeldTool[] = [];
  for (const key of keys) {
    const record = book.get(key);
    if (record === undefined || !holdsAnything(record)) continue;
    found.push(...describeHeld(record, await readDefinitions(home, key)));
  }
  return found;
}

/** Accepts exactly what `reviewPins` showed: what a server has changed since then is held back anew. */
export async function acceptPins(home: Home, keys: readonly string[]): Promise<void> {
  await readBook(home, keys);
  const seen = new Map<string, Definitions>();
  for (const key of keys) seen.set(key, await readDefinitions(home, key));
  await updatePins(home, (before) => {
    let after = before;
    for (const [key, definitions] of seen) {
      const record = after.get(key);
      if (record !== undefined) after = after.with(key, accepted(record, definitions));
    }
    return after;
  });
  for (const [key, definitions] of seen) await writeDefinitions(home, key, adopted(definitions));
}

/** The pins of these servers, all of which can be understood. */
async function readBook(home: Home, keys: readonly string[]): Promise<PinBook> {
  const book = await readPins(home);
  if (book === undefined) throw broken(home);
  try {
    for (const key of keys) book.get(key);
  } catch {
    throw broken(home);
  }
  return book;
}

function holdsAnything({ held, heldInstructions }: PinRecord): boolean {
  return heldInstructions !== undefined || Object.keys(held ?? {}).length > 0;
}

function accepted(record: PinRecord, definitions: Definitions): PinRecord {
  const { held = {}, heldInstructions, ...kept } = record;
  const tools: Record<string, string> = Object.assign(Object.create(null), record.tools);
  const left: Record<string, string> = {};
  for (const [name, hash] of Object.entries(held)) {
    const shown = ownEntry(definitions, name)?.held;
    // What could not be shown is accepted by its hash; what was shown, only if it still is that.
    if (shown === undefined || hashTool(shown) === hash) tools[name] = hash;
    else left[name] = hash;
  }
  const text = definitions.instructions?.held;
  const takesText =
    heldInstructions !== undefined && (text === undefined || hashInstructions(text) === heldInstructions);
  return sealed({
    ...kept,
    tools,
    ...(takesText ? { instructions: heldInstructions } : {}),
    ...(heldInstructions === undefined || takesText ? {} : { heldInstructions }),
    ...(Object.keys(left).length === 0 ? {} : { held: left }),
  });
}

function adopted(definitions: Definitions): Definitions {
  const tools = Object.entries(definitions.tools).map(([name, { pinned, held }]) => {
    const now = held ?? pinned;
    return [name, now === undefined ? {} : { pinned: now }] as const;
  });
  const said = definitions.instructions?.held ?? definitions.instructions?.pinned;
  return {
    tools: Object.fromEntries(tools),
    ...(said === undefined ? {} : { instructions: { pinned: said } }),
  };
}

function describeHeld(record: PinRecord, definitions: Definitions): HeldTool[] {
  const { server } = record;
  const tools = Object.keys(record.held ?? {}).map((name): HeldTool => {
    const { pinned, held } = ownEntry(definitions, name) ?? {};
    return { server, tool: clean(name, { multiline: false }), diff: diffOf(pinned, held) };
  });
  if (record.heldInstructions === undefined) return tools;
  const { pinned, held } = definitions.instructions ?? {};
  const diff = diffOf(
    pinned === undefined ? undefined : { instructions: pinned },
    held === undefined ? undefined : { instructions: held },
  );
  return [...tools, { server, tool: INSTRUCTIONS, diff }];
}

function ownEntry({ tools }: Definitions, name: string): Definitions['tools'][string] | undefined {
  return Object.hasOwn(tools, name) ? tools[name] : undefined;
}

function diffOf(before: unknown, after: unknown): string {
  if (after === undefined) return 'What it is now was not kept; connect the server to see it.';
  const changes = before === undefined ? compare('', {}, after) : compare('', before, after);
  const lines = changes.flatMap(linesOf);
  const shown = lines.slice(0, MAX_LINES);
  const more = lines.length > MAX_LINES ? [`… ${lines.length - MAX_LINES} more lines`] : [];
  const head = before === undefined ? ['(what it was is not known any more)'] : [];
  return [...head, ...shown, ...more].join('\n');
}

/** Texts line by line, so that the one that was slipped in stands out; other values whole. */
function linesOf({ path, before, after }: Difference): string[] {
  if (typeof before === 'string' && typeof after === 'string') {
    const [old, now] = [before.split('\n'), after.split('\n')];
    const gone = old.filter((line) => !now.includes(line));
    const come = now.filter((line) => !old.includes(line));
    // Only the order of lines changed: then all of it is shown.
    const [minus, plus] = gone.length + come.length === 0 ? [old, now] : [gone, come];
    return [
      `${reveal(path)}:`,
      ...minus.map((line) => `- ${shown(line)}`),
      ...plus.map((line) => `+ ${shown(line)}`),
    ];
  }
  return [
    `${reveal(path)}:`,
    ...(before === undefined ? [] : [`- ${shown(before)}`]),
    ...(after === undefined ? [] : [`+ ${shown(after)}`]),
  ];
}

/** Nothing hidden: what cannot be seen is written out. */
function shown(value: unknown): string {
  const text = reveal(typeof value === 'string' ? value : JSON.stringify(value));
  const cut = text.length - MAX_VALUE_CHARS;
  return cut <= 0 ? text : `${text.slice(0, MAX_VALUE_CHARS).toWellFormed()}… (${cut} more characters)`;
}

function broken({ pins }: Home): PlugboardError {
  return new PlugboardError('CONFIG_INVALID', `${pins} is broken, so it is not known what was pinned.`, {
    hint: 'Mend it, or delete it to begin anew: then every server is taken as it is.',
  });
}
