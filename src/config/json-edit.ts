/**
 * Changes one value in a JSON text and nothing else: preserves comments, order, indentation and unknown keys.
 *
 * jsonc-parser's own `modify` is not used for this: removing a key also removes the comments before the next key,
 * adding one moves the comment of the last key's line to the new key, and replacing an object loses every comment
 * inside it.
 */

import { createScanner, type Node } from 'jsonc-parser';
import { isRecord, type JsonObject } from '../lib/json.ts';
import { type JsonPath, showPath } from './fault.ts';
import { parseJsonc, propertyOf } from './jsonc.ts';

/** The text cannot be changed as requested, and was not changed. */
export class EditError extends Error {}

/**
 * Returns the text with the value at a path set, or removed if it is undefined. Creates missing objects on the path.
 *
 * @example
 * editJson('{ "a": 1 } // note', ['b'], true); // '{ "a": 1, "b": true } // note'
 * @throws EditError when the text is not JSON or a value on the path is not an object.
 */
export function editJson(text: string, path: JsonPath, value: unknown): string {
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  return mark + setAt(text.slice(mark.length), path, value);
}

/** Returns the text of the value at a path, with comments and without outer indentation; undefined if there is none. */
export function textAt(text: string, path: JsonPath): string | undefined {
  const node = nodeAt(text, path);
  if (node === undefined) return undefined;
  const indent = indentAt(text, node.offset);
  return text.slice(node.offset, node.offset + node.length).replaceAll(`\n${indent}`, '\n');
}

/**
 * Returns the text with the value at a path replaced by another text, including comments, with the same indentation.
 *
 * @throws EditError when there is no value at the path
 */
export function replaceTextAt(text: string, path: JsonPath, member: string): string {
  const node = nodeAt(text, path);
  if (node === undefined) throw new EditError(`${showPath(path)} is no longer there`);
  const { eol } = styleOf(text);
  const indent = indentAt(text, node.offset);
  const lines = member.replaceAll('\r\n', '\n').split('\n');
  const indented = lines.map((line, at) => (at === 0 || line === '' ? line : indent + line)).join(eol);
  return splice(text, node.offset, node.offset + node.length, indented);
}

function nodeAt(text: string, path: JsonPath): Node | undefined {
  let { tree: node } = parseJsonc(text);
  for (const key of path) {
    node = typeof key === 'number' ? node?.children?.[key] : propertyOf(node, key)?.children?.[1];
  }
  return node;
}

/** Makes one change at a time, each on a new tree, so that no edit depends on offsets that another one moved. */
function setAt(text: string, path: JsonPath, value: unknown): string {
  const { tree, fault } = parseJsonc(text);
  if (fault) throw new EditError(fault.message);
  if (!tree) return value === undefined ? text : newDocument(text, nested(path, value));
  let node = tree;
  for (const [depth, key] of path.entries()) {
    const member = typeof key === 'number' ? node.children?.[key] : propertyOf(node, key)?.children?.[1];
    if (!member) {
      if (node.type !== 'object' || typeof key === 'number') throw notAnObject(path.slice(0, depth));
      return value === undefined ? text : addKey(text, node, key, nested(path.slice(depth + 1), value));
    }
    if (value === undefined && depth === path.length - 1) {
      if (typeof key === 'number') throw notAnObject(path.slice(0, depth));
      return setAt(removeKey(text, node, key), path, undefined); // until no duplicate of it is left
    }
    node = member;
  }
  return replaceValue(text, node, path, value);
}

/** Changes objects key by key, so that comments inside are kept; rewrites other values if they differ. */
function replaceValue(text: string, node: Node, path: JsonPath, value: unknown): string {
  const children = node.children ?? [];
  if (node.type === 'object' && isRecord(value)) {
    const present = children.map((property) => property.children?.[0]?.value as string);
    const gone = present.filter((key) => !Object.hasOwn(value, key));
    const changes = [...Object.entries(value), ...gone.map((key) => [key, undefined] as const)];
    return changes.reduce((changed, [key, member]) => setAt(changed, [...path, key], member), text);
  }
  if (node.type === 'array' && Array.isArray(value) && children.length === value.length) {
    return value.reduce<string>(
      (changed, item, index) => setAt(changed, [...path, index], item ?? null),
      text,
    );
  }
  if (children.length === 0 && node.type === typeOf(value) && Object.is(node.value, value)) return text;
  const content = text.includes('\n')
    ? formatJson(value, styleOf(text), indentAt(text, node.offset))
    : formatInline(value);
  return splice(text, node.offset, node.offset + node.length, content);
}

function addKey(text: string, object: Node, key: string, value: unknown): string {
  const style = styleOf(text);
  const closing = object.offset + object.length - 1;
  const last = object.children?.at(-1);
  if (!last) {
    const inside = text.slice(object.offset + 1, closing).trimEnd();
    // A one-line file stays on one line, unless it is empty.
    if (!text.includes('\n') && inside === '' && object.parent) {
      return splice(text, object.offset + 1, closing, ` ${JSON.stringify(key)}: ${formatInline(value)} `);
    }
    const outer = indentAt(text, object.offset);
    const indent = outer + style.unit;
    const member = `${JSON.stringify(key)}: ${formatJson(value, style, indent)}`;
    return splice(text, object.offset + 1, closing, inside + style.eol + indent + member + style.eol + outer);
  }

  const end = last.offset + last.length;
  const { comma, lineEnd } = scanAfter(text, end, closing);
  const first = object.children?.[0] ?? last;
  if (!text.slice(object.offset, first.offset).includes('\n')) {
    const member = ` ${JSON.stringify(key)}: ${formatInline(value)}`;
    return comma === undefined
      ? splice(text, end, end, `,${member}`)
      : splice(text, comma + 1, comma + 1, `${member},`);
  }
  const indent = indentAt(text, last.offset);
  const member = `${style.eol}${indent}${JSON.stringify(key)}: ${formatJson(value, style, indent)}`;
  // Insert after the comments of the last key's line, which belong to that key. Keep a trailing comma: it is a style.
  if (comma !== undefined) return splice(text, lineEnd, lineEnd, `${member},`);
  return splice(splice(text, lineEnd, lineEnd, member), end, end, ',');
}

/** Removes the last property of that name, with one comma, and its line if nothing else is left on it. */
function removeKey(text: string, object: Node, key: string): string {
  const properties = object.children ?? [];
  const index = properties.findLastIndex((property) => property.children?.[0]?.value === key);
  const property = properties[index];
  if (!property) return text;
  const closing = object.offset + object.length - 1;
  const end = property.offset + property.length;
  const following = scanAfter(text, end, properties[index + 1]?.offset ?? closing).comma;
  const previous = properties[index - 1];
  const preceding =
    following === undefined && previous
      ? scanAfter(text, previous.offset + previous.length, property.offset).comma
      : undefined;

  // From the end, so that earlier offsets stay valid.
  let changed = text;
  if (following !== undefined && text.slice(end, following).trim() !== '') {
    changed = splice(cutLine(changed, following, following + 1), property.offset, end, '');
    changed = cutLine(changed, property.offset, property.offset);
  } else changed = cutLine(changed, property.offset, following === undefined ? end : following + 1);
  if (preceding !== undefined) changed = cutLine(changed, preceding, preceding + 1);
  return closedUp(changed, object.offset);
}

/** Deletes a range; also its line if only blanks are left on it, otherwise the blanks after the range. */
function cutLine(text: string, from: number, to: number): string {
  const lineStart = text.lastIndexOf('\n', from - 1) + 1;
  const lineEnd = text.indexOf('\n', to);
  const before = text.slice(lineStart, from);
  const after = text.slice(to, lineEnd === -1 ? text.length : lineEnd);
  if (before.trim() === '' && after.trim() === '' && lineEnd !== -1)
    return splice(text, lineStart, lineEnd + 1, '');
  const blanks = /^[ \t]*/.exec(after)?.[0].length ?? 0;
  return splice(text, from, before.trim() === '' || /\s$/.test(before) ? to + blanks : to, '');
}

/** SessionQueue `{ }` and a brace on its own line into `{}`. */
function closedUp(text: string, offset: number): string {
  const blanks = /^\{\s*\}/.exec(text.slice(offset));
  return blanks ? splice(text, offset, offset + blanks[0].length, '{}') : text;
}

/** Finds the comma after an offset, and the end of the comments on its line (or on the line of the offset). */
function scanAfter(
  text: string,
  offset: number,
  limit: number,
): { comma: number | undefined; lineEnd: number } {
  const scanner = createScanner(text, false);
  scanner.setPosition(offset);
  let comma: number | undefined;
  let lineEnd = offset;
  let onLine = true;
  while (scanner.getPosition() < limit) {
    const token: number = scanner.scan();
    const end = scanner.getPosition();
    if (end > limit || token === TOKEN.end) break;
    if (token === TOKEN.comma) {
      comma = scanner.getTokenOffset();
      lineEnd = end;
      onLine = true;
    } else if (token === TOKEN.lineBreak) onLine = false;
    else if (onLine && (token === TOKEN.lineComment || token === TOKEN.blockComment)) lineEnd = end;
  }
  return { comma, lineEnd };
}

/** jsonc-parser's token kinds; its enum is const and cannot be imported. */
const TOKEN = { comma: 5, lineComment: 12, blockComment: 13, lineBreak: 14, end: 17 };

function newDocument(text: string, value: unknown): string {
  const style = styleOf(text);
  const comments = text.trim() === '' ? '' : text.trimEnd() + style.eol;
  return comments + formatJson(value, style) + style.eol;
}

function nested(path: JsonPath, value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => Object.fromEntries([[String(key), inner]]), value);
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset))?.[0] ?? '';
}

function splice(text: string, from: number, to: number, content: string): string {
  return text.slice(0, from) + content + text.slice(to);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function notAnObject(path: JsonPath): EditError {
  return new EditError(
    path.length === 0 ? 'it does not hold a JSON object' : `${showPath(path)} is not an object`,
  );
}

/** A list of plain values stays on one line up to this width. */
const MAX_LIST_CHARS = 100;

/** The formatting of the file around an edit. */
interface Style {
  /** One level: spaces or a tab. */
  readonly unit: string;
  readonly eol: '\n' | '\r\n';
}

/** Detects the style of a text from its first indented line and first line break; default: two spaces. */
function styleOf(text: string): Style {
  const unit = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ';
  return { unit: unit.startsWith('\t') ? '\t' : unit, eol: /\r\n/.test(text) ? '\r\n' : '\n' };
}

/** Formats a value over several lines; all but the first begin with `indent`. */
export function formatJson(value: unknown, style: Style, indent = ''): string {
  const inner = indent + style.unit;
  if (Array.isArray(value)) {
    const inline = formatInline(value);
    const nested = value.some((item) => typeof item === 'object' && item !== null);
    if (value.length === 0 || (!nested && inner.length + inline.length <= MAX_LIST_CHARS)) return inline;
    const lines = value.map((item) => inner + formatJson(item, style, inner));
    return `[${style.eol}${lines.join(`,${style.eol}`)}${style.eol}${indent}]`;
  }
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null';
  const members = membersOf(value).map(([key, member]) => {
    return `${inner}${JSON.stringify(key)}: ${formatJson(member, style, inner)}`;
  });
  return members.length === 0 ? '{}' : `{${style.eol}${members.join(`,${style.eol}`)}${style.eol}${indent}}`;
}

/** Formats a value on one line. */
function formatInline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatInline).join(', ')}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null';
  const members = membersOf(value).map(([key, member]) => `${JSON.stringify(key)}: ${formatInline(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** Omits undefined members, like JSON.stringify. */
function membersOf(value: JsonObject): [string, unknown][] {
  return Object.entries(value).filter(([, member]) => member !== undefined);
}
