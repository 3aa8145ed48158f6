/** Small SVG charts: call durations, token costs and calls over time. */

import type { JSX } from 'preact';

export interface BarsProps {
  readonly values: readonly number[];
  readonly width: number;
  readonly height: number;
  readonly slots?: number;
  readonly label: string;
}

/** Draws durations as bars, newest last; heights are square roots, so that one slow call does not flatten the rest. */
export function Bars({ values, width, height, slots = 60, label }: BarsProps): JSX.Element {
  const shown = values.slice(-slots);
  const top = Math.sqrt(Math.max(...shown, 1));
  const step = width / slots;
  const offset = slots - shown.length;
  return (
    <svg
      class="bars"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <line class="base" x1={0} x2={width} y1={height - 0.5} y2={height - 0.5} />
      {shown.map((value, at) => {
        const barHeight = Math.max(1.5, (Math.sqrt(value) / top) * (height - 2));
        return (
          <rect
            key={at}
            x={((offset + at) * step).toFixed(2)}
            y={(height - barHeight).toFixed(2)}
            width={Math.max(0.8, step - 0.8).toFixed(2)}
            height={barHeight.toFixed(2)}
            rx={0.6}
          />
        );
      })}
    </svg>
  );
}

export interface ShareProps {
  readonly part: number;
  readonly whole: number;
  readonly width: number;
  readonly label: string;
}

/** Draws `part` of `whole` as a partly filled line. */
export function Share({ part, whole, width, label }: ShareProps): JSX.Element {
  const filled = whole === 0 ? 0 : Math.min(width, Math.max(part === 0 ? 0 : 2, (part / whole) * width));
  return (
    <svg
      class="share"
      viewBox={`0 0 ${width} 4`}
      width={width}
      height={4}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <rect class="whole" width={width} height={4} rx={2} />
      <rect class="part" width={filled.toFixed(2)} height={4} rx={2} />
    </svg>
  );
}

export interface Slice {
  readonly good: number;
  readonly bad: number;
}

export interface ColumnsProps {
  readonly slices: readonly Slice[];
  readonly width: number;
  readonly height: number;
  readonly label: string;
}

/** Draws one column for each time slice, with failures on top. */
export function Columns({ slices, width, height, label }: ColumnsProps): JSX.Element {
  const top = Math.max(...slices.map(({ good, bad }) => good + bad), 1);
  const step = width / slices.length;
  const barHeight = (amount: number): number => (amount / top) * (height - 3);
  const column = (name: string, amount: number, below: number, at: number): JSX.Element => (
    <rect
      key={`${name}${at}`}
      class={name}
      x={(at * step + 0.5).toFixed(2)}
      y={(height - below - Math.max(1.5, barHeight(amount))).toFixed(2)}
      width={Math.max(1, step - 1).toFixed(2)}
      height={Math.max(1.5, barHeight(amount)).toFixed(2)}
    />
  );
  return (
    <svg
      class="columns"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <line class="base" x1={0} x2={width} y1={height - 0.5} y2={height - 0.5} />
      {slices.map(({ good, bad }, at) => [
        good > 0 && column('good', good, 0, at),
        bad > 0 && column('bad', bad, barHeight(good), at),
      ])}
    </svg>
  );
}
