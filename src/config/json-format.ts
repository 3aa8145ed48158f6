/** Formats JSON in the style of the surrounding file. */

import { isRecord } from '../lib/json.ts';

/** A list of plain values stays on one line up to this width. */
const MAX_LIST_CHARS = 100;

/** The formatting of the file around an edit. */
export interface Style {
  /** One level: spaces or a tab. */
  readonly unit: string;
  readonly eol: '\n' | '\r\n';
}

/** Detects the style of a text from its first indented line and first line break; default: two spaces. */
export function styleOf(text: string): Style {
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
export function formatInline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatInline).join(', ')}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null';
  const members = membersOf(value).map(([key, member]) => `${JSON.stringify(key)}: ${formatInline(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

/** Omits undefined members, like JSON.stringify. */
function membersOf(value: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(value).filter(([, member]) => member !== undefined);
}
