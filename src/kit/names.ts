/** Names that some clients refuse or mangle; authors are told while they can still change them. */

const MAX_NAME_CHARS = 64;

/** What is wrong with a name of a tool or prompt; undefined when every client takes it. */
export function dislikedName(name: string): string | undefined {
  const problems = [
    ...(name.length > MAX_NAME_CHARS ? [`is longer than ${MAX_NAME_CHARS} characters`] : []),
    ...(/\s/.test(name) ? ['has spaces'] : []),
    ...(/\p{Lu}/u.test(name) ? ['has uppercase letters'] : []),
    ...(/[^\w.\-\s\p{Lu}]/u.test(name) ? ['has characters other than letters, digits, _, - and .'] : []),
  ];
  return problems.length === 0 ? undefined : problems.join(', ');
}
