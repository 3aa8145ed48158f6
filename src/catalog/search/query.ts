/** Parses the query language of tool search: `select:a,b` names tools, `+word` must occur, the rest is ranked. */

/** Longer queries are truncated, so that a pasted file is never ranked. */
export const MAX_QUERY_CHARS = 2000;

export type ParsedQuery =
  /** Exactly these tools, in this order. */
  | { readonly kind: 'select'; readonly names: readonly string[] }
  /** Ranked by `text`; every word of `musts` must occur in the tool. */
  | { readonly kind: 'rank'; readonly text: string; readonly musts: readonly string[] };

const SELECT = /^\s*select:(.*)$/is;
/** Matches a plus at the start of a word, so not in `c++` or `1+1`. */
const MUST = /(^|\s)\+(?=[\p{L}\p{N}])(\S+)/gu;

/**
 * Parses a query.
 *
 * @example parseQuery('select:mcp__git__log') // { kind: 'select', names: ['mcp__git__log'] }
 * @example parseQuery('+git show history')    // { kind: 'rank', text: 'git show history', musts: ['git'] }
 */
export function parseQuery(query: string): ParsedQuery {
  const bounded = query.slice(0, MAX_QUERY_CHARS);
  const select = SELECT.exec(bounded);
  if (select) return { kind: 'select', names: namesOf(select[1] ?? '') };
  const musts: string[] = [];
  const text = bounded.replace(MUST, (_all, space: string, word: string) => {
    musts.push(word);
    return `${space}${word}`;
  });
  return { kind: 'rank', text: text.trim(), musts };
}

function namesOf(list: string): string[] {
  return [...new Set(list.split(/[,\s]+/).filter((name) => name !== ''))];
}
