/** Writes the tool names of servers for `known-tools.ts` in the background, if they changed. */

import { readFile } from 'node:fs/promises';
import type { ServerSpec } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { isRecord } from '../lib/json.ts';
import { writeAmongNewest } from '../lib/keep-newest.ts';
import type { AcceptedTool } from './accept.ts';
import {
  type KnownParameter,
  type KnownTool,
  knownContentFile,
  knownFile,
  writeKnown,
} from './known-tools.ts';
import { toolFilter } from './tool-filter.ts';

/** Three for each server. */
const MAX_FILES = 1500;
/** Longer lists are not useful for shell completion. */
const MAX_TOOLS = 2000;
const MAX_PARAMETERS = 32;
const MAX_NAME_CHARS = 128;

/** Characters of a description that a shell shows. */
const MAX_ABOUT_CHARS = 80;
const MAX_VALUES = 32;

interface ListedPrompt {
  readonly name: string;
  readonly description?: string | undefined;
  readonly arguments?:
    | readonly { readonly name: string; readonly description?: string | undefined }[]
    | undefined;
}

interface ListedResource {
  readonly uri: string;
  readonly name?: string | undefined;
}

export interface KnownToolsWriter {
  keep(spec: ServerSpec, tools: readonly AcceptedTool[]): void;
  keepPrompts(spec: ServerSpec, prompts: readonly ListedPrompt[]): void;
  keepResources(spec: ServerSpec, resources: readonly ListedResource[]): void;
  flush(): Promise<void>;
}

export function openKnownToolsWriter(home: Home): KnownToolsWriter {
  let writing: Promise<void> = Promise.resolve();
  const write = (file: string, count: number, rows: readonly KnownTool[]): void => {
    const text = writeKnown(count, rows.slice(0, MAX_TOOLS));
    writing = writing.then(() => save(file, text)).catch(() => {}); // A read-only home folder stores nothing.
  };
  return {
    keep(spec, tools) {
      const passes = toolFilter(spec.entry);
      const named = tools.filter(({ name }) => name.length <= MAX_NAME_CHARS && passes(name));
      write(
        knownFile(home, spec),
        tools.length,
        named.map(({ name, description, inputSchema }) => ({
          name,
          ...about(description),
          parameters: parametersOf(inputSchema),
        })),
      );
    },
    keepPrompts(spec, prompts) {
      const rows = prompts.map(({ name, description, arguments: taken = [] }) => ({
        name,
        ...about(description),
        parameters: taken
          .slice(0, MAX_PARAMETERS)
          .map((argument) => ({ name: argument.name, ...about(argument.description) })),
      }));
      write(knownContentFile(home, spec, 'prompts'), rows.length, rows);
    },
    keepResources(spec, resources) {
      const rows = resources.map(({ uri, name }) => ({ name: uri, ...about(name), parameters: [] }));
      write(knownContentFile(home, spec, 'resources'), rows.length, rows);
    },
    flush: () => writing,
  };
}

async function save(file: string, text: string): Promise<void> {
  if ((await readFile(file, 'utf8').catch(() => '')) === text) return;
  await writeAmongNewest(file, text, MAX_FILES);
}

function parametersOf({ properties }: AcceptedTool['inputSchema']): KnownParameter[] {
  if (!isRecord(properties)) return [];
  return Object.entries(properties)
    .filter(([name]) => name.length <= MAX_NAME_CHARS)
    .slice(0, MAX_PARAMETERS)
    .map(([name, schema]) => ({ name, ...(isRecord(schema) ? described(schema) : {}) }));
}

function described(schema: Record<string, unknown>): Omit<KnownParameter, 'name'> {
  const values = valuesOf(schema);
  return { ...about(schema['description']), ...(values.length === 0 ? {} : { values }) };
}

/** Returns the enum values of a schema or of its items. */
function valuesOf({ enum: listed, type, items }: Record<string, unknown>): string[] {
  if (Array.isArray(listed)) {
    const texts = listed
      .filter((value) => ['string', 'number', 'boolean'].includes(typeof value))
      .map(String);
    return texts.length > MAX_VALUES ? [] : texts.filter((text) => text.length <= MAX_NAME_CHARS);
  }
  if (type === 'boolean') return ['true', 'false'];
  return isRecord(items) && Array.isArray(items['enum']) ? valuesOf({ enum: items['enum'] }) : [];
}

/** Returns the first line, truncated to the length that a shell shows. */
function about(text: unknown): { about?: string } {
  const [line = ''] = typeof text === 'string' ? text.trim().split('\n') : [];
  if (line === '') return {};
  return { about: line.length > MAX_ABOUT_CHARS ? `${line.slice(0, MAX_ABOUT_CHARS - 1)}…` : line };
}
