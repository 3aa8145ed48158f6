/** Shows rows of objects as a table; nested cells are small trees. */

import type { JSX } from 'preact';
import { cut, plain } from '../text.ts';
import { JsonTree } from './json-tree.tsx';

const MAX_CELL_CHARS = 500;
const MAX_TABLE_ROWS = 200;
const MAX_TABLE_COLUMNS = 12;

type Row = Readonly<Record<string, unknown>>;

/** Returns an array of objects: the value itself, or the only array in an object. */
export function tableIn(value: unknown): readonly Row[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const lists = Array.isArray(value) ? [value] : Object.values(value).filter(Array.isArray);
  const [rows] = lists;
  if (lists.length !== 1 || rows === undefined || rows.length === 0 || !rows.every(isRow)) return undefined;
  return rows;
}

function isRow(row: unknown): row is Row {
  return typeof row === 'object' && row !== null && !Array.isArray(row) && Object.keys(row).length > 0;
}

export function DataTable({ rows }: { readonly rows: readonly Row[] }): JSX.Element {
  const shown = rows.slice(0, MAX_TABLE_ROWS);
  const all = [...new Set(shown.flatMap((row) => Object.keys(row)))];
  const names = all.slice(0, MAX_TABLE_COLUMNS);
  const isNumber = (name: string): boolean =>
    shown.every((row) => row[name] === undefined || row[name] === null || typeof row[name] === 'number');
  const classes = names.map((name) => (isNumber(name) ? 'number' : ''));
  return (
    <div class="table-frame" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {names.map((name, at) => (
              <th key={name} class={classes[at]}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, at) => (
            <tr key={at}>
              {names.map((name, column) => (
                <td key={name} class={classes[column]}>
                  <Cell value={row[name]} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown.length && <p class="none">{`${rows.length - shown.length} more rows`}</p>}
      {all.length > names.length && <p class="none">{`${all.length - names.length} more columns`}</p>}
    </div>
  );
}

function Cell({ value }: { readonly value: unknown }): JSX.Element {
  if (value === undefined || value === null) return <>–</>;
  if (typeof value === 'object') return <JsonTree value={value} />;
  return <>{cut(plain(value), MAX_CELL_CHARS)}</>;
}
