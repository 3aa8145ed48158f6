/** How agents write references to variables inside their strings, and what each becomes in ours. */

import { sep } from 'node:path';

export interface Dialect {
  /** Finds one reference; global, so that it can be used for a whole text. */
  readonly reference: RegExp;
  /** The reference in our words; undefined when we have none for it. */
  say(groups: Readonly<Record<string, string | undefined>>): string | undefined;
}

export type Said = { readonly text: string } | { readonly unsaid: string };

/**
 * A foreign text in our words. What is no reference there must not become one here, so its `${` is escaped.
 *
 * @example
 * say('Bearer ${env:TOKEN}', EDITOR); // { text: 'Bearer ${TOKEN}' }
 */
export function say(text: string, dialect: Dialect): Said {
  let said = '';
  let end = 0;
  for (const match of text.matchAll(dialect.reference)) {
    const ours = dialect.say(match.groups ?? {});
    if (ours === undefined) return { unsaid: match[0] };
    said += plain(text.slice(end, match.index)) + ours;
    end = match.index + match[0].length;
  }
  return { text: said + plain(text.slice(end)) };
}

function plain(text: string): string {
  // A function, because in a replacement text two dollars would be one.
  return text.replaceAll('${', () => '$${');
}

/** Agents that take every string as it stands. */
export const LITERAL: Dialect = { reference: /(?!)/g, say: () => undefined };

/** The same as ours: `${VAR}` and `${VAR:-default}`. */
export const SHELL: Dialect = {
  reference: /\$\{(?<name>[A-Za-z_]\w*)(?::-(?<fallback>[^}]*))?\}/g,
  say: ({ name = '', fallback }) => variable(name, fallback),
};

/** `$VAR` beside `${VAR}`. */
export const DOLLAR: Dialect = {
  reference: /\$(?:\{(?<name>[A-Za-z_]\w*)(?::-(?<fallback>[^}]*))?\}|(?<bare>[A-Za-z_]\w*))/g,
  say: ({ name, bare, fallback }) => variable(name ?? bare ?? '', fallback),
};

/** `{env:VAR}`; `{file:…}` puts a file's content in, for which we have no words. */
export const BRACES: Dialect = {
  reference: /\{(?:env:(?<name>[A-Za-z_]\w*)|file:[^}]*)\}/g,
  say: ({ name }) => (name === undefined ? undefined : variable(name)),
};

/** `${VAR}`, `$env:VAR` and `{env:VAR}`. */
export const PI: Dialect = {
  reference: /\$\{(?<name>[A-Za-z_]\w*)\}|\$env:(?<bare>[A-Za-z_]\w*)|\{env:(?<braced>[A-Za-z_]\w*)\}/g,
  say: ({ name, bare, braced }) => variable(name ?? bare ?? braced ?? ''),
};

/** Names that editors fill in. */
const EDITOR_NAMES: ReadonlyMap<string, string> = new Map([
  ['workspaceFolder', variable('PROJECT_DIR')],
  ['workspaceRoot', variable('PROJECT_DIR')],
  ['userHome', variable('HOME')],
  ['pathSeparator', sep],
  ['/', sep],
]);

/** What editors have: `${env:VAR}`, `${input:id}` and names of their own. */
export const EDITOR: Dialect = {
  reference:
    /\$\{(?:env:(?<name>[A-Za-z_]\w*)|input:(?<input>[^}]+)|(?<own>[A-Za-z_][\w]*(?::[^}]*)?|\/))\}/g,
  say({ name, input, own = '' }) {
    if (name !== undefined) return variable(name);
    if (input !== undefined) return `\${input:${input}}`;
    // Editors do not know it, but files that are shared between agents have it, and it is always meant.
    if (/^[A-Z_][A-Z0-9_]*$/.test(own)) return variable(own);
    return EDITOR_NAMES.get(own);
  },
};

function variable(name: string, fallback?: string): string {
  return fallback === undefined ? `\${${name}}` : `\${${name}:-${fallback}}`;
}
