/** Compares what a page shows with what was printed: times, ports, process ids, sizes and tokens may be others. */

/** What differs from run to run, in the order of looking for it, and the word that stands for it. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME'],
  [/\b[\w-]{43}\b/g, 'TOKEN'],
  [/ *\b\d+(\.\d+)? (ms|s)\b/g, ' DURATION'],
  [/"(ms|connectMs|score|bytes)": [\d.]+/g, '"$1": NUMBER'],
  [/\bpid \d+/g, 'pid NUMBER'],
  [/"pid": \d+/g, '"pid": NUMBER'],
  [/ *\b\d+(\.\d+)? (kB|MB)\b/g, ' SIZE'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'UUID'],
];

/** Without what varies, and without spaces at the end of a line, which no editor leaves alone. */
function steady(text: string): string[] {
  const without = VARYING.reduce((whole, [pattern, word]) => whole.replaceAll(pattern, word), text);
  return without.replaceAll(/ +$/gm, '').trimEnd().split('\n');
}

/** A line `…` stands for any lines, `…` in a line for any text. Gives the printed text, or what is shown when they agree. */
export function agreed(shown: string, printed: string): string {
  const pattern = steady(shown)
    .map((line) => (line.trim() === '…' ? '(?:.*\\n)*?' : `${escaped(line)}\\n`))
    .join('');
  const lines = `${steady(printed).join('\n')}\n`;
  return new RegExp(`^${pattern}$`).test(lines) ? shown : printed;
}

function escaped(line: string): string {
  return line.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*');
}
