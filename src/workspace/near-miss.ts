/** Finds where a text would match if white space were ignored: the most likely reason for a failed match. */

/** Limit on line comparisons: a hint is not worth a longer wait. */
const MAX_COMPARISONS = 1_000_000;

export function nearMiss(
  text: string,
  piece: string,
): { readonly first: number; readonly last: number } | undefined {
  const lines = text.split('\n').map(squeezed);
  const wanted = piece.split('\n').map(squeezed);
  if (wanted.every((line) => line === '') || lines.length * wanted.length > MAX_COMPARISONS) return undefined;
  for (let at = 0; at + wanted.length <= lines.length; at += 1) {
    if (wanted.every((line, offset) => line === lines[at + offset]))
      return { first: at + 1, last: at + wanted.length };
  }
  return undefined;
}

function squeezed(line: string): string {
  return line.trim().replaceAll(/\s+/g, ' ');
}
