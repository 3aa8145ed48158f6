/** Writes down what tools a server has, for `known-tools.ts` to read; in the background, and only what is new. */

import { readFile } from 'node:fs/promises';
import type { ServerSpec } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { keepNewest } from '../lib/keep-newest.ts';
import { replaceFile } from '../lib/locked-file.ts';
import { makeFolder } from '../lib/make-folder.ts';
import type { AcceptedTool } from './accept.ts';
import { toolFilter } from './filter.ts';
import { knownFile, knownFolder, writeKnown } from './known-tools.ts';

const MAX_FILES = 500;
/** Nobody picks from a longer list with the tabulator key. */
const MAX_TOOLS = 2000;
const MAX_PARAMETERS = 32;
const MAX_NAME_CHARS = 128;

export interface KnownToolsKeeper {
  keep(spec: ServerSpec, tools: readonly AcceptedTool[]): void;
  flush(): Promise<void>;
}

export function openKnownToolsKeeper(home: Home): KnownToolsKeeper {
  let writing: Promise<void> = Promise.resolve();
  return {
    keep(spec, tools) {
      const passes = toolFilter(spec.entry);
      const named = tools.filter(({ name }) => name.length <= MAX_NAME_CHARS && passes(name));
      const text = writeKnown(
        tools.length,
        named
          .slice(0, MAX_TOOLS)
          .map(({ name, inputSchema }) => ({ name, parameters: parametersOf(inputSchema) })),
      );
      writing = writing.then(() => save(home, spec, text)).catch(() => {}); // A home that cannot be written knows nothing.
    },
    flush: () => writing,
  };
}

async function save(home: Home, spec: ServerSpec, text: string): Promise<void> {
  const file = knownFile(home, spec);
  if ((await readFile(file, 'utf8').catch(() => '')) === text) return;
  await makeFolder(knownFolder(home), 0o700);
  await replaceFile(file, text, { mode: 0o600 });
  await keepNewest(knownFolder(home), MAX_FILES);
}

function parametersOf({ properties }: AcceptedTool['inputSchema']): string[] {
  if (!isRecord(properties)) return [];
  return Object.keys(properties)
    .filter((name) => name.length <= MAX_NAME_CHARS)
    .slice(0, MAX_PARAMETERS);
}
