/** Checks for names that some clients reject or change; authors are warned while they can still rename. */

const MAX_NAME_CHARS = 64;

/** Returns the problem of a tool's or prompt's name; undefined if every client accepts it. */
export function discouragedName(name: string): string | undefined {
  const problems = [
    ...(name.length > MAX_NAME_CHARS ? [`is longer than ${MAX_NAME_CHARS} characters`] : []),
    ...(/\s/.test(name) ? ['has spaces'] : []),
    ...(/\p{Lu}/u.test(name) ? ['has uppercase letters'] : []),
    ...(/[^\w.\-\s\p{Lu}]/u.test(name) ? ['has characters other than letters, digits, _, - and .'] : []),
  ];
  return problems.length === 0 ? undefined : problems.join(', ');
}
