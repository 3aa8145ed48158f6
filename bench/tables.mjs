/** A run as Markdown: what `npm run bench` prints, and what stands between the marks in the README and in docs/numbers.md. */

import { kindOf } from './chart-style.mjs';

const BEGIN = '<!-- bench: made by npm run bench; not to be edited -->';
const END = '<!-- /bench -->';

const TITLES = {
  calls: 'Calls',
  start: 'Start of servers',
  commands: 'Commands',
  gateway: 'The gateway',
  daemon: 'The daemon',
  kit: 'Servers of the kit',
  memory: 'Memory',
  search: 'Search',
  auth: 'Logins',
  clients: 'Clients and profiles',
};

/** The README with the chart of a run between its marks. */
export function withChart(text, results) {
  const chart = '![Plugboard next to others, in one run](docs/images/bench.svg)';
  return between(text, results, () => `${chart}\n\n${takenOn(results)}\n`);
}

/** A page with all tables of a run between its marks. */
export function withTables(text, results) {
  const chart = '![What it costs as there is more of it](images/growth.svg)';
  return between(text, results, () => `${tables(results)}\n${chart}\n`);
}

/** As long as there was no whole run, what stands there stays. */
function between(text, results, block) {
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END);
  if (from === -1 || to === -1) throw new Error('A page has lost the marks of the bench.');
  if (results.figures.length === 0) return text;
  return `${text.slice(0, from + BEGIN.length)}\n\n${block()}\n${text.slice(to)}`;
}

function takenOn({ date, node, cores, cpu, memoryGb }) {
  return `Taken on ${date}: Node ${node}, ${cores} × ${cpu}, ${memoryGb} GB.`;
}

function headlineTable(figures) {
  const named = [...new Set(figures.flatMap(({ headline }) => headline ?? []))];
  const rows = named.map((headline) => {
    const own = figures.filter((figure) => figure.headline === headline);
    const shown = (kind) =>
      own
        .filter(({ name, value }) => value !== undefined && kindOf(name) === kind)
        .map(({ name, value }) => `${name} ${short(value)}`)
        .join('; ');
    const unit = own.find((figure) => figure.unit !== undefined)?.unit ?? '';
    return [`${headline} (${unit})`, shown('ours'), shown('other'), shown('limit')];
  });
  return table(['measure', 'Plugboard', 'others', 'the limit'], rows);
}

export function tables(results) {
  const { figures, curves, failed } = results;
  const parts = [takenOn(results)];
  if (figures.some(({ headline }) => headline !== undefined))
    parts.push('### At a glance', headlineTable(figures));
  for (const [group, title] of Object.entries(TITLES)) {
    const own = figures.filter((figure) => figure.group === group);
    if (own.length > 0) parts.push(`### ${title}`, figureTable(own));
  }
  if (curves.length > 0) parts.push('### Growth', curveTable(curves));
  if (failed.length > 0) parts.push(`Ended with an error or beyond a bound: ${failed.join(', ')}.`);
  return `${parts.join('\n\n')}\n`;
}

function figureTable(figures) {
  // Who did not start was told of before the others were measured, and stands among them all the same.
  const measures = [...new Set(figures.map(({ measure }) => measure))];
  const ordered = measures.flatMap((each) => figures.filter(({ measure }) => measure === each));
  let last;
  const rows = ordered.map((figure) => {
    const { measure, name, problem } = figure;
    const shown = measure === last ? '' : measure;
    last = measure;
    if (problem !== undefined) return [shown, name, problem, '', ''];
    return [shown, name, amount(figure), ratio(figure), goal(figure)];
  });
  return table(['measure', 'contender', 'median (10–90 %)', 'ratio', 'goal'], rows);
}

function curveTable(curves) {
  let last;
  const rows = curves.map(({ axis, measure, name, unit, points, exponent, exponentLow, exponentHigh }) => {
    const shown = measure === last ? '' : measure;
    last = measure;
    const first = points[0];
    const end = points.at(-1);
    const from = `${count(first.size)}: ${short(first.value)}`;
    const reach = `${from}; ${count(end.size)}: ${short(end.value)}`;
    return [
      shown,
      axis,
      name,
      `${reach} ${unit}`,
      `${exponent.toFixed(2)} (${exponentLow.toFixed(2)}–${exponentHigh.toFixed(2)})`,
    ];
  });
  return table(['measure', 'by', 'contender', 'cost', 'exponent'], rows);
}

function amount({ value, unit, spread }) {
  return `${short(value)} ${unit}${spread === undefined ? '' : ` (${spread})`}`.trim();
}

function ratio({ ratio: value, base, name }) {
  if (value === undefined || name === base) return '';
  return `${value.toFixed(2)} × ${base}`;
}

/** A goal that is not reached is bold. */
function goal({ goal: wanted, value, ratio: relative }) {
  if (wanted === undefined) return '';
  const [kind, bound] = wanted;
  const reached = relative ?? value;
  const words = `${kind === 'most' ? '≤' : '≥'} ${bound}`;
  return (kind === 'most' ? reached <= bound : reached >= bound) ? words : `**${words}**`;
}

export function short(value) {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function count(value) {
  if (value % (1024 * 1024) === 0) return `${value / (1024 * 1024)} MB`;
  if (value % 1024 === 0) return `${value / 1024} KB`;
  return value.toLocaleString('en-US');
}

/** Columns as wide as their widest cell, as the formatter of this repository wants them. */
function table(head, rows) {
  const safe = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((title, at) =>
    Math.max(3, ...[title, ...safe.map((row) => row[at])].map((cell) => [...cell].length)),
  );
  const line = (cells) => `| ${cells.map((cell, at) => cell.padEnd(widths[at])).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [line(head), rule, ...safe.map(line)].join('\n');
}
