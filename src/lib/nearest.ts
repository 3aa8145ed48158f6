/** Suggests candidates for a mistyped word. */

/** Longer words are never typos of a key or name. */
const MAX_WORD_CHARS = 128;

/**
 * Returns the candidates nearest to a word, best first; empty if none is likely a typo.
 *
 * @example
 * nearest('comand', ['command', 'args']); // ['command']
 */
export function nearest(word: string, candidates: Iterable<string>, limit = 3): string[] {
  const wanted = plain(word);
  if (wanted.length === 0 || wanted.length > MAX_WORD_CHARS) return [];
  const found: { candidate: string; distance: number }[] = [];
  for (const candidate of candidates) {
    const distance = editDistance(wanted, plain(candidate));
    if (distance <= tolerance(wanted.length)) found.push({ candidate, distance });
  }
  found.sort((a, b) => a.distance - b.distance);
  return found.slice(0, limit).map(({ candidate }) => candidate);
}

/** Ignores case and separators: `bearer_token` and `bearerToken` are equal. */
function plain(word: string): string {
  return word.toLowerCase().replace(/[-_ ]/g, '') || word;
}

/** One edit in a short word, two in a longer one: three would make `disabled` a typo of `enabled`. */
function tolerance(length: number): number {
  return length < 5 ? 1 : 2;
}

/** Counts insertions, deletions, replacements and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const best = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      );
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(row > 1 && column > 1 && swapped ? Math.min(best, at(beforeLast, column - 2) + 1) : best);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
