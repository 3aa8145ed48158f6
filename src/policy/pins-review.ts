/** Lists held definitions with their differences, and accepts them. */

import type { Home } from '../config/home.ts';
import { PlugboardError } from '../errors.ts';
import { own } from '../lib/json.ts';
import { oneLine, reveal } from './clean.ts';
import { compare, type Difference } from './differences.ts';
import {
  hashInstructions,
  hashPart,
  hashTool,
  heldHash,
  IDENTITY,
  INSTRUCTIONS,
  type PinnedKind,
  type PinnedParts,
  type PinnedTool,
  type PinRecord,
  sealed,
} from './pins.ts';
import type { PinBook } from './pins-file.ts';
import {
  type Definitions,
  readDefinitions,
  readPins,
  updatePins,
  type Versions,
  writeDefinitions,
} from './pins-file.ts';

const MAX_VALUE_CHARS = 2_000;
const MAX_LINES = 200;

const KINDS: readonly PinnedKind[] = ['prompts', 'resources', 'resourceTemplates'];
const NAMES = { prompts: 'prompt', resources: 'resource', resourceTemplates: 'template' } as const;

/** A held tool or other item of a server. */
export interface HeldTool {
  readonly server: string;
  /** The name of a tool or a prompt, an address, `(instructions)` or `(identity)`. */
  readonly tool: string;
  /** The kind of item, if it is not a tool. */
  readonly kind?: 'prompt' | 'resource' | 'template' | 'instructions' | 'identity';
  /** Lines that begin with `-` for the old and `+` for the new version, under the name of each changed part. */
  readonly diff: string;
}

/** Returns the held items. @param keys the pin keys of the servers (`pinKey`). */
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

/** Selects the items to accept, by the name that `reviewPins` shows. */
export type IsChosen = (name: string) => boolean;

const ALL: IsChosen = () => true;

/** Accepts exactly what `reviewPins` showed: later changes of the server are held again. */
export async function acceptPins(
  home: Home,
  keys: readonly string[],
  isChosen: IsChosen = ALL,
): Promise<void> {
  await readBook(home, keys);
  const seen = new Map<string, Definitions>();
  for (const key of keys) seen.set(key, await readDefinitions(home, key));
  await updatePins(home, (before) => {
    let after = before;
    for (const [key, definitions] of seen) {
      const record = after.get(key);
      if (record !== undefined) after = after.with(key, accepted(record, definitions, isChosen));
    }
    return after;
  });
  for (const [key, definitions] of seen) await writeDefinitions(home, key, adopted(definitions, isChosen));
}

/** Reads the pins; throws if a record of these servers is invalid. */
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

function holdsAnything({ held, heldInstructions, heldIdentity, parts = {} }: PinRecord): boolean {
  return (
    heldInstructions !== undefined ||
    heldIdentity !== undefined ||
    [held, ...KINDS.map((kind) => parts[kind]?.held)].some((hashes) => Object.keys(hashes ?? {}).length > 0)
  );
}

function accepted(record: PinRecord, definitions: Definitions, isChosen: IsChosen): PinRecord {
  const { held = {}, heldInstructions, heldIdentity, parts, ...kept } = record;
  const tools: Record<string, string> = Object.assign(Object.create(null), record.tools);
  const rests: Record<string, string> = Object.assign(Object.create(null), record.rests);
  const left: Record<string, string> = {};
  for (const [name, hash] of Object.entries(held)) {
    const shown = own(definitions.tools, name)?.held;
    // An item that could not be shown is accepted by its hash; a shown one only if it has not changed since.
    if (isChosen(oneLine(name)) && (shown === undefined || isTool(shown, hash))) {
      const [now = hash, rest] = hash.split('.');
      tools[name] = now;
      if (rest !== undefined) rests[name] = rest;
    } else left[name] = hash;
  }
  const text = definitions.instructions?.held;
  const takesText =
    heldInstructions !== undefined &&
    isChosen(INSTRUCTIONS) &&
    (text === undefined || hashInstructions(text) === heldInstructions);
  return sealed({
    ...kept,
    tools,
    rests,
    ...(parts === undefined ? {} : { parts: acceptedParts(parts, definitions, isChosen) }),
    ...(heldIdentity === undefined ? {} : isChosen(IDENTITY) ? { identity: heldIdentity } : { heldIdentity }),
    ...(takesText ? { instructions: heldInstructions } : {}),
    ...(heldInstructions === undefined || takesText ? {} : { heldInstructions }),
    ...(Object.keys(left).length === 0 ? {} : { held: left }),
  });
}

/** Files of the first version have one hash. */
function isTool(shown: PinnedTool, hash: string): boolean {
  return (hash.includes('.') ? heldHash(shown) : hashTool(shown)) === hash;
}

function acceptedParts(
  parts: NonNullable<PinRecord['parts']>,
  definitions: Definitions,
  isChosen: IsChosen,
): NonNullable<PinRecord['parts']> {
  const all = KINDS.flatMap((kind): [PinnedKind, PinnedParts][] => {
    const known = parts[kind];
    if (known === undefined) return [];
    const pinned: Record<string, string> = Object.assign(Object.create(null), known.pinned);
    const left: Record<string, string> = {};
    for (const [id, hash] of Object.entries(known.held ?? {})) {
      const shown = own(definitions.parts?.[kind], id)?.held;
      const isShown = shown === undefined || hashPart({ id, definition: shown }) === hash;
      if (isShown && isChosen(oneLine(id))) pinned[id] = hash;
      else left[id] = hash;
    }
    return [[kind, { pinned, ...(Object.keys(left).length === 0 ? {} : { held: left }) }]];
  });
  return Object.fromEntries(all);
}

function adopted(definitions: Definitions, isChosen: IsChosen): Definitions {
  const { instructions } = definitions;
  const offered = instructions?.held ?? instructions?.pinned;
  const parts = Object.entries(definitions.parts ?? {}).map(([kind, each]) => [kind, newest(each, isChosen)]);
  const text = isChosen(INSTRUCTIONS) && offered !== undefined ? { pinned: offered } : instructions;
  return {
    tools: newest(definitions.tools, isChosen),
    ...(text === undefined ? {} : { instructions: text }),
    ...(parts.length === 0 ? {} : { parts: Object.fromEntries(parts) }),
  };
}

function newest<T>(
  versions: Readonly<Record<string, Versions<T>>>,
  isChosen: IsChosen,
): Record<string, Versions<T>> {
  const all = Object.entries(versions).map(([name, each]) => {
    if (!isChosen(oneLine(name))) return [name, each] as const;
    const now = each.held ?? each.pinned;
    return [name, now === undefined ? {} : { pinned: now }] as const;
  });
  return Object.fromEntries(all);
}

function describeHeld(record: PinRecord, definitions: Definitions): HeldTool[] {
  const { server, heldIdentity } = record;
  const tools = Object.keys(record.held ?? {}).map((name): HeldTool => {
    const isNew = !Object.hasOwn(record.tools, name);
    return { server, tool: oneLine(name), diff: versionsDiff(own(definitions.tools, name), isNew) };
  });
  const parts = KINDS.flatMap((kind) =>
    Object.keys(record.parts?.[kind]?.held ?? {}).map((id): HeldTool => {
      const isNew = !Object.hasOwn(record.parts?.[kind]?.pinned ?? {}, id);
      const versions = own(definitions.parts?.[kind], id);
      return { server, tool: oneLine(id), kind: NAMES[kind], diff: versionsDiff(versions, isNew) };
    }),
  );
  const { pinned, held } = definitions.instructions ?? {};
  return [
    ...(heldIdentity === undefined
      ? []
      : [
          {
            server,
            tool: IDENTITY,
            kind: 'identity' as const,
            diff: diffOf({ name: record.identity }, { name: heldIdentity }),
          },
        ]),
    ...tools,
    ...parts,
    ...(record.heldInstructions === undefined
      ? []
      : [
          {
            server,
            tool: INSTRUCTIONS,
            kind: 'instructions' as const,
            diff: diffOf(
              pinned === undefined ? undefined : { instructions: pinned },
              held === undefined ? undefined : { instructions: held },
            ),
          },
        ]),
  ];
}

function versionsDiff(versions: Versions<unknown> | undefined, isNew: boolean): string {
  const { pinned, held } = versions ?? {};
  if (!isNew || held === undefined) return diffOf(pinned, held);
  return ['(new since the server was first seen)', ...compare('', {}, held).flatMap(linesOf)]
    .slice(0, MAX_LINES)
    .join('\n');
}

/** Returns the difference of two definitions as lines with `-` and `+`, under the name of each changed part. */
export function definitionDiff(before: unknown, after: unknown): string {
  return compare('', before, after).flatMap(linesOf).slice(0, MAX_LINES).join('\n');
}

function diffOf(before: unknown, after: unknown): string {
  if (after === undefined) return 'What it is now was not kept; connect the server to see it.';
  const changes = before === undefined ? compare('', {}, after) : compare('', before, after);
  const lines = changes.flatMap(linesOf);
  const shown = lines.slice(0, MAX_LINES);
  const more = lines.length > MAX_LINES ? [`… ${lines.length - MAX_LINES} more lines`] : [];
  const head = before === undefined ? ['(the earlier definition is no longer known)'] : [];
  return [...head, ...shown, ...more].join('\n');
}

/** Compares texts line by line, so that an inserted line is visible; other values are shown whole. */
function linesOf({ path, before, after }: Difference): string[] {
  if (typeof before === 'string' && typeof after === 'string') {
    const [old, now] = [before.split('\n'), after.split('\n')];
    const gone = old.filter((line) => !now.includes(line));
    const come = now.filter((line) => !old.includes(line));
    // If only the order of lines changed, all of them are shown.
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

/** Returns the value with invisible characters made visible. */
function shown(value: unknown): string {
  const text = reveal(typeof value === 'string' ? value : JSON.stringify(value));
  const cut = text.length - MAX_VALUE_CHARS;
  return cut <= 0 ? text : `${text.slice(0, MAX_VALUE_CHARS).toWellFormed()}… (${cut} more characters)`;
}

function broken({ pins }: Home): PlugboardError {
  return new PlugboardError('CONFIG_INVALID', `${pins} is broken, so it is not known what was pinned`, {
    hint: 'Fix the file, or delete it to re-pin every server as it is now.',
  });
}
