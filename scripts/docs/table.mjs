/** Tables as the formatter wants them, and the places in pages that they are put into. */

/** Rows of cells, the first of them the head; cells of one column get one width. */
export function table(rows) {
  const cells = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = cells[0].map((_cell, column) => Math.max(...cells.map((row) => row[column].length)));
  const line = (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  const [head, ...rest] = cells.map(line);
  return [head, line(widths.map((width) => '-'.repeat(width))), ...rest].join('\n');
}

/** The page with each part between its two marks; a part without a place, and a place without a part, are mistakes. */
export function withParts(text, parts) {
  const places = [...text.matchAll(/<!-- generated: (.*?) -->/g)].map(([, name]) => name);
  const wrong = [
    ...Object.keys(parts).filter((name) => !places.includes(name)),
    ...places.filter((name) => parts[name] === undefined),
  ];
  if (wrong.length > 0)
    throw new Error(`A part without a place, or a place without a part: ${wrong.join(', ')}`);
  return text.replaceAll(
    /(<!-- generated: (.*?) -->)[\s\S]*?(<!-- \/generated -->)/g,
    (_all, begin, name, end) => `${begin}\n\n${parts[name]}\n\n${end}`,
  );
}
