/** What the charts of the README have in common: a sheet with two columns of panels, in light and in dark. */

export const WIDTH = 880;
export const MARGIN = 24;
export const COLUMN = (WIDTH - 3 * MARGIN) / 2;
const HEADER = 64;

const STYLE = `
  svg { font-family: ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif }
  .sheet { fill: #ffffff; stroke: #d8dee6 } .title { font-size: 17px; font-weight: 650; fill: #161b22 }
  .name { font-size: 13px; font-weight: 600; fill: #161b22 } .label { font-size: 12px; fill: #39424e }
  .mine { font-size: 12px; font-weight: 650; fill: #0b57d0 } .note { font-size: 11px; fill: #6b7683 }
  .ours { fill: #2f6fdd } .other { fill: #c3cad3 } .limit { fill: none; stroke: #8d98a5; stroke-dasharray: 3 2 }
  .grid { stroke: #e6eaef } .line-ours { fill: none; stroke: #2f6fdd; stroke-width: 2.2 }
  .line-other { fill: none; stroke: #98a3af; stroke-width: 1.6 } .line-limit { fill: none; stroke: #98a3af; stroke-width: 1.4; stroke-dasharray: 4 3 }
  @media (prefers-color-scheme: dark) {
    .sheet { fill: #0f1319; stroke: #2a313b } .title, .name { fill: #edf1f6 } .label { fill: #bcc5cf } .mine { fill: #8ab4ff }
    .note { fill: #8995a3 } .ours { fill: #6ea0ff } .other { fill: #434c58 } .limit { stroke: #768290 } .grid { stroke: #222932 }
    .line-ours { stroke: #6ea0ff } .line-other, .line-limit { stroke: #6d7885 }
  }`;

/** Panels are `{ height, draw(x, y) }`; each goes where the column is shorter. */
export function sheet(title, { date, node, cores, cpu, memoryGb }, panels) {
  const columns = [HEADER, HEADER];
  const drawn = panels.map(({ height, draw }) => {
    const at = columns[0] <= columns[1] ? 0 : 1;
    const y = columns[at];
    columns[at] += height + MARGIN;
    return draw(MARGIN + at * (COLUMN + MARGIN), y);
  });
  const height = Math.max(...columns);
  const below = `${date} · Node ${node} · ${cores} × ${cpu} · ${memoryGb} GB`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>${STYLE}
</style>
<rect class="sheet" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="8"/>
${text(MARGIN, 30, title, 'title')}
${text(MARGIN, 48, below, 'note')}
${drawn.join('\n')}
</svg>
`;
}

export function text(x, y, words, kind, anchor) {
  const side = anchor === undefined ? '' : ` text-anchor="${anchor}"`;
  return `<text x="${round(x)}" y="${round(y)}" class="${kind}"${side}>${escaped(words)}</text>`;
}

/** Whose figure it is: ours, the hand-written minimum's, or another's. */
export function kindOf(name) {
  if (/\(.*limit\)|^bare|^node -e/.test(name)) return 'limit';
  return /^(plugboard|kit|host|the kit|to[A-Z])/.test(name) ? 'ours' : 'other';
}

export function round(value) {
  return Number(value.toFixed(1));
}

function escaped(words) {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
