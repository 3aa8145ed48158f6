/** URI templates (RFC 6570, the simple and the reserved form), matched in one pass over the URI. */

import { PlugboardError } from '../errors.ts';

interface Variable {
  readonly name: string;
  /** `{+name}`: its value may contain slashes. */
  readonly reserved: boolean;
  /** The literal text after it, up to the next variable. */
  readonly after: string;
}

export interface UriTemplate {
  readonly variables: readonly string[];
  /** Returns the values of the variables; undefined if the URI does not match. */
  match(uri: string): Readonly<Record<string, string>> | undefined;
}

const VARIABLE = /\{(\+?)([A-Za-z0-9_.]+)\}/g;

export function parseUriTemplate(template: string): UriTemplate {
  const pieces = [...template.matchAll(VARIABLE)];
  const [first] = pieces;
  const head = template.slice(0, first?.index ?? template.length);
  const variables = pieces.map((piece, at): Variable => {
    const end = piece.index + piece[0].length;
    const next = pieces[at + 1]?.index ?? template.length;
    return { name: piece[2] ?? '', reserved: piece[1] === '+', after: template.slice(end, next) };
  });
  const plain = head + variables.map(({ after }) => after).join('');
  const touching = variables.slice(0, -1).some(({ after }) => after === '');
  if (/[{}]/.test(plain) || variables.length === 0 || touching) {
    throw new PlugboardError('USAGE', `${JSON.stringify(template)} is not a template that can be matched.`, {
      hint: 'Use {name} or {+path}, with something between two of them.',
    });
  }
  return { variables: variables.map(({ name }) => name), match: (uri) => match(uri, head, variables) };
}

function match(
  uri: string,
  head: string,
  variables: readonly Variable[],
): Readonly<Record<string, string>> | undefined {
  if (!uri.startsWith(head)) return undefined;
  const values: Record<string, string> = {};
  let from = head.length;
  for (const [at, { name, reserved, after }] of variables.entries()) {
    const last = at === variables.length - 1;
    if (last && !uri.endsWith(after)) return undefined;
    const to = last ? uri.length - after.length : uri.indexOf(after, from);
    const value = decode(uri.slice(from, to));
    if (to <= from || value === undefined) return undefined;
    if (!reserved && uri.slice(from, to).includes('/')) return undefined;
    values[name] = value;
    from = to + after.length;
  }
  return values;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
