/** Names of others in command lines that we tell people to type: one word to every shell, whatever is in it. */

const PLAIN = /^[\w@%+=:,./-]+$/;

export function shellWord(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
