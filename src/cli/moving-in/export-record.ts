/** Records the edits in the files of one agent, so that they can be undone exactly. */

import { readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Home } from '../../config/home.ts';
import type { EditedFile, FileEdit } from '../../config/import/file-edits.ts';
import { readValue } from '../../config/import/write-program.ts';
import { errorCode } from '../../lib/error-code.ts';
import { isRecord, type JsonObject, valueAt } from '../../lib/json.ts';
import { replaceFile } from '../../lib/locked-file.ts';
import { makeFolder } from '../../lib/make-folder.ts';

/** The files may contain the agent's keys. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const FOLDER = 'exports';

export interface ExportRecord {
  readonly files: readonly EditedFile[];
  /** Ids of values that were stored to replace environment variables. */
  readonly storedInputs?: readonly string[];
}

/** The record of one agent and scope. */
export function recordFile(home: Home, agent: string, scope: string): string {
  return join(home.dir, FOLDER, `${agent}-${scope}.json`);
}

/** True for a record of edits in a project. */
export function isProjectRecord(file: string): boolean {
  return file.endsWith('-project.json');
}

/** Names of the agents that have a record in a scope. */
export async function recordedAgents(home: Home, scope: string): Promise<readonly string[]> {
  const names = await readdir(join(home.dir, FOLDER)).catch(() => []);
  const ending = `-${scope}.json`;
  return names.flatMap((name) => (name.endsWith(ending) ? [name.slice(0, -ending.length)] : [])).sort();
}

export async function readRecord(file: string): Promise<ExportRecord | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isFirstVersion(value) ? await upgraded(value) : isExportRecord(value) ? value : undefined;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export async function keepRecord(home: Home, file: string, record: ExportRecord): Promise<void> {
  await makeFolder(home.dir, FOLDER_MODE);
  await makeFolder(join(home.dir, FOLDER), FOLDER_MODE);
  await replaceFile(file, `${JSON.stringify({ version: 2, ...record }, null, 2)}\n`, { mode: FILE_MODE });
}

export async function forgetRecord(file: string): Promise<void> {
  await unlink(file).catch(() => {});
}

function isExportRecord(value: unknown): value is ExportRecord {
  return isRecord(value) && Array.isArray(value['files']) && value['files'].every(isEditedFile);
}

function isEditedFile(value: unknown): value is EditedFile {
  return isRecord(value) && hasTexts(value) && Array.isArray(value['edits']) && value['edits'].every(isEdit);
}

function isEdit(value: unknown): value is FileEdit {
  if (!isRecord(value) || !isPath(value['path'])) return false;
  return value['kind'] === 'set' || (value['kind'] === 'list' && typeof value['item'] === 'string');
}

/** The format of 0.1.0: one file with one entry. */
interface FirstVersion {
  readonly file: string;
  readonly format: EditedFile['format'];
  readonly path: readonly string[];
  readonly before: string | null;
  readonly after: string;
  readonly previous?: unknown;
}

function isFirstVersion(value: unknown): value is FirstVersion {
  return isRecord(value) && hasTexts(value) && isPath(value['path']);
}

async function upgraded(record: FirstVersion): Promise<ExportRecord> {
  const { file, format, path, before, after, previous } = record;
  const written = valueAt(await readValue({ path: file, format }, after), path);
  const known = previous === undefined || previous === null ? {} : { before: previous };
  return {
    files: [{ file, format, before, after, edits: [{ kind: 'set', path, ...known, after: written }] }],
  };
}

function hasTexts(value: JsonObject): boolean {
  const { file, format, before, after } = value;
  return (
    typeof file === 'string' &&
    (format === 'json' || format === 'toml') &&
    (before === null || typeof before === 'string') &&
    typeof after === 'string'
  );
}

function isPath(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((key) => typeof key === 'string');
}
