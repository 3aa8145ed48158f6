/**
 * Applies several edits to another agent's file, and reverses them even if the file was edited since. Pure: no file
 * access.
 */

import { canonicalJson } from '../../lib/canonical-json.ts';
import { isRecord, valueAt } from '../../lib/json.ts';
import { reverseLines } from '../../lib/reverse-lines.ts';
import type { ForeignFile } from './foreign-agent.ts';
import { readValue, setEntry } from './write-program.ts';

/**
 * One edit. `set`: the value at a path; a missing `before` or `after` means no value. `list`: one more item of a list.
 */
export type FileEdit =
  | {
      readonly kind: 'set';
      readonly path: readonly string[];
      readonly before?: unknown;
      readonly after?: unknown;
    }
  | { readonly kind: 'list'; readonly path: readonly string[]; readonly item: string };

/** One edited file: its text before and after our edits; `before` is null if there was no file. */
export interface EditedFile {
  readonly file: string;
  readonly format: ForeignFile['format'];
  readonly before: string | null;
  readonly after: string;
  readonly edits: readonly FileEdit[];
  /** Folders that were created for it, outermost first. */
  readonly folders?: readonly string[];
}

type FileKind = Pick<ForeignFile, 'path' | 'format'>;

/**
 * Applies edits to a text.
 *
 * @throws PlugboardError CONFIG_UNWRITABLE when the text does not parse or cannot be edited safely.
 */
export async function applyEdits(file: FileKind, text: string, edits: readonly FileEdit[]): Promise<string> {
  let changed = text;
  for (const edit of edits) {
    if (edit.kind === 'set') changed = await setEntry(file, changed, edit.path, edit.after);
    else {
      const items = itemsAt(await readValue(file, changed), edit.path);
      if (!items.includes(edit.item))
        changed = await setEntry(file, changed, edit.path, [...items, edit.item]);
    }
  }
  return changed;
}

/**
 * Returns the text without our edits: byte for byte as before if it is unchanged since, else with exactly our edits
 * reversed. Null: the file contained only our edits.
 *
 * @param isOurs true for a value that is still ours although it differs from what was written
 */
export async function reverseEdits(
  edited: EditedFile,
  text: string,
  isOurs: (value: unknown) => boolean = () => false,
): Promise<string | null> {
  if (text === edited.after) return edited.before;
  const file = { path: edited.file, format: edited.format };
  const plain = await reverseValues(file, edited, text, isOurs);
  // Line by line first: that restores comments, order and formatting. Its result must have the same values.
  const lines = reverseLines(edited.before ?? '', edited.after, text);
  if (lines === undefined) return plain;
  const exact = await reverseValues(file, edited, lines, isOurs).catch(() => undefined);
  if (exact === undefined) return plain;
  const isSame = canonicalJson(await readValue(file, exact)) === canonicalJson(await readValue(file, plain));
  return isSame ? exact : plain;
}

/** Combines the edits of an earlier and a later change, for a file whose text is `before` the later one. */
export function combineEdits(earlier: readonly FileEdit[], later: readonly FileEdit[]): readonly FileEdit[] {
  const combined = new Map<string, FileEdit>();
  for (const edit of [...earlier, ...later]) {
    const key = canonicalJson([edit.kind, edit.path, edit.kind === 'list' ? edit.item : '']);
    const known = combined.get(key);
    combined.set(key, known === undefined ? edit : combine(known, edit));
  }
  return [...combined.values()];
}

function combine(earlier: FileEdit, later: FileEdit): FileEdit {
  if (earlier.kind !== 'set' || later.kind !== 'set') return later;
  // The value before our entry; an entry that was added again is newer than the one we removed.
  if (earlier.after === undefined) return later;
  const { before: _, ...rest } = later;
  return 'before' in earlier ? { ...rest, before: earlier.before } : rest;
}

async function reverseValues(
  file: FileKind,
  edited: EditedFile,
  text: string,
  isOurs: (value: unknown) => boolean,
): Promise<string> {
  const original = await readValue(file, edited.before ?? '');
  let reversed = text;
  for (const edit of edited.edits.toReversed()) {
    const root = await readValue(file, reversed);
    const now = valueAt(root, edit.path);
    if (edit.kind === 'list') {
      const items = itemsAt(root, edit.path);
      if (!items.includes(edit.item)) continue;
      const left = items.filter((item) => item !== edit.item);
      const isGone = left.length === 0 && valueAt(original, edit.path) === undefined;
      reversed = await setEntry(file, reversed, edit.path, isGone ? undefined : left);
      if (isGone) reversed = await withoutEmptyParents(file, reversed, edit.path, original);
    } else if (edit.after === undefined) {
      // Restore the removed value, unless there is another one by now.
      if (now === undefined) reversed = await setEntry(file, reversed, edit.path, edit.before);
    } else if (now !== undefined && (isSame(now, edit.after) || isOurs(now))) {
      if (isSame(now, edit.before)) continue;
      reversed = await setEntry(file, reversed, edit.path, edit.before);
      if (edit.before === undefined)
        reversed = await withoutEmptyParents(file, reversed, edit.path, original);
    }
  }
  return reversed;
}

/** Removes objects that are empty now and did not exist originally. */
async function withoutEmptyParents(
  file: FileKind,
  text: string,
  path: readonly string[],
  original: unknown,
): Promise<string> {
  // An empty TOML table disappears with its last member.
  if (file.format === 'toml') return text;
  let pruned = text;
  for (let depth = path.length - 1; depth > 0; depth--) {
    const parent = path.slice(0, depth);
    const value = valueAt(await readValue(file, pruned), parent);
    const isEmpty = isRecord(value) && Object.keys(value).length === 0;
    if (!isEmpty || valueAt(original, parent) !== undefined) return pruned;
    pruned = await setEntry(file, pruned, parent, undefined);
  }
  return pruned;
}

function itemsAt(root: unknown, path: readonly string[]): readonly unknown[] {
  const list = valueAt(root, path);
  return Array.isArray(list) ? list : [];
}

function isSame(one: unknown, other: unknown): boolean {
  return one !== undefined && other !== undefined && canonicalJson(one) === canonicalJson(other);
}
