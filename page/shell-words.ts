/**
 * Splits a command line into arguments like a POSIX shell, without expansion.
 *
 * @throws Error if a quote is not closed.
 */
export function shellWords(line: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let at = 0; at < line.length; at += 1) {
    const char = line.charAt(at);
    const next = line.charAt(at + 1);
    if (quote === "'") {
      if (char === quote) quote = undefined;
      else word = (word ?? '') + char;
    } else if (quote === '"') {
      if (char === quote) quote = undefined;
      else if (char === '\\' && next !== '' && '"\\$`\n'.includes(next)) {
        word = (word ?? '') + (next === '\n' ? '' : next);
        at += 1;
      } else word = (word ?? '') + char;
    } else if (char === '"' || char === "'") {
      quote = char;
      // An empty pair of quotes is an empty argument.
      word ??= '';
    } else if (char === '\\' && next !== '') {
      at += 1;
      if (next !== '\n') word = (word ?? '') + next;
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + char;
  }
  if (quote !== undefined) throw new Error(`The command has an unclosed ${quote}.`);
  if (word !== undefined) words.push(word);
  return words;
}
