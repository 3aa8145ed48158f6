/** Writes texts as JSON strings, and keeps those of names, which occur in many lines of a log. */

const MAX_QUOTED = 1_000;

/** Returns a text as a JSON string. */
export type Quoted = (text: string) => string;

/** JSON strings of names, of which there are few. */
export function createQuoted(): Quoted {
  const known = new Map<string, string>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    if (known.size === MAX_QUOTED) known.clear();
    const made = JSON.stringify(text);
    known.set(text, made);
    return made;
  };
}
