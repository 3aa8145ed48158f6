/** Edits files of other programs, recording each edit before it is made, and reverts them. */

import { existsSync } from 'node:fs';
import { readFile, realpath, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { editTarget, serversPath, unwritable } from '../../config/edit-config.ts';
import { type Home, projectOf } from '../../config/home.ts';
import {
  applyEdits,
  combineEdits,
  type EditedFile,
  type FileEdit,
  reverseEdits,
} from '../../config/import/file-edits.ts';
import type { ForeignFile } from '../../config/import/foreign-agent.ts';
import { readValue } from '../../config/import/write-program.ts';
import { PlugboardError } from '../../errors.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { errorCode } from '../../lib/error-code.ts';
import { isRecord, valueAt } from '../../lib/json.ts';
import { updateFile } from '../../lib/locked-file.ts';
import { makeFolder } from '../../lib/make-folder.ts';
import { isPlugboard } from '../../setup/import-plan.ts';
import type { Context } from '../cli-command.ts';
import {
  type ExportRecord,
  forgetRecord,
  isProjectRecord,
  keepRecord,
  readRecord,
  recordFile,
} from './export-record.ts';

/** Mode of folders created for another agent. */
const FOLDER_MODE = 0o755;

type FileKind = Pick<ForeignFile, 'path' | 'format'>;

export interface EditResult {
  readonly before: string | undefined;
  readonly after: string;
}

export interface RecordedEdit {
  readonly file: FileKind;
  /** Where the edits are recorded. */
  readonly record: string;
  readonly isDry: boolean;
}

/** Applies the edits that `decide` returns for a file's value; with `isDry`, only computes the result. */
export async function editRecorded(
  context: Context,
  { file, record, isDry }: RecordedEdit,
  decide: (value: unknown, text: string) => Promise<readonly FileEdit[]> | readonly FileEdit[],
): Promise<EditResult> {
  let result: EditResult = { before: undefined, after: '' };
  const folders = missingFolders(dirname(file.path));
  await updateForeign(context, { path: file.path, record, isDry }, async (text) => {
    const edits = await decide(await readValue(file, text ?? ''), text ?? '');
    const after = edits.length === 0 ? (text ?? '') : await applyEdits(file, text ?? '', edits);
    result = { before: text, after };
    if (edits.length === 0 || after === text) return undefined;
    // Recorded first, so that no edit is made that cannot be reverted.
    if (!isDry) await addToRecord(context, record, file, { text, after, edits, folders });
    return after;
  });
  return result;
}

interface Change {
  readonly text: string | undefined;
  readonly after: string;
  readonly edits: readonly FileEdit[];
  readonly folders: readonly string[];
}

/** Adds an edit to the record. The record always contains the file's text without any of the recorded edits. */
export async function addToRecord(
  { home }: Context,
  recordPath: string,
  { path, format }: FileKind,
  { text, after, edits, folders }: Change,
): Promise<void> {
  const record = (await readRecord(recordPath)) ?? { files: [] };
  const known = record.files.find((each) => each.file === path);
  const made = known?.folders ?? folders;
  const edited: EditedFile = {
    file: path,
    format,
    before:
      known === undefined || text === undefined
        ? (text ?? null)
        : await reverseEdits(known, text, isOwnEntry),
    after,
    edits: combineEdits(text === undefined ? [] : (known?.edits ?? []), edits),
    ...(made.length === 0 ? {} : { folders: made }),
  };
  const others = record.files.filter((each) => each !== known);
  await keepRecord(home, recordPath, { ...record, files: [...others, edited] });
}

/** Outcome for one file. `none`: the file no longer exists, so there is nothing to revert. */
export interface Undone {
  readonly file: string;
  readonly action: 'restored' | 'removed' | 'none';
}

/**
 * Reverts every recorded edit and deletes the record; undefined if there is no record.
 *
 * @param isOurs see `reverseEdits`
 */
export async function undoRecorded(
  context: Context,
  recordPath: string,
  { isDry, isOurs }: { readonly isDry: boolean; readonly isOurs: (value: unknown) => boolean },
): Promise<{ readonly record: ExportRecord; readonly files: readonly Undone[] } | undefined> {
  const record = await readRecord(recordPath);
  if (record === undefined) return undefined;
  const files: Undone[] = [];
  for (const edited of record.files)
    files.push(await undoFile(context, edited, { record: recordPath, isDry, isOurs }));
  if (!isDry) await forgetRecord(recordPath);
  return { record, files };
}

async function undoFile(
  context: Context,
  edited: EditedFile,
  {
    record,
    isDry,
    isOurs,
  }: { readonly record: string; readonly isDry: boolean; readonly isOurs: (value: unknown) => boolean },
): Promise<Undone> {
  const { file, after, folders = [] } = edited;
  let action: Undone['action'] = 'none';
  let isToDelete = false;
  await updateForeign(context, { path: file, record, isDry }, async (text) => {
    if (text === undefined) return undefined;
    action = text === after ? 'restored' : 'removed';
    const reversed = await reverseEdits(edited, text, isOurs);
    isToDelete = reversed === null;
    return reversed ?? undefined;
  });
  if (isToDelete && !isDry) {
    // Deletes the target of a symbolic link, because the link existed before.
    await unlink(await realpath(file));
    for (const folder of folders.toReversed()) await rmdir(folder).catch(() => {});
  }
  return { file, action };
}

/** True for an agent's entry that starts Plugboard, even if it was changed. */
export function isOwnEntry(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { command, args } = value;
  // In OpenCode, one list contains the command and its arguments.
  return isPlugboard(
    Array.isArray(command) ? { command: command[0], args: command.slice(1) } : { command, args },
  );
}

/** Reads a file and replaces it with the result of `change`, under its lock; a dry run only reads. */
async function updateForeign(
  { home, signal }: Context,
  { path, record, isDry }: { readonly path: string; readonly record: string; readonly isDry: boolean },
  change: (text: string | undefined) => Promise<string | undefined>,
): Promise<void> {
  try {
    if (isDry) {
      await change(await readFile(path, 'utf8').catch(absent));
      return;
    }
    // The lock is in another folder, so this one is only created if a file is written.
    const write = async (text: string | undefined): Promise<string | undefined> => {
      const changed = await change(text);
      if (changed !== undefined && text === undefined) await makeFolder(dirname(path), FOLDER_MODE);
      return changed;
    };
    const within = isProjectRecord(record) ? projectOf(path) : undefined;
    await updateFile(path, write, { lockDir: join(home.run, 'locks'), within, signal });
  } catch (error) {
    throw error instanceof PlugboardError || signal.aborted ? error : unwritable(path, error);
  }
}

function absent(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT' && errorCode(error) !== 'ENOTDIR') throw error;
}

/** Returns the missing parent folders, outermost first. */
function missingFolders(folder: string): string[] {
  return existsSync(folder) || dirname(folder) === folder ? [] : [...missingFolders(dirname(folder)), folder];
}

/** A server in config.json, with its scope. */
export interface HomeServer {
  readonly name: string;
  readonly scope: 'local' | 'user';
}

/** Records the changes of `up` in our own config.json, so that `down` can revert them. */
export function homeRecordFile(home: Home): string {
  return recordFile(home, 'up', 'config');
}

/** Runs `work`, which may write these servers and the list of inputs, and records the difference. */
export async function recordHomeEdits(
  context: Context,
  projectRoot: string,
  servers: readonly HomeServer[],
  work: () => Promise<void>,
): Promise<void> {
  const { home } = context;
  const file = { path: home.config, format: 'json' } as const;
  const read = (): Promise<string | undefined> => readFile(home.config, 'utf8').catch(() => undefined);
  const before = await read();
  try {
    await work();
  } finally {
    // Also after a failure, because some changes may have been written.
    const after = await read();
    if (after !== undefined && after !== before) {
      const [old, now] = [await readValue(file, before ?? ''), await readValue(file, after)];
      const paths = servers.map(({ name, scope }) => [
        ...serversPath(editTarget(scope, { home, projectRoot }), now),
        name,
      ]);
      const edits = [['inputs'], ...paths].flatMap((path): FileEdit[] => difference(path, old, now));
      await addToRecord(context, homeRecordFile(home), file, { text: before, after, edits, folders: [] });
    }
  }
}

function difference(path: readonly string[], old: unknown, now: unknown): FileEdit[] {
  const before = valueAt(old, path);
  const after = valueAt(now, path);
  if (canonicalJson(before ?? null) === canonicalJson(after ?? null)) return [];
  const known = before === undefined ? {} : { before };
  return [{ kind: 'set', path, ...known, ...(after === undefined ? {} : { after }) }];
}

/** Records the ids of values before they are stored. */
export async function recordStoredInputs({ home }: Context, ids: readonly string[]): Promise<void> {
  const file = homeRecordFile(home);
  const record = (await readRecord(file)) ?? { files: [] };
  const stored = [...new Set([...(record.storedInputs ?? []), ...ids])];
  await keepRecord(home, file, { ...record, storedInputs: stored });
}
