/**
 * Splits a command line into arguments like a POSIX shell, without expansion.
 *
 * @throws Error if a quote is not closed.
 */
export function shellWords(line) {
  const words = [];
  let word;
  let quote;
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at];
    if (quote === "'") {
      if (char === quote) quote = undefined;
      else word += char;
    } else if (quote === '"') {
      const next = line[at + 1];
      if (char === quote) quote = undefined;
      else if (char === '\\' && next !== undefined && '"\\$`\n'.includes(next)) {
        word += next === '\n' ? '' : next;
        at += 1;
      } else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      // An empty pair of quotes is an empty argument.
      word ??= '';
    } else if (char === '\\' && at + 1 < line.length) {
      at += 1;
      if (line[at] !== '\n') word = (word ?? '') + line[at];
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + char;
  }
  if (quote !== undefined) throw new Error(`The command has an unclosed ${quote}.`);
  if (word !== undefined) words.push(word);
  return words;
}
