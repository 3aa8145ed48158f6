/** Parses JSON with comments and positions; loaded only if a file has comments or a problem to locate. */

import { type Node, type ParseError, parseTree } from 'jsonc-parser';
import { type Fault, type JsonPath, MAX_CONFIG_DEPTH } from './fault.ts';

/** Both start at 1, as in editors. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface SyntaxFault extends Position {
  readonly message: string;
}

/** A duplicate key in one object. */
export interface DuplicateKey extends Position {
  readonly path: JsonPath;
  readonly firstLine: number;
}

/**
 * Returns the tree of a text, or its syntax error. Undefined without an error: the text has only whitespace and
 * comments.
 */
export function parseJsonc(text: string): { tree: Node | undefined; fault?: SyntaxFault } {
  const errors: ParseError[] = [];
  let tree: Node | undefined;
  try {
    tree = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { tree: undefined, fault: TOO_DEEP };
  }
  const first = errors[0];
  if (!first) return tree && isTooDeep(tree) ? { tree: undefined, fault: TOO_DEEP } : { tree };
  return { tree: undefined, fault: { ...positionAt(text, first.offset), message: explain(first, text) } };
}

const TOO_DEEP: SyntaxFault = {
  line: 1,
  column: 1,
  message: `it is nested deeper than ${MAX_CONFIG_DEPTH} levels`,
};

function isTooDeep(tree: Node): boolean {
  // A property is a level of the tree, but not of the document.
  let level: readonly Node[] = [tree];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_CONFIG_DEPTH) return true;
    level = level.flatMap((node) =>
      (node.children ?? []).flatMap((child) =>
        child.type === 'property' ? (child.children?.[1] ?? []) : child,
      ),
    );
  }
  return false;
}

/** Returns the value of a tree exactly as JSON.parse would: `__proto__` is a plain key, the last duplicate is used. */
export function jsonOf(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(jsonOf);
  if (node.type !== 'object') return node.value;
  const value = {};
  for (const property of node.children ?? []) {
    const [key, member] = property.children ?? [];
    if (!key || !member) continue;
    Object.defineProperty(value, key.value, {
      value: jsonOf(member),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return value;
}

/** Returns the effective property of that name: the last one. */
export function propertyOf(object: Node | undefined, name: string): Node | undefined {
  if (object?.type !== 'object') return undefined;
  return object.children?.findLast((property) => property.children?.[0]?.value === name);
}

/** Returns the position of a path, or of its nearest existing ancestor. */
export function locate(
  text: string,
  tree: Node,
  path: JsonPath,
  { at, offset }: Pick<Fault, 'at' | 'offset'>,
): Position {
  let node: Node = tree;
  let key: Node | undefined;
  for (const segment of path) {
    const property = typeof segment === 'string' ? propertyOf(node, segment) : undefined;
    const next = typeof segment === 'string' ? property?.children?.[1] : node.children?.[segment];
    if (!next) break;
    key = property?.children?.[0];
    node = next;
  }
  const start = (at === 'key' && key ? key : node).offset;
  return positionAt(
    text,
    offset === undefined || node.type !== 'string' ? start : insideString(text, start, offset),
  );
}

/** Returns the position of a character of a JSON string, whose escapes are longer than their characters. */
function insideString(text: string, start: number, characters: number): number {
  let at = start + 1;
  for (let left = characters; left > 0; left -= 1) at += text[at] !== '\\' ? 1 : text[at + 1] === 'u' ? 6 : 2;
  return at;
}

/** Returns at most `max` duplicate keys: each position is counted from the beginning of the text. */
export function findDuplicates(text: string, tree: Node, max: number): DuplicateKey[] {
  const found: DuplicateKey[] = [];
  const walk = (node: Node, path: JsonPath): void => {
    const seen = new Map<string, Node>();
    for (const [index, child] of (node.children ?? []).entries()) {
      const [key, member] = child.children ?? [];
      if (node.type === 'array') walk(child, [...path, index]);
      if (node.type !== 'object' || !key || !member) continue;
      const here = [...path, key.value as string];
      const first = seen.get(key.value);
      if (first && found.length < max) {
        found.push({
          path: here,
          firstLine: positionAt(text, first.offset).line,
          ...positionAt(text, key.offset),
        });
      } else if (!first) seen.set(key.value, key);
      walk(member, here);
    }
  };
  walk(tree, []);
  return found;
}

function positionAt(text: string, offset: number): Position {
  let line = 1;
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1 && end < offset; end = text.indexOf('\n', start)) {
    line++;
    start = end + 1;
  }
  return { line, column: offset - start + 1 };
}

/** Messages by the parser's error code (its enum is const, so the numbers are repeated here). */
const EXPLANATIONS: ReadonlyMap<number, string> = new Map([
  [1, 'this is not JSON'],
  [2, 'this is not a number'],
  [3, 'a key in double quotes belongs here'],
  [4, 'a value is missing here'],
  [5, 'a colon is missing here'],
  [6, 'a comma is missing here'],
  [7, 'a closing brace is missing here'],
  [8, 'a closing bracket is missing here'],
  [9, 'there is more text after the end'],
  [10, 'this is not a comment'],
  [11, 'this comment never ends'],
  [12, 'this string never ends'],
  [13, 'this number is not finished'],
  [14, 'this is not a Unicode escape'],
  [15, 'this escape is not known in JSON'],
  [16, 'a control character in a string'],
]);

function explain(error: ParseError, text: string): string {
  const message = EXPLANATIONS.get(error.error) ?? 'this is not JSON';
  return text.slice(error.offset).trim() === '' ? `unexpected end of file: ${message}` : message;
}
