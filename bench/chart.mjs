/** A chart of ratios as an SVG: one bar a contender, grouped by measure, drawn without a library. */

const WIDTH = 860;
const LABEL = 330;
const BAR = 16;
const GAP = 6;
const TITLE = 26;
const MARGIN = 20;
const OURS = /^(plugboard|kit|host\.call)/;

/** Only measures with several contenders can be compared; the base of each is 1 ×. */
export function drawChart(figures, machine) {
  const groups = comparable(figures);
  const rows = groups.flatMap(({ measure, contenders }) => [
    { title: measure },
    ...contenders.map((figure) => ({ figure, most: Math.max(...contenders.map(({ ratio }) => ratio)) })),
  ]);
  let y = MARGIN + TITLE;
  const drawn = rows.map((row) => {
    const at = y;
    y += row.title === undefined ? BAR + GAP : TITLE + GAP;
    return row.title === undefined ? bar(row, at) : text(MARGIN, at + TITLE - GAP, row.title, 'measure');
  });
  const height = y + MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="ui-sans-serif, system-ui, sans-serif" font-size="12">
<style>
  rect.back { fill: #fff } text { fill: #333 } .measure { font-weight: 600 } .other { fill: #b9c0c8 } .ours { fill: #2f6fdd }
  @media (prefers-color-scheme: dark) { rect.back { fill: #14171c } text { fill: #d5d9de } .other { fill: #4a525c } .ours { fill: #6ea0ff } }
</style>
<rect class="back" width="${WIDTH}" height="${height}"/>
${text(MARGIN, MARGIN + 4, machine)}
${drawn.join('\n')}
</svg>
`;
}

function comparable(figures) {
  const measures = new Map();
  for (const figure of figures) {
    if (figure.ratio === undefined) continue;
    measures.set(figure.measure, [...(measures.get(figure.measure) ?? []), figure]);
  }
  return [...measures]
    .filter(([, contenders]) => contenders.length > 1)
    .map(([measure, contenders]) => ({ measure, contenders }));
}

function bar({ figure: { name, value, unit, ratio }, most }, y) {
  const room = WIDTH - LABEL - MARGIN - 170;
  const width = Math.max(2, (ratio / most) * room);
  const mine = OURS.test(name);
  const figure = `${ratio.toFixed(2)} ×  (${value >= 100 ? value.toFixed(0) : value.toFixed(2)} ${unit})`;
  return [
    text(MARGIN + 14, y + BAR - 4, name),
    `<rect class="${mine ? 'ours' : 'other'}" x="${LABEL}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" rx="2"/>`,
    text(LABEL + width + 8, y + BAR - 4, figure),
  ].join('\n');
}

function text(x, y, words, kind) {
  const safe = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x.toFixed(1)}" y="${y}"${kind === undefined ? '' : ` class="${kind}"`}>${safe}</text>`;
}
