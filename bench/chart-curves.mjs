/** The chart of growth, as an SVG: one panel a measure, both scales logarithmic, so that a straight line of slope 1 is linear. */

import { COLUMN, kindOf, round, sheet, text } from './chart-style.mjs';
import { count, short } from './tables.mjs';

const TITLE = 38;
const PLOT = 130;
const LEFT = 44;
const BELOW = 20;
const STEP = 16;
const MAX_LABEL_CHARS = 36;

export function drawCurves(results) {
  const panels = new Map();
  for (const curve of results.curves) {
    const key = `${curve.measure}\n${curve.axis}`;
    panels.set(key, [...(panels.get(key) ?? []), curve]);
  }
  return sheet('What it costs as there is more of it', results, [...panels.values()].map(panel));
}

function panel(curves) {
  const [{ measure, axis, unit }] = curves;
  return {
    height: TITLE + PLOT + BELOW + curves.length * STEP,
    draw(x, y) {
      const scale = scales(curves, x + LEFT, y + TITLE);
      return [
        text(x, y + 13, measure, 'name'),
        text(x, y + 28, `${unit}, by ${axis}; dotted: the limit`, 'note'),
        ...axes(scale, x, y + TITLE),
        ...curves.map((curve) => line(curve, scale)),
        ...curves.map((curve, at) => legend(curve, x, y + TITLE + PLOT + BELOW + at * STEP)),
      ].join('\n');
    },
  };
}

/** From costs and sizes to places on the sheet; costs end at whole powers of ten. */
function scales(curves, left, top) {
  const points = curves.flatMap((curve) => curve.points);
  const sizes = points.map(({ size }) => Math.log10(size));
  const costs = points.map(({ value }) => Math.log10(Math.max(value, 0.01)));
  const [from, to] = [Math.min(...sizes), Math.max(...sizes)];
  const [low, high] = [Math.floor(Math.min(...costs)), Math.ceil(Math.max(...costs))];
  return {
    ends: [10 ** from, 10 ** to],
    decades: Array.from({ length: high - low + 1 }, (_, at) => low + at),
    x: (size) => left + ((Math.log10(size) - from) / (to - from)) * (COLUMN - LEFT),
    y: (value) => top + PLOT - ((Math.log10(Math.max(value, 0.01)) - low) / Math.max(high - low, 1)) * PLOT,
  };
}

function axes({ ends, decades, x: place, y: height }, x, y) {
  const grid = decades.flatMap((decade) => {
    const at = round(height(10 ** decade));
    return [
      `<path class="grid" d="M${round(x + LEFT)} ${at}H${round(x + COLUMN)}"/>`,
      text(x + LEFT - 6, at + 4, (10 ** decade).toLocaleString('en-US'), 'note', 'end'),
    ];
  });
  const [first, last] = ends.map(Math.round);
  return [
    ...grid,
    text(place(first), y + PLOT + 14, count(first), 'note'),
    text(place(last), y + PLOT + 14, count(last), 'note', 'end'),
  ];
}

function line({ name, points }, { x, y }) {
  const path = points.map(({ size, value }) => `${round(x(size))} ${round(y(value))}`).join('L');
  return `<path class="line-${kindOf(name)}" d="M${path}"/>`;
}

function legend({ name, points, exponent }, x, y) {
  const kind = kindOf(name);
  const words = name.length > MAX_LABEL_CHARS ? `${name.slice(0, MAX_LABEL_CHARS - 1)}…` : name;
  const look = kind === 'ours' ? 'mine' : 'label';
  return [
    `<path class="line-${kind}" d="M${round(x)} ${round(y + 8)}h18"/>`,
    text(x + 26, y + 12, words, look),
    text(x + COLUMN, y + 12, `${short(points.at(-1).value)} · n^${exponent.toFixed(2)}`, look, 'end'),
  ].join('\n');
}
