/** Quotes names for command lines shown to users, so that every shell reads one word. */

const PLAIN = /^[\w@%+=:,./-]+$/;

export function shellWord(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
