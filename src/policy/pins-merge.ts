/** Merges a listing into a pin record: the first one is pinned, a change is held or replaces the pin. Pure. */

import {
  hashInstructions,
  hashPart,
  hashRest,
  hashTool,
  heldHash,
  ownHash,
  type PinMode,
  type PinnedKind,
  type PinnedListing,
  type PinnedPart,
  type PinnedParts,
  type PinRecord,
  sealed,
} from './pins.ts';

type Hashes = Record<string, string>;

/** Copies without a prototype, because names come from the server. */
function copyOf(hashes: Readonly<Hashes> | undefined): Hashes {
  return Object.assign(Object.create(null), hashes);
}

function isEmpty(hashes: Readonly<Hashes>): boolean {
  return Object.keys(hashes).length === 0;
}

/** Merges a tool list. Fields that earlier versions did not pin are pinned at the next listing. */
export function mergedTools(
  before: PinRecord | undefined,
  server: string,
  mode: PinMode,
  listing: PinnedListing,
): PinRecord {
  const [tools, rests, held] = [copyOf(before?.tools), copyOf(before?.rests), copyOf({})];
  for (const tool of listing.tools) {
    const { name } = tool;
    const [now, rest] = [hashTool(tool), hashRest(tool)];
    const isNew = ownHash(tools, name) === undefined;
    if (mode === 'warn' || before === undefined) {
      tools[name] = now;
      rests[name] = rest;
    } else if (isNew || tools[name] !== now || (ownHash(rests, name) ?? rest) !== rest) {
      held[name] = heldHash(tool);
    } else rests[name] = rest;
  }
  const said = hashInstructions(listing.instructions);
  const instructions = mode === 'warn' ? said : (before?.instructions ?? said);
  const { name, version } = listing.identity ?? {};
  const identity = mode === 'warn' ? (name ?? before?.identity) : (before?.identity ?? name);
  const called = name ?? before?.heldIdentity;
  const newest = version ?? before?.version;
  const parts = before === undefined ? emptyParts(listing.offers) : before.parts;
  return sealed({
    server,
    tools,
    rests,
    instructions,
    ...(identity === undefined ? {} : { identity }),
    ...(newest === undefined ? {} : { version: newest }),
    ...(parts === undefined ? {} : { parts }),
    ...(isEmpty(held) ? {} : { held }),
    ...(instructions === said ? {} : { heldInstructions: said }),
    ...(called === undefined || called === identity ? {} : { heldIdentity: called }),
  });
}

/** A list that a server did not offer at first is pinned as empty: later items in it are new. */
function emptyParts(offers: readonly string[] | undefined): PinRecord['parts'] {
  if (offers === undefined) return undefined;
  const none = { pinned: {} };
  return {
    ...(offers.includes('prompts') ? {} : { prompts: none }),
    ...(offers.includes('resources') ? {} : { resources: none, resourceTemplates: none }),
  };
}

/** Merges one of the other lists; returns the same record if nothing changed. */
export function mergedParts(
  before: PinRecord,
  kind: PinnedKind,
  mode: PinMode,
  items: readonly PinnedPart[],
): PinRecord {
  const known = before.parts?.[kind];
  const [pinned, held] = [copyOf(known?.pinned), copyOf({})];
  let isSame = known !== undefined;
  for (const part of items) {
    const now = hashPart(part);
    if (ownHash(pinned, part.id) === now) continue;
    if (mode === 'warn' || known === undefined) {
      pinned[part.id] = now;
      isSame = false;
    } else {
      held[part.id] = now;
      isSame &&= ownHash(known.held, part.id) === now;
    }
  }
  if (isSame && Object.keys(known?.held ?? {}).length === Object.keys(held).length) return before;
  const parts: PinnedParts = { pinned, ...(isEmpty(held) ? {} : { held }) };
  return { ...before, parts: { ...before.parts, [kind]: parts } };
}
