/** Writes a number with its noun. */

/**
 * Returns the number and the noun in its singular or plural form.
 *
 * @example
 * counted(2, 'server'); // → '2 servers'
 */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : noun.endsWith('s') ? 'es' : 's'}`;
}
