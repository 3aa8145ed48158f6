/**
 * How many tools each server had when it was last seen, and their names, in small files that can be read at once: `list
 * --no-connect` and the completion of shells want to know, and have no time to read whole definitions (UI-1, CAT-4).
 */

import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { ServerSpec } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { quickHash } from '../lib/quick-hash.ts';

export interface KnownParameter {
  readonly name: string;
  readonly about?: string;
  /** All values that it can have, if there are few. */
  readonly values?: readonly string[];
}

/** A tool, a prompt, or a resource (its address is the name). */
export interface KnownTool {
  readonly name: string;
  readonly about?: string;
  readonly parameters: readonly KnownParameter[];
}

export type KnownContent = 'prompts' | 'resources';

/** Enough for the first line, which has the number. */
const HEAD_BYTES = 64;

export function knownFolder(home: Home): string {
  return join(home.cache, 'names');
}

/** Where a server's names are. Whatever decides which program or address it is is part of it, nothing secret is. */
export function knownFile(home: Home, spec: ServerSpec): string {
  const { name, scope, raw } = spec;
  const baseDir = dependsOnFolder(spec) ? spec.baseDir : '';
  const { type, command, args, cwd, url, enabledTools, disabledTools } = raw;
  const parts = [name, scope, baseDir, { type, command, args, cwd, url, enabledTools, disabledTools }];
  return join(knownFolder(home), `${quickHash(canonicalJson(parts))}.jsonl`);
}

/** The same for prompts and resources. */
export function knownContentFile(home: Home, spec: ServerSpec, kind: KnownContent): string {
  return knownFile(home, spec).replace(/\.jsonl$/, `-${kind}.jsonl`);
}

/** A server of all projects offers the same in each, unless its entry names the project. */
function dependsOnFolder({ scope, raw }: ServerSpec): boolean {
  const { cwd } = raw;
  if (scope !== 'user' || (typeof cwd === 'string' && !isAbsolute(cwd))) return true;
  return /\$\{(?:PROJECT_DIR|PWD|OLDPWD|INIT_CWD)\b|PLUGBOARD_PROJECT_DIR/.test(JSON.stringify(raw));
}

/** One line with their number, then one for each tool. */
export function writeKnown(count: number, tools: readonly KnownTool[]): string {
  const lines = tools.map((tool) => JSON.stringify(tool));
  return `${[JSON.stringify({ tools: count }), ...lines].join('\n')}\n`;
}

/** How many tools a server had; 0 when it was never seen. */
export function knownCount(home: Home, spec: ServerSpec): number {
  const head = Buffer.alloc(HEAD_BYTES);
  let file: number | undefined;
  try {
    file = openSync(knownFile(home, spec), 'r');
    const [line = ''] = head.toString('utf8', 0, readSync(file, head)).split('\n');
    const value: unknown = JSON.parse(line);
    return isRecord(value) && typeof value['tools'] === 'number' ? value['tools'] : 0;
  } catch {
    return 0;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The tools a server had; none when it was never seen. */
export function knownTools(home: Home, spec: ServerSpec): KnownTool[] {
  return readRows(knownFile(home, spec));
}

/** The prompts or resources a server had; none when they were never listed. */
export function knownContent(home: Home, spec: ServerSpec, kind: KnownContent): KnownTool[] {
  return readRows(knownContentFile(home, spec, kind));
}

function readRows(file: string): KnownTool[] {
  try {
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(1);
    return lines.flatMap((line) => {
      const row: unknown = JSON.parse(line);
      // 0.1.0 wrote the names alone.
      if (Array.isArray(row)) {
        const [name, ...names] = row.filter((each) => typeof each === 'string');
        return name === undefined ? [] : [{ name, parameters: names.map((each) => ({ name: each })) }];
      }
      if (!isRecord(row) || typeof row['name'] !== 'string') return [];
      const { parameters } = row;
      return [{ ...named(row), parameters: Array.isArray(parameters) ? parameters.flatMap(parameter) : [] }];
    });
  } catch {
    return [];
  }
}

function parameter(value: unknown): KnownParameter[] {
  if (!isRecord(value) || typeof value['name'] !== 'string') return [];
  const { values } = value;
  if (!Array.isArray(values)) return [named(value)];
  return [{ ...named(value), values: values.filter((each) => typeof each === 'string') }];
}

function named({ name, about }: Record<string, unknown>): { name: string; about?: string } {
  return { name: String(name), ...(typeof about === 'string' ? { about } : {}) };
}
