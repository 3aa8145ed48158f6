/**
 * Writes one program into the text of another agent's file, and removes it again. Pure: the caller reads and writes
 * files.
 */

import { canonicalJson } from '../../lib/canonical-json.ts';
import { type JsonObject, valueAt } from '../../lib/json.ts';
import { parseDocument } from '../document.ts';
import { brokenFile, uneditable } from '../edit-config.ts';
import { EditError, editJson } from '../json-edit.ts';
import type { Agent, ForeignFile, Program } from './foreign-agent.ts';

export interface Written {
  /** `same`: it exists already. `replace`: another entry of that name is replaced. */
  readonly action: 'add' | 'replace' | 'same';
  readonly text: string;
  /** Its path in the file. */
  readonly path: readonly string[];
  readonly entry: JsonObject;
  /** The previous value at the path. */
  readonly previous?: unknown;
}

/**
 * Adds or replaces the entry of a program.
 *
 * @throws PlugboardError CONFIG_UNWRITABLE when the file does not parse or cannot be edited safely.
 */
export async function writeProgram(
  agent: Agent,
  file: ForeignFile,
  text: string,
  { name, program }: { readonly name: string; readonly program: Program },
): Promise<Written> {
  const value = await readValue(file, text);
  const path = agent.placeOf(value, name);
  const entry = agent.entryFor(program);
  const previous = valueAt(value, path);
  if (previous !== undefined && canonicalJson(previous) === canonicalJson(entry))
    return { action: 'same', text, path, entry };
  const edited = await setEntry(file, text, path, entry);
  return previous === undefined
    ? { action: 'add', text: edited, path, entry }
    : { action: 'replace', text: edited, path, entry, previous };
}

/** Returns the text with the entry at a path set, or removed if it is undefined. */
export async function setEntry(
  file: Pick<ForeignFile, 'path' | 'format'>,
  text: string,
  path: readonly string[],
  entry: unknown,
): Promise<string> {
  try {
    if (file.format === 'json') return editJson(text, path, entry);
    const { editTable } = await import('./toml-edit.ts');
    const [parent = '', name = ''] = path;
    return editTable(text, [parent, name], entry as JsonObject | undefined);
  } catch (error) {
    if (!(error instanceof EditError)) throw error;
    throw uneditable(file.path, error);
  }
}

/**
 * Returns the value of a file's text; undefined for an empty one.
 *
 * @throws PlugboardError CONFIG_UNWRITABLE when it does not parse.
 */
export async function readValue(
  { path, format }: Pick<ForeignFile, 'path' | 'format'>,
  text: string,
): Promise<unknown> {
  const document =
    format === 'json' ? await parseDocument(path, text) : (await import('./toml.ts')).parseToml(path, text);
  const [problem] = document.problems;
  if (problem === undefined || document.value !== undefined) return document.value;
  throw brokenFile(problem);
}
