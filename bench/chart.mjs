/** The chart of bars in the README, as an SVG: the measures that have a headline, one panel each. */

import { COLUMN, kindOf, round, sheet, text } from './chart-style.mjs';
import { short } from './tables.mjs';

const BAR = 14;
const STEP = 21;
const TITLE = 38;
const LABEL = 202;
const VALUE = 62;
const MAX_LABEL_CHARS = 29;

export function drawBars(results) {
  const panels = new Map();
  for (const figure of results.figures) {
    if (figure.headline === undefined || figure.value === undefined) continue;
    panels.set(figure.headline, [...(panels.get(figure.headline) ?? []), figure]);
  }
  return sheet('Plugboard next to others, in one run', results, [...panels].map(panel));
}

function panel([headline, figures]) {
  const most = Math.max(...figures.map(({ value }) => value));
  return {
    height: TITLE + figures.length * STEP,
    draw: (x, y) =>
      [
        text(x, y + 13, headline, 'name'),
        text(x, y + 28, `${figures[0].unit}, ${better(figures[0].unit)}`, 'note'),
        ...figures.map((figure, at) => bar(figure, x, y + TITLE + at * STEP, most)),
      ].join('\n'),
  };
}

function better(unit) {
  return unit === 'calls/s' || unit === '%' ? 'more is better' : 'less is better';
}

function bar({ name, value }, x, y, most) {
  const kind = kindOf(name);
  const width = Math.max(2, (value / most) * (COLUMN - LABEL - VALUE));
  const words = name.length > MAX_LABEL_CHARS ? `${name.slice(0, MAX_LABEL_CHARS - 1)}…` : name;
  const look = kind === 'ours' ? 'mine' : 'label';
  return [
    text(x, y + BAR - 3, words, look),
    `<rect class="${kind}" x="${round(x + LABEL)}" y="${y}" width="${round(width)}" height="${BAR}" rx="2"/>`,
    text(x + LABEL + width + 6, y + BAR - 3, short(value), look),
  ].join('\n');
}
