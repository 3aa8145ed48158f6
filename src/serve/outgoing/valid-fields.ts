/**
 * Validates fields that many messages share, and removes values that the official schemas reject: annotations, icons,
 * `_meta`.
 */

import { isRecord } from '../../lib/json.ts';
import { mapSame } from '../../policy/clean-value.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Receives one sentence about a changed or omitted value. */
export type Note = (text: string) => void;

const ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant']);
const THEMES: ReadonlySet<unknown> = new Set(['light', 'dark']);
/** ISO 8601 with a time and an offset, as in the official schemas: seconds may be missing. */
const DATE_TIME =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
const RELATED_TASK = 'io.modelcontextprotocol/related-task';

/** Returns the same annotations if all of them are valid. Unknown members are kept. */
export function validAnnotations(annotations: Fields, note: Note): Fields {
  const { audience, priority, lastModified } = annotations;
  const changes: Record<string, unknown> = {};
  if (audience !== undefined && !isAudience(audience)) {
    const known = [audience].flat().filter((role) => ROLES.has(role));
    changes['audience'] = known.length === 0 ? undefined : known;
    note(`annotations.audience is ${shown(audience)}`);
  }
  if (priority !== undefined && !(typeof priority === 'number' && priority >= 0 && priority <= 1)) {
    changes['priority'] = undefined;
    note(`annotations.priority is ${shown(priority)}`);
  }
  if (lastModified !== undefined && !(typeof lastModified === 'string' && isDateTime(lastModified))) {
    changes['lastModified'] = undefined;
    note(`annotations.lastModified is ${shown(lastModified)}`);
  }
  return withChanges(annotations, changes);
}

function isAudience(value: unknown): boolean {
  return Array.isArray(value) && value.every((role) => ROLES.has(role));
}

function isDateTime(text: string): boolean {
  const [, year, month, day] = DATE_TIME.exec(text) ?? [];
  if (year === undefined) return false;
  // The last day of the month, as day 0 of the next one.
  return Number(day) <= new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate();
}

/** Returns the same icons if all of them are valid. */
export function validIcons(icons: readonly Fields[], note: Note): readonly Fields[] {
  return mapSame(icons, (icon) => {
    const { mimeType, sizes, theme } = icon;
    const changes: Record<string, unknown> = {};
    if (mimeType !== undefined && typeof mimeType !== 'string') {
      changes['mimeType'] = undefined;
      note(`icons.mimeType is ${shown(mimeType)}`);
    }
    if (sizes !== undefined && !isTexts(sizes)) {
      const texts = [sizes].flat().filter((size) => typeof size === 'string');
      changes['sizes'] = texts.length === 0 ? undefined : texts;
      note(`icons.sizes is ${shown(sizes)}`);
    }
    if (theme !== undefined && !THEMES.has(theme)) {
      changes['theme'] = undefined;
      note(`icons.theme is ${shown(theme)}`);
    }
    return withChanges(icon, changes);
  });
}

/** Validates `_meta` of a result: legacy clients read one of its keys. */
export function validResultMeta(meta: Fields, note: Note): Fields {
  const { [RELATED_TASK]: task } = meta;
  if (task === undefined || (isRecord(task) && typeof task['taskId'] === 'string')) return meta;
  note(`_meta[${JSON.stringify(RELATED_TASK)}] is ${shown(task)}`);
  return withChanges(meta, { [RELATED_TASK]: undefined });
}

/** Returns a definition or block with valid annotations and icons; the same object if they already are. */
export function withValidFields<T extends object>(item: T, note: Note): T {
  const { annotations, icons } = item as { annotations?: unknown; icons?: unknown };
  if (annotations === undefined && icons === undefined) return item;
  const changes: Record<string, unknown> = {};
  if (isRecord(annotations)) {
    const valid = validAnnotations(annotations, note);
    if (valid !== annotations) changes['annotations'] = valid;
  }
  if (Array.isArray(icons)) {
    const usable = icons.filter((icon): icon is Fields => isRecord(icon) && typeof icon['src'] === 'string');
    const valid = validIcons(usable.length === icons.length ? icons : usable, note);
    if (valid !== icons) changes['icons'] = valid;
  }
  return withChanges(item, changes);
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((member) => typeof member === 'string');
}

/** Returns the value with changed members; undefined ones are omitted. The same value if nothing changes. */
export function withChanges<T extends object>(value: T, changes: Fields): T {
  if (Object.keys(changes).length === 0) return value;
  const members = Object.entries({ ...value, ...changes }).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members) as T; // Only optional members are omitted.
}

/** Formats a value for a sentence. */
export function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? 'missing';
  return json.length > 80 ? `${json.slice(0, 80).replace(/[\uD800-\uDBFF]$/u, '')}…` : json;
}
