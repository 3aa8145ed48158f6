/** Parses references to environment variables inside a string. */

export type Part =
  | { readonly kind: 'literal'; readonly text: string }
  /** `$${`: a literal `${`. */
  | { readonly kind: 'escape' }
  /** `${NAME}` or `${NAME:-fallback}`. */
  | { readonly kind: 'variable'; readonly name: string; readonly fallback?: string }
  /** `${input:id}` and other agents' `${env:NAME}`: not a variable, and never silently treated as one. */
  | { readonly kind: 'foreign'; readonly scheme: 'input' | 'env'; readonly id: string };

/**
 * `$${` first, so that an escape is never part of a reference. All other text with a dollar (a shell's `${NAME%.*}` in
 * an argument of `sh -c`, a lone `$`) is literal.
 */
const REFERENCE =
  /(?<escaped>\$\$\{)|\$\{(?:(?<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?<fallback>[^}]*))?|(?<scheme>input|env):(?<id>[^}]*))\}/g;

/** Keys of an entry whose strings may contain references. */
export const REFERENCE_KEYS = ['command', 'args', 'env', 'cwd', 'url', 'headers', 'oauth'] as const;

/** Returns the parts of every string inside a value. */
export function partsIn(value: unknown): Part[] {
  if (typeof value === 'string') return partsOf(value);
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(partsIn) : [];
}

export function partsOf(text: string): Part[] {
  if (!text.includes('${')) return text === '' ? [] : [{ kind: 'literal', text }];
  const parts: Part[] = [];
  let end = 0;
  for (const match of text.matchAll(REFERENCE)) {
    if (match.index > end) parts.push({ kind: 'literal', text: text.slice(end, match.index) });
    end = match.index + match[0].length;
    const { escaped, name, fallback, scheme, id } = match.groups ?? {};
    if (escaped !== undefined) parts.push({ kind: 'escape' });
    else if (name !== undefined)
      parts.push({ kind: 'variable', name, ...(fallback === undefined ? {} : { fallback }) });
    else parts.push({ kind: 'foreign', scheme: scheme === 'input' ? 'input' : 'env', id: id ?? '' });
  }
  if (end < text.length) parts.push({ kind: 'literal', text: text.slice(end) });
  return parts;
}
