/**
 * Reads the number and names of each server's tools from small files: `list --no-connect` and shell completion need
 * them and cannot afford to load whole definitions (UI-1, CAT-4).
 */

import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { ServerSpec } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { isRecord } from '../lib/json.ts';
import { quickHash } from '../lib/quick-hash.ts';

export interface KnownParameter {
  readonly name: string;
  readonly about?: string;
  /** All possible values, if there are few. */
  readonly values?: readonly string[];
}

/** A tool, a prompt, or a resource (named by its address). */
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

/** Returns the file of a server's names. Its hash covers whatever identifies the program or address, but no secret. */
export function knownFile(home: Home, spec: ServerSpec): string {
  const { name, scope, raw } = spec;
  const baseDir = dependsOnFolder(spec) ? spec.baseDir : '';
  const { type, command, args, cwd, url, enabledTools, disabledTools } = raw;
  const parts = [name, scope, baseDir, { type, command, args, cwd, url, enabledTools, disabledTools }];
  return join(knownFolder(home), `${quickHash(canonicalJson(parts))}.jsonl`);
}

/** Returns the file for prompts or resources. */
export function knownContentFile(home: Home, spec: ServerSpec, kind: KnownContent): string {
  return knownFile(home, spec).replace(/\.jsonl$/, `-${kind}.jsonl`);
}

/** True if the names can differ between folders: project entries, and user entries that refer to the project. */
function dependsOnFolder({ scope, raw }: ServerSpec): boolean {
  const { cwd } = raw;
  if (scope !== 'user' || (typeof cwd === 'string' && !isAbsolute(cwd))) return true;
  return /\$\{(?:PROJECT_DIR|PWD|OLDPWD|INIT_CWD)\b|PLUGBOARD_PROJECT_DIR/.test(JSON.stringify(raw));
}

/** Serializes the count as the first line, then one line for each tool. */
export function writeKnown(count: number, tools: readonly KnownTool[]): string {
  const lines = tools.map((tool) => JSON.stringify(tool));
  return `${[JSON.stringify({ tools: count }), ...lines].join('\n')}\n`;
}

/** Returns how many tools a server had; 0 if it was never seen. */
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

/** Returns the tools a server had; empty if it was never seen. */
export function knownTools(home: Home, spec: ServerSpec): KnownTool[] {
  return readRows(knownFile(home, spec));
}

/** Returns the prompts or resources a server had; empty if they were never listed. */
export function knownContent(home: Home, spec: ServerSpec, kind: KnownContent): KnownTool[] {
  return readRows(knownContentFile(home, spec, kind));
}

function readRows(file: string): KnownTool[] {
  try {
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(1);
    return lines.flatMap((line) => {
      const row: unknown = JSON.parse(line);
      // 0.1.0 wrote only names.
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
