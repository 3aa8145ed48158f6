/** The slope in log-log over the upper half of `sizes`, with the spread of draws of single rounds. */
export function growth(
  sizes: readonly number[],
  costs: readonly (readonly number[])[],
): { exponent: number; low: number; high: number };
