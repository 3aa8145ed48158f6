/**
 * Sets or removes one table in a TOML text, and changes nothing else. The edit works line by line, which multi-line
 * strings could break, so the result is parsed again and must have exactly the intended value.
 */

import { parse, stringify } from 'smol-toml';
import { attempt } from '../../lib/attempt.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { isRecord, type JsonObject } from '../../lib/json.ts';
import { EditError } from '../json-edit.ts';

/**
 * Returns the text with the table `[parent.name]` set, or removed if the value is undefined.
 *
 * @example
 * editTable('model = "x"\n', ['mcp_servers', 'a'], { command: 'b' }); // … '[mcp_servers.a]\ncommand = "b"\n'
 * @throws EditError when the text is not TOML, or the table is written in a way that cannot be edited safely.
 */
export function editTable(
  text: string,
  [parent, name]: readonly [string, string],
  value: JsonObject | undefined,
): string {
  if (text.startsWith('\uFEFF')) return `\uFEFF${editTable(text.slice(1), [parent, name], value)}`;
  const root = readToml(text);
  const isThere = isRecord(root[parent]) && Object.hasOwn(root[parent], name);
  if (!isThere && value === undefined) return text;
  const meant = withTable(root, parent, name, value);
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = text.split(/(?<=\n)/);
  const { rest, at } = isThere ? withoutTable(lines, parent, name) : { rest: lines, at: undefined };
  const block = value === undefined ? [] : [tableText(parent, name, value, eol)];
  const isAtEnd = at === undefined || at >= rest.length;
  const before = isAtEnd ? closed(rest, eol, block.length > 0) : rest.slice(0, at);
  const after = isAtEnd ? [] : [...(block.length > 0 ? [eol] : []), ...rest.slice(at)];
  const edited = [...before, ...block, ...after].join('');
  if (!holds(edited, meant)) {
    throw new EditError(`the table [${parent}.${name}] is written in a way that cannot be edited safely`);
  }
  return edited;
}

function readToml(text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    throw new EditError('it is not valid TOML', { cause });
  }
}

function holds(text: string, meant: unknown): boolean {
  return attempt(() => canonicalJson(parse(text)) === canonicalJson(meant), false);
}

function withTable(
  root: JsonObject,
  parent: string,
  name: string,
  value: JsonObject | undefined,
): Record<string, unknown> {
  const { [name]: _, ...others } = isRecord(root[parent]) ? root[parent] : {};
  const tables = value === undefined ? others : { ...others, [name]: value };
  // A parent without tables does not exist in the text.
  const { [parent]: __, ...rest } = root;
  return Object.keys(tables).length === 0 ? rest : { ...rest, [parent]: tables };
}

function tableText(parent: string, name: string, value: JsonObject, eol: string): string {
  return `${stringify({ [parent]: { [name]: value } })
    .trim()
    .replaceAll('\n', eol)}${eol}`;
}

/** Returns the lines without the table and its subtables, and the index where the first of them began. */
function withoutTable(
  lines: readonly string[],
  parent: string,
  name: string,
): { rest: string[]; at: number | undefined } {
  const key = (word: string): string => `(?:${escaped(word)}|"${escaped(word)}"|'${escaped(word)}')`;
  const own = new RegExp(`^\\s*\\[\\s*${key(parent)}\\s*\\.\\s*${key(name)}\\s*(?:\\.[^\\]]*)?\\]`);
  const rest: string[] = [];
  let at: number | undefined;
  let inside = false;
  /** Comments and empty lines: they belong to the following table, if there is one. */
  let loose: string[] = [];
  for (const line of lines) {
    if (/^\s*\[/.test(line)) {
      inside = own.test(line);
      if (inside) {
        at ??= rest.length;
        loose = [];
      } else rest.push(...loose.splice(0));
    }
    if (!inside) rest.push(line);
    else if (/^\s*(#|$)/.test(line)) loose.push(line);
    else loose = [];
  }
  rest.push(...loose.filter((line) => line.trim() !== ''));
  return { rest, at };
}

function escaped(word: string): string {
  return word.replaceAll(/[^\w-]/g, '\\$&');
}

/** Ends the text with a line break, and with an empty line if another table follows. */
function closed(lines: readonly string[], eol: string, follows: boolean): string[] {
  const text = lines.join('');
  if (text.trim() === '') return follows ? [] : [...lines];
  if (!follows) return [...lines];
  const ended = text.endsWith('\n') ? text : `${text}${eol}`;
  return [ended, /\n\s*\n$/.test(ended) ? '' : eol];
}
