/** Translates other agents' references to variables inside strings to ours. */

import { sep } from 'node:path';

export interface Dialect {
  /** Matches one reference; global, so that it can be used for a whole text. */
  readonly reference: RegExp;
  /** Returns the reference in our syntax; undefined if we do not support it. */
  translate(groups: Readonly<Record<string, string | undefined>>): string | undefined;
}

export type Said = { readonly text: string } | { readonly unsupported: string };

/**
 * Translates a text to our syntax. Text that is not a reference in the source must not become one, so its `${` is
 * escaped.
 *
 * @example
 * say('Bearer ${env:TOKEN}', EDITOR); // { text: 'Bearer ${TOKEN}' }
 */
export function translate(text: string, dialect: Dialect): Said {
  let translated = '';
  let end = 0;
  for (const match of text.matchAll(dialect.reference)) {
    const ours = dialect.translate(match.groups ?? {});
    if (ours === undefined) return { unsupported: match[0] };
    translated += plain(text.slice(end, match.index)) + ours;
    end = match.index + match[0].length;
  }
  return { text: translated + plain(text.slice(end)) };
}

function plain(text: string): string {
  // A function, because in a replacement string `$$` means one dollar.
  return text.replaceAll('${', () => '$${');
}

/** For agents without references: every string is literal. */
export const LITERAL: Dialect = { reference: /(?!)/g, translate: () => undefined };

/** The same as ours: `${VAR}` and `${VAR:-default}`. */
export const SHELL: Dialect = {
  reference: /\$\{(?<name>[A-Za-z_]\w*)(?::-(?<fallback>[^}]*))?\}/g,
  translate: ({ name = '', fallback }) => variable(name, fallback),
};

/** `$VAR` in addition to `${VAR}`. */
export const DOLLAR: Dialect = {
  reference: /\$(?:\{(?<name>[A-Za-z_]\w*)(?::-(?<fallback>[^}]*))?\}|(?<bare>[A-Za-z_]\w*))/g,
  translate: ({ name, bare, fallback }) => variable(name ?? bare ?? '', fallback),
};

/** `{env:VAR}`; `{file:…}` inserts a file's content, which we do not support. */
export const BRACES: Dialect = {
  reference: /\{(?:env:(?<name>[A-Za-z_]\w*)|file:[^}]*)\}/g,
  translate: ({ name }) => (name === undefined ? undefined : variable(name)),
};

/** `${VAR}`, `$env:VAR` and `{env:VAR}`. */
export const PI: Dialect = {
  reference: /\$\{(?<name>[A-Za-z_]\w*)\}|\$env:(?<bare>[A-Za-z_]\w*)|\{env:(?<braced>[A-Za-z_]\w*)\}/g,
  translate: ({ name, bare, braced }) => variable(name ?? bare ?? braced ?? ''),
};

/** Names that editors predefine. */
const EDITOR_NAMES: ReadonlyMap<string, string> = new Map([
  ['workspaceFolder', variable('PROJECT_DIR')],
  ['workspaceRoot', variable('PROJECT_DIR')],
  ['userHome', variable('HOME')],
  ['pathSeparator', sep],
  ['/', sep],
]);

/** Editors: `${env:VAR}`, `${input:id}` and predefined names. */
export const EDITOR: Dialect = {
  reference:
    /\$\{(?:env:(?<name>[A-Za-z_]\w*)|input:(?<input>[^}]+)|(?<own>[A-Za-z_][\w]*(?::[^}]*)?|\/))\}/g,
  translate({ name, input, own = '' }) {
    if (name !== undefined) return variable(name);
    if (input !== undefined) return `\${input:${input}}`;
    // Editors do not support it, but files that are shared between agents contain it, always as a variable.
    if (/^[A-Z_][A-Z0-9_]*$/.test(own)) return variable(own);
    return EDITOR_NAMES.get(own);
  },
};

function variable(name: string, fallback?: string): string {
  return fallback === undefined ? `\${${name}}` : `\${${name}:-${fallback}}`;
}
