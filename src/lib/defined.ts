/** Leaves out members without a value, which `exactOptionalPropertyTypes` does not accept. */

/**
 * Returns the members that are not undefined, in the same order.
 *
 * @example
 * const error = { code, message, ...defined({ hint, server }) };
 */
export function defined<Members extends object>(
  members: Members,
): { [Key in keyof Members]?: Exclude<Members[Key], undefined> } {
  const found: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(members)) if (value !== undefined) found[key] = value;
  // The loop above is what the type states.
  return found as { [Key in keyof Members]?: Exclude<Members[Key], undefined> };
}
