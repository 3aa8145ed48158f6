/** Stores the definitions behind hashes, so that a change can be shown; stores only hashed definitions. */

import type { Home } from '../config/home.ts';
import {
  ownHash,
  type PinnedKind,
  type PinnedListing,
  type PinnedPart,
  type PinRecord,
  stableDefinition,
} from './pins.ts';
import { type Definitions, readDefinitions, type Versions, writeDefinitions } from './pins-file.ts';

export async function keepTools(
  home: Home,
  key: string,
  record: PinRecord,
  listing: PinnedListing,
): Promise<void> {
  const known = await readDefinitions(home, key);
  const tools = withVersions(
    known.tools,
    listing.tools.map((tool) => [tool.name, tool] as const),
    record.held,
  );
  const said = listing.instructions ?? '';
  const pinnedText = known.instructions?.pinned;
  const instructions: Definitions['instructions'] =
    record.heldInstructions === undefined
      ? { pinned: said }
      : { ...(pinnedText === undefined ? {} : { pinned: pinnedText }), held: said };
  await writeDefinitions(home, key, { ...known, tools, instructions });
}

export async function keepParts(
  home: Home,
  key: string,
  record: PinRecord,
  kind: PinnedKind,
  items: readonly PinnedPart[],
): Promise<void> {
  const known = await readDefinitions(home, key);
  const parts = withVersions(
    known.parts?.[kind],
    items.map((part) => [part.id, stableDefinition(part)] as const),
    record.parts?.[kind]?.held,
  );
  await writeDefinitions(home, key, { ...known, parts: { ...known.parts, [kind]: parts } });
}

function withVersions<T>(
  known: Readonly<Record<string, Versions<T>>> | undefined,
  items: readonly (readonly [string, T])[],
  held: Readonly<Record<string, string>> | undefined,
): Record<string, Versions<T>> {
  const all: Record<string, Versions<T>> = Object.assign(Object.create(null), known);
  for (const [name, definition] of items) {
    const { pinned } = all[name] ?? {};
    all[name] =
      ownHash(held, name) === undefined
        ? { pinned: definition }
        : { ...(pinned === undefined ? {} : { pinned }), held: definition };
  }
  return all;
}
