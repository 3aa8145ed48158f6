/** Small SVG charts: call durations, token costs and calls over time. */

import { svg } from './dom.js';

/** Draws durations as bars, newest last; heights are square roots, so that one slow call does not flatten the rest. */
export function bars(values, { width, height, slots = 60, label }) {
  const shown = values.slice(-slots);
  const top = Math.sqrt(Math.max(...shown, 1));
  const step = width / slots;
  const offset = slots - shown.length;
  return svg(
    'svg.bars',
    {
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': label,
    },
    svg('line.base', { x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5 }),
    ...shown.map((value, at) => {
      const barHeight = Math.max(1.5, (Math.sqrt(value) / top) * (height - 2));
      return svg('rect', {
        x: ((offset + at) * step).toFixed(2),
        y: (height - barHeight).toFixed(2),
        width: Math.max(0.8, step - 0.8).toFixed(2),
        height: barHeight.toFixed(2),
        rx: 0.6,
      });
    }),
  );
}

/** Draws `part` of `whole` as a partly filled line. */
export function share(part, whole, { width, label }) {
  const filled = whole === 0 ? 0 : Math.min(width, Math.max(part === 0 ? 0 : 2, (part / whole) * width));
  return svg(
    'svg.share',
    {
      viewBox: `0 0 ${width} 4`,
      width,
      height: 4,
      preserveAspectRatio: 'none',
      role: 'img',
      'aria-label': label,
    },
    svg('rect.whole', { width, height: 4, rx: 2 }),
    svg('rect.part', { width: filled.toFixed(2), height: 4, rx: 2 }),
  );
}

/** Draws one column for each time slice, with failures on top. */
export function columns(slices, { width, height, label }) {
  const top = Math.max(...slices.map(({ good, bad }) => good + bad), 1);
  const step = width / slices.length;
  return svg(
    'svg.columns',
    { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label },
    svg('line.base', { x1: 0, x2: width, y1: height - 0.5, y2: height - 0.5 }),
    ...slices.flatMap(({ good, bad }, at) => {
      const barHeight = (amount) => (amount / top) * (height - 3);
      const column = (name, amount, below) =>
        amount === 0
          ? []
          : [
              svg(`rect.${name}`, {
                x: (at * step + 0.5).toFixed(2),
                y: (height - below - Math.max(1.5, barHeight(amount))).toFixed(2),
                width: Math.max(1, step - 1).toFixed(2),
                height: Math.max(1.5, barHeight(amount)).toFixed(2),
              }),
            ];
      return [...column('good', good, 0), ...column('bad', bad, barHeight(good))];
    }),
  );
}
